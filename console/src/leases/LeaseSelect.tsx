import { t } from "../messages";
import { leases } from "./store";

interface Props {
  label: string;
  value: string;
  onChange: (id: string) => void;
}

/** A field for a lease of the project that is not over. */
export function LeaseSelect({ label, value, onChange }: Props) {
  const known = leases.value ?? [];
  return (
    <label class="field">
      <span>{label}</span>
      <select required value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{t.choose}</option>
        {known.map((each) => (
          <option key={each.id} value={each.id}>
            {each.name}
          </option>
        ))}
      </select>
    </label>
  );
}
