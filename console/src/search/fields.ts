import type { Property, ResourceType } from "../api/values";

/** How a key of a reservation is entered. */
export type Field =
  | { readonly kind: "count"; readonly key: string }
  | { readonly kind: "requirement"; readonly key: string }
  | { readonly kind: "number"; readonly key: string; readonly required: boolean }
  | {
      readonly kind: "text";
      readonly key: string;
      readonly required: boolean;
      /** Whether an empty text is a value. */
      readonly canBeEmpty: boolean;
    }
  | {
      readonly kind: "choice";
      readonly key: string;
      readonly values: readonly string[];
      readonly required: boolean;
      /** What people read instead of the values, if these are ids of objects of the cloud. */
      readonly labels?: readonly string[];
    };

const COUNTS = new Set(["min", "max", "amount"]);
const AFFINITIES = ["any", "together", "apart"];
const DEFAULT = "default";

/** The part of a JSON Schema that the page understands. */
interface KeySchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
}

interface ReservationSchema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, KeySchema>>;
}

/**
 * Return how the keys of a type are entered, or null if neither its plugin nor a schema tells its keys.
 *
 * The schema of the catalogue says what is required and which values there are. A key is a choice, too, if the
 * service lists objects for it, or if resources have a property of its name.
 */
export function fieldsOf(type: ResourceType, properties: readonly Property[]): Field[] | null {
  const schema = type.schema as ReservationSchema | null;
  const described = schema?.properties ?? {};
  const keys = type.keys ?? (schema ? Object.keys(described) : null);
  if (!keys) return null;
  const required = new Set([...(schema?.required ?? []), ...type.unit_keys]);
  return keys
    .filter((key) => key !== "resource_type")
    .map((key) => fieldOf(key, described[key] ?? {}, required.has(key), type, properties));
}

function fieldOf(
  key: string,
  schema: KeySchema,
  required: boolean,
  type: ResourceType,
  properties: readonly Property[],
): Field {
  if (COUNTS.has(key)) return { kind: "count", key };
  if (key.endsWith("_properties")) return { kind: "requirement", key };
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  if (types.includes("boolean")) return { kind: "choice", key, values: AFFINITIES, required: false };
  const values = schema.enum?.filter((each) => typeof each === "string");
  if (values?.length) return { kind: "choice", key, values: defaultFirst(values), required: false };
  const listed = type.choices?.[key];
  if (listed?.length) {
    return { kind: "choice", key, values: listed.map((each) => each.id), labels: listed.map(labelOf), required: true };
  }
  const present = properties.find((each) => each.property === key)?.values.map((each) => String(each.value));
  const isUnit = type.unit_keys.includes(key);
  if (present?.length && !isUnit) return { kind: "choice", key, values: present, required: true };
  const isNumber = types.length ? types[0] === "integer" : isUnit && !key.endsWith("_id");
  if (isNumber) return { kind: "number", key, required };
  return { kind: "text", key, required, canBeEmpty: required && !isUnit && !key.endsWith("_id") };
}

/** Return whether a person would have to know an id that the service may list. */
export function needsChoices(type: ResourceType, properties: readonly Property[]): boolean {
  const fields = fieldsOf({ ...type, choices: null }, properties) ?? [];
  return fields.some((each) => each.kind === "text" && each.required && !each.canBeEmpty);
}

/** Return the name of an object with everything else that the service tells of it. */
function labelOf({ id: _id, name, ...more }: Readonly<Record<string, unknown>>): string {
  const facts = Object.entries(more).map(([key, value]) => `${key} ${String(value)}`);
  return facts.length ? `${String(name)} (${facts.join(", ")})` : String(name);
}

function defaultFirst(values: readonly string[]): readonly string[] {
  return values.includes(DEFAULT) ? [DEFAULT, ...values.filter((each) => each !== DEFAULT)] : values;
}

/** Return the fields that the form shows beside the number and the requirement. */
export function ownFields(fields: readonly Field[]): Array<Exclude<Field, { kind: "count" | "requirement" }>> {
  return fields.filter((each) => each.kind !== "count" && each.kind !== "requirement");
}

/** Return what a form has in a field before anything is entered. */
export function initialValue(field: Field): string {
  return field.kind === "choice" ? (field.values[0] ?? "") : "";
}

const AFFINITY: Readonly<Record<string, boolean | null>> = { any: null, together: true, apart: false };

/** Return what a request has for a field, or undefined for nothing. */
export function requestValue(field: Field, entered: string): unknown {
  if (field.key === "affinity") return AFFINITY[entered] ?? null;
  if (field.kind === "choice") return !field.required && entered === field.values[0] ? undefined : entered;
  const clean = entered.trim();
  if (field.kind === "number") return /^\d+$/.test(clean) ? Number(clean) : undefined;
  if (clean === "") return field.kind === "text" && field.canBeEmpty ? "" : undefined;
  if (/^[[{]/.test(clean)) {
    try {
      return JSON.parse(clean) as unknown;
    } catch {
      return clean;
    }
  }
  return clean;
}
