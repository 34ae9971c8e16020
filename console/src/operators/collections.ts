import { call } from "../api/http";
import { Refused } from "../api/problem";
import type { Collection } from "../api/values";
import { fromApi, type Instant } from "../time/instant";

export type Item = Readonly<{ id: string } & Record<string, unknown>>;

/** Return all resources of a collection, or null if it is not for the user. */
export async function listItems(collection: Collection): Promise<Item[] | null> {
  const { path, list_key: key } = collection;
  const found: Item[] = [];
  let marker: string | undefined;
  do {
    try {
      const { value } = await call<Record<string, unknown>>(path, { query: { marker } });
      const page = value[key] as Item[];
      found.push(...page);
      marker = value[`${key}_links`] ? page.at(-1)?.id : undefined;
    } catch (problem) {
      if (problem instanceof Refused && (problem.status === 404 || problem.status === 403)) return null;
      throw problem;
    }
  } while (marker);
  return found;
}

interface Allocations {
  readonly resource_id: string;
  readonly reservations: ReadonlyArray<{ lease_id: string; start_date: string; end_date: string }>;
}

/** Return the ids of the leases that hold each resource at this time; empty without a list of allocations. */
export async function listHolders(collection: Collection, at: Instant): Promise<ReadonlyMap<string, string[]>> {
  const found = new Map<string, string[]>();
  const filters = collection.allocation_filters;
  if (!filters) return found;
  const isByTime = filters.includes("starts_before") && filters.includes("ends_after");
  const present = isByTime ? { starts_before: "now", ends_after: "now" } : {};
  let marker: string | undefined;
  do {
    const query = { ...present, marker };
    const { value } = await call<{ allocations: Allocations[]; allocations_links?: unknown }>(
      `${collection.path}/allocations`,
      { query },
    );
    for (const { resource_id: id, reservations } of value.allocations) {
      const current = isByTime
        ? reservations
        : reservations.filter((each) => fromApi(each.start_date) <= at && at < fromApi(each.end_date));
      if (current.length) found.set(id, current.map((each) => each.lease_id));
    }
    marker = value.allocations_links ? value.allocations.at(-1)?.resource_id : undefined;
  } while (marker);
  return found;
}

export async function registerItem(collection: Collection, body: Record<string, unknown>): Promise<void> {
  await call(collection.path, { method: "POST", body });
}

/** Set properties; null removes one. */
export async function changeItem(collection: Collection, id: string, body: Record<string, unknown>): Promise<void> {
  await call(`${collection.path}/${id}`, { method: "PUT", body, repeatable: true });
}

export async function removeItem(collection: Collection, id: string): Promise<void> {
  await call(`${collection.path}/${id}`, { method: "DELETE" });
}
