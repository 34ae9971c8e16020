import type { Item } from "./collections";

const REASON = "health_reason";
const MOST = 9;
const LONGEST = 60;

/** Return the name of a resource; its id if the name is missing. */
export function nameOf(item: Item, nameKey: string): string {
  const name = item[nameKey];
  return typeof name === "string" ? name : item.id;
}

/** Return why a resource cannot be reserved; empty if the service does not tell. */
export function reasonOf(item: Item): string {
  const reason = item[REASON];
  return typeof reason === "string" ? reason : "";
}

/**
 * Return the keys that a table of resources shows.
 *
 * Only simple values are shown, and those first in which the resources differ; keys that repeat the name are not.
 */
export function columnsOf(items: readonly Item[], nameKey: string): string[] {
  const values = new Map<string, Set<unknown>>();
  const hidden = new Set(["id", "reservable", REASON, nameKey, "created_at", "updated_at"]);
  for (const item of items) {
    for (const [key, value] of Object.entries(item)) {
      if (hidden.has(key) || value === null) continue;
      const long = typeof value === "object" || String(value).length > LONGEST;
      if (long || value === nameOf(item, nameKey)) hidden.add(key);
      else values.set(key, (values.get(key) ?? new Set()).add(value));
    }
  }
  const shown = [...values].filter(([key]) => !hidden.has(key));
  return shown
    .toSorted(([, a], [, b]) => Number(b.size > 1) - Number(a.size > 1))
    .slice(0, MOST)
    .map(([key]) => key);
}
