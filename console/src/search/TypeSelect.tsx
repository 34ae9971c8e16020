import { catalogue, unitName } from "./catalogue";

interface Props {
  label: string;
  value: string;
  onChange: (resourceType: string) => void;
}

/** A field for one of the resource types that the installation offers. */
export function TypeSelect({ label, value, onChange }: Props) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {catalogue.value?.resource_types.map((each) => (
          <option key={each.resource_type} value={each.resource_type}>
            {unitName(each)}
          </option>
        ))}
      </select>
    </label>
  );
}
