import type { Property, ResourceType } from "../api/values";

/** How a key of a reservation is entered. */
export type Field =
  | { readonly kind: "count"; readonly key: string }
  | { readonly kind: "requirement"; readonly key: string }
  | { readonly kind: "number"; readonly key: string }
  | { readonly kind: "text"; readonly key: string; readonly required: boolean }
  | { readonly kind: "choice"; readonly key: string; readonly values: readonly string[]; readonly required: boolean };

const COUNTS = new Set(["min", "max", "amount"]);
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  affinity: ["any", "together", "apart"],
  before_end: ["default", "", "snapshot"],
  end_action: ["delete", "retain", "freeze"],
};

/**
 * Return how the keys of a type are entered, or null if the plugin does not tell its keys.
 *
 * The catalogue has names only. So a key is a number if it says how large a unit is, a choice if it is common to
 * several types or if resources have a property of its name, and a text otherwise.
 */
export function fieldsOf(type: ResourceType, properties: readonly Property[]): Field[] | null {
  if (!type.keys) return null;
  return type.keys.map((key): Field => {
    if (COUNTS.has(key)) return { kind: "count", key };
    if (key.endsWith("_properties")) return { kind: "requirement", key };
    const choices = CHOICES[key];
    if (choices) return { kind: "choice", key, values: choices, required: false };
    const values = properties.find((each) => each.property === key)?.values.map((each) => String(each.value));
    if (values?.length && !type.unit_keys.includes(key)) return { kind: "choice", key, values, required: true };
    if (type.unit_keys.includes(key)) {
      return key.endsWith("_id") ? { kind: "text", key, required: true } : { kind: "number", key };
    }
    return { kind: "text", key, required: false };
  });
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
  if (clean === "") return undefined;
  if (/^[[{]/.test(clean)) {
    try {
      return JSON.parse(clean) as unknown;
    } catch {
      return clean;
    }
  }
  return clean;
}
