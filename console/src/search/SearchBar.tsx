import type { Value } from "../api/values";
import { t } from "../messages";
import { catalogue, catalogueProblem, tellingProperties, unitName, propertiesOf, typeOf } from "./catalogue";
import { MoreConditions } from "./MoreConditions";
import { change, understood, wish } from "./store";
import { type Mistakes, isUnderstood } from "./wish";

/** The sentence that says what is needed. Times are found while it is written. */
export function SearchBar() {
  const types = catalogue.value?.resource_types;
  if (catalogueProblem.value) return <p class="problem">{catalogueProblem.value}</p>;
  if (!types) return <p class="muted">{t.loading}</p>;
  if (types.length === 0) return <p>{t.search.notOffered}</p>;
  const asked = understood.value;
  const mistakes: Mistakes = asked && !isUnderstood(asked) ? asked : {};
  return (
    <form class="search" role="search" aria-label={t.search.title} onSubmit={(event) => event.preventDefault()}>
      <div class="sentence">
        <span aria-hidden="true">{t.search.need}</span>
        {typeOf(wish.value.resourceType)?.has_count && (
          <Text field="count" label={t.search.count} mistake={mistakes.count} width={3} numeric />
        )}
        <What />
        <span aria-hidden="true">{t.search.for}</span>
        <Text field="duration" label={t.search.duration} mistake={mistakes.duration} width={6} hints={t.time.durations} />
        <span aria-hidden="true">{t.search.between}</span>
        <Text field="earliest" label={t.search.earliest} mistake={mistakes.earliest} width={11} hints={t.time.starts} />
        <span aria-hidden="true">{t.search.and}</span>
        <Text field="latest" label={t.search.latest} mistake={mistakes.latest} width={11} hints={t.time.ends} />
        <Placement />
      </div>
      <MistakeTexts mistakes={mistakes} />
      <MoreConditions />
    </form>
  );
}

function MistakeTexts({ mistakes }: { mistakes: Mistakes }) {
  const texts = Object.entries(mistakes);
  return (
    <div aria-live="polite">
      {texts.map(([field, text]) => (
        <p class="problem" id={`mistake-${field}`} key={field}>
          {text}
        </p>
      ))}
    </div>
  );
}

interface TextProps {
  field: "count" | "duration" | "earliest" | "latest";
  label: string;
  mistake: string | undefined;
  width: number;
  hints?: readonly string[];
  numeric?: boolean;
}

function Text({ field, label, mistake, width, hints, numeric }: TextProps) {
  const list = hints ? `hints-${field}` : undefined;
  return (
    <>
      <input
        class="inline"
        aria-label={label}
        aria-invalid={mistake ? "true" : undefined}
        aria-describedby={mistake ? `mistake-${field}` : undefined}
        size={width}
        list={list}
        inputMode={numeric ? "numeric" : "text"}
        value={wish.value[field]}
        onInput={(event) => change({ [field]: event.currentTarget.value })}
      />
      {hints && (
        <datalist id={list}>
          {hints.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** The type, and a value of a property, in one choice. */
function What() {
  const types = catalogue.value!.resource_types;
  const { resourceType, property } = wish.value;
  const code = (type: string, name?: string, value?: Value) =>
    JSON.stringify(name === undefined ? [type] : [type, name, value ?? null]);
  function choose(text: string) {
    const [type, name, value] = JSON.parse(text) as [string, string?, Value?];
    const kept = type === resourceType ? {} : { own: {}, placement: "", requirement: "" };
    change({ ...kept, resourceType: type, property: name === undefined ? null : { name, value: value ?? null } });
  }
  return (
    <select
      class="inline what"
      aria-label={t.search.what}
      value={code(resourceType, property?.name, property?.value)}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      {types.map((type) => (
        <optgroup key={type.resource_type} label={type.resource_type}>
          <option value={code(type.resource_type)}>{t.search.anyOf(unitName(type), type.reservable)}</option>
          {tellingProperties(type.resource_type).flatMap((each) =>
            each.values.map(({ value, reservable }) => (
              <option key={`${each.property} ${value}`} value={code(type.resource_type, each.property, value)}>
                {t.search.with(unitName(type), each.property, String(value), reservable)}
              </option>
            )),
          )}
        </optgroup>
      ))}
    </select>
  );
}

function Placement() {
  const type = typeOf(wish.value.resourceType);
  if (!type?.keys?.some((each) => each.endsWith("_properties"))) return null;
  const names = propertiesOf(type.resource_type)
    .filter((each) => !each.built_in || each.property === "availability_zone")
    .map((each) => each.property);
  if (names.length === 0) return null;
  return (
    <select
      class="inline"
      aria-label={t.search.placed}
      value={wish.value.placement}
      onChange={(event) => change({ placement: event.currentTarget.value })}
    >
      <option value="">{t.search.anywhere}</option>
      {names.map((each) => (
        <option key={`same ${each}`} value={`same:${each}`}>
          {t.search.same(each)}
        </option>
      ))}
      {names.map((each) => (
        <option key={`spread ${each}`} value={`spread:${each}`}>
          {t.search.spread(each)}
        </option>
      ))}
    </select>
  );
}
