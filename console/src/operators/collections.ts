import { call } from "../api/http";
import { Refused } from "../api/problem";

/** A collection of resources that operators register. */
export interface Collection {
  readonly path: string;
  /** The key of the list in the answer. */
  readonly list: string;
  /** What a registration looks like, as a line of the form. */
  readonly example: string;
  /** The key of the name in a registration, if it has one. */
  readonly nameKey: string | null;
  /** Whether properties can be changed. */
  readonly editable: boolean;
  /** Whether lists have pages and filters. */
  readonly paged: boolean;
}

/** The collections of the API; those whose plugins are not enabled answer with 404. */
export const COLLECTIONS: readonly Collection[] = [
  {
    path: "os-hosts",
    list: "hosts",
    example: "node-1 rack=r1 gpu=a100",
    nameKey: "name",
    editable: true,
    paged: true,
  },
  {
    path: "floatingips",
    list: "floatingips",
    example: "floating_network_id=… floating_ip_address=203.0.113.200",
    nameKey: null,
    editable: false,
    paged: true,
  },
  {
    path: "networks",
    list: "networks",
    example: "network_type=vlan physical_network=physnet1 segment_id=201-240",
    nameKey: null,
    editable: true,
    paged: false,
  },
  {
    path: "storage-pools",
    list: "storage_pools",
    example: "block1@fast#ssd gibibytes=2000 rack=r1",
    nameKey: "name",
    editable: true,
    paged: false,
  },
];

export type Item = Readonly<{ id: string } & Record<string, unknown>>;

const PAGE = "1000";

/** Return all resources of a collection, or null if it is not served or not for the user. */
export async function listItems(collection: Collection): Promise<Item[] | null> {
  const found: Item[] = [];
  let marker: string | undefined;
  do {
    const query = collection.paged ? { limit: PAGE, marker } : {};
    try {
      const { value } = await call<Record<string, unknown>>(collection.path, { query });
      const page = value[collection.list] as Item[];
      found.push(...page);
      marker = value[`${collection.list}_links`] ? page.at(-1)?.id : undefined;
    } catch (problem) {
      if (problem instanceof Refused && (problem.status === 404 || problem.status === 403)) return null;
      throw problem;
    }
  } while (marker);
  return found;
}

/** Return the ids of the leases that hold each resource now; empty for collections without filters. */
export async function holdersNow(collection: Collection): Promise<ReadonlyMap<string, string[]>> {
  const found = new Map<string, string[]>();
  if (collection.path !== "os-hosts") return found;
  let marker: string | undefined;
  do {
    const query = { starts_before: "now", ends_after: "now", limit: PAGE, marker };
    const { value } = await call<{
      allocations: Array<{ resource_id: string; reservations: Array<{ lease_id: string }> }>;
      allocations_links?: unknown;
    }>(`${collection.path}/allocations`, { query });
    for (const { resource_id: id, reservations } of value.allocations) {
      if (reservations.length) found.set(id, reservations.map((each) => each.lease_id));
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
