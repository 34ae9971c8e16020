import type { ResourceType } from "../api/values";
import { t } from "../messages";
import { propertiesOf, typeOf } from "./catalogue";
import { type Field, fieldsOf, initialValue, ownFields } from "./fields";
import { change, result, wish } from "./store";

/** The keys of the type beside the number, and a requirement. Open if the type needs them. */
export function MoreConditions() {
  const type = typeOf(wish.value.resourceType);
  if (!type) return null;
  const fields = fieldsOf(type, propertiesOf(type.resource_type));
  const own = fields ? ownFields(fields) : [];
  const needed = own.some((each) => isNeeded(each) || isRefused(each));
  return (
    <details class="more" key={type.resource_type} open={needed || !fields}>
      <summary>{t.search.more}</summary>
      <div class="fields">
        {own.map((each) => (
          <OwnField field={each} key={each.key} type={type} />
        ))}
        {!fields && <FreeKeys />}
        {fields?.some((each) => each.kind === "requirement") && <Requirement />}
        {type.has_count && wish.value.count.trim() !== "1" && (
          <label class="check">
            <input
              type="checkbox"
              checked={wish.value.fewer}
              onChange={(event) => change({ fewer: event.currentTarget.checked })}
            />
            {t.search.fewer}
          </label>
        )}
      </div>
    </details>
  );
}

/** Return whether a person has to enter something. */
function isNeeded(field: Field): boolean {
  if (field.kind === "choice") return field.labels !== undefined;
  return (field.kind === "number" && field.required) || (field.kind === "text" && field.required && !field.canBeEmpty);
}

/** Return whether the service refused the search because of a field. */
function isRefused({ key }: Field): boolean {
  return result.value?.kind === "refused" && result.value.message.split(/[^\w]+/).includes(key);
}

function enter(key: string, value: string): void {
  change({ own: { ...wish.value.own, [key]: value } });
}

/** Return what a person calls a key: a text of the page if it has one, or the key. */
function labelOf(key: string): string {
  const labels = t.fields as unknown as Readonly<Record<string, unknown>>;
  return typeof labels[key] === "string" ? labels[key] : key;
}

function choiceLabel(key: string, value: string): string {
  const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    affinity: t.fields.affinities,
    before_end: t.fields.beforeEnds,
    end_action: t.fields.endActions,
  };
  return texts[key]?.[value] ?? value;
}

function OwnField({ field, type }: { field: Field; type: ResourceType }) {
  const value = wish.value.own[field.key] ?? initialValue(field);
  const effect = type.end_texts.find((each) => each.key === field.key && each.value === value);
  return (
    <label class="field" title={effect?.text}>
      <span>{labelOf(field.key)}</span>
      {field.kind === "choice" ? (
        <select value={value} onChange={(event) => enter(field.key, event.currentTarget.value)}>
          {/* What was entered before the list was known may not be in it. */}
          {!field.values.includes(value) && <option value={value}>{value}</option>}
          {field.values.map((each, number) => (
            <option key={each} value={each}>
              {field.labels?.[number] ?? choiceLabel(field.key, each)}
            </option>
          ))}
        </select>
      ) : (
        <input
          value={value}
          inputMode={field.kind === "number" ? "numeric" : "text"}
          title={field.kind === "text" ? t.search.jsonHint : undefined}
          onInput={(event) => enter(field.key, event.currentTarget.value)}
        />
      )}
    </label>
  );
}

function FreeKeys() {
  return (
    <label class="field wide">
      <span>{t.search.keysUnknown}</span>
      <textarea
        rows={3}
        value={wish.value.own["*"] ?? "{}"}
        onInput={(event) => enter("*", event.currentTarget.value)}
      />
    </label>
  );
}

function Requirement() {
  return (
    <label class="field wide">
      <span>{t.search.requirement}</span>
      <input
        value={wish.value.requirement}
        placeholder={t.search.requirementHint}
        onInput={(event) => change({ requirement: event.currentTarget.value })}
      />
    </label>
  );
}
