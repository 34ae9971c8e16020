import { signal } from "@preact/signals";
import { getLease, listLeases } from "../api/lessees";
import { Refused, textOf } from "../api/problem";
import type { Lease } from "../api/values";
import { pageSize } from "../search/catalogue";
import { session } from "../session/store";

const CURRENT = "PENDING,ACTIVE,ERROR,CREATING,STARTING,UPDATING,TERMINATING,DELETING";
const POLL_EVERY = 10_000;
/** A lease in transition is read more often. */
const POLL_SOON = 2000;
const PAGE = 500;
/** With more leases than this, they are read less often. */
const MANY = 100;

/** The leases of the project that are not over, by start; null until they are known. */
export const leases = signal<readonly Lease[] | null>(null);
export const leasesProblem = signal<string | null>(null);
/** Ids of leases that were just made, which the page marks. */
export const newLeases = signal<ReadonlySet<string>>(new Set());

export function showNew(ids: readonly string[]): void {
  newLeases.value = new Set(ids);
}

export const isMine = (lease: Lease): boolean => lease.user_id === session.value?.user.id;

async function readCurrent(): Promise<Lease[]> {
  const found: Lease[] = [];
  let marker: string | undefined;
  do {
    const page = await listLeases({
      project_id: session.value?.project.id,
      status: CURRENT,
      sort: "start_date",
      limit: pageSize(PAGE),
      marker,
    });
    found.push(...page.leases);
    marker = page.next ?? undefined;
  } while (marker && found.length < 4 * PAGE);
  return found;
}

let reading: Promise<void> | null = null;

/** Read the leases; calls at the same time share one reading. */
export function refreshLeases(): Promise<void> {
  reading ??= (async () => {
    try {
      leases.value = await readCurrent();
      leasesProblem.value = null;
    } catch (problem) {
      leasesProblem.value = textOf(problem);
    } finally {
      reading = null;
    }
  })();
  return reading;
}

/** Return a lease as it is now, or null if it is gone. */
export async function readLease(id: string): Promise<Lease | null> {
  try {
    return await getLease(id);
  } catch (problem) {
    if (problem instanceof Refused && problem.status === 404) return null;
    throw problem;
  }
}

const settled = (lease: Lease): boolean => lease.status === "PENDING" || lease.status === "ACTIVE" || lease.status === "ERROR";

/** Read the leases again and again, sooner while one of them changes, and not while the page is hidden. */
export async function pollLeases(): Promise<never> {
  for (;;) {
    if (!document.hidden) await refreshLeases();
    const known = leases.value ?? [];
    const soon = known.some((each) => !settled(each) || startsSoon(each));
    const pause = (soon ? POLL_SOON : POLL_EVERY) * (known.length > MANY ? 3 : 1);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function startsSoon(lease: Lease): boolean {
  const start = Date.parse(`${lease.start_date.slice(0, 19)}Z`);
  return lease.status === "PENDING" && start - Date.now() < POLL_EVERY;
}

/** Return a page of the leases that are over, the latest first. */
export function endedLeases(marker: string | null): ReturnType<typeof listLeases> {
  return listLeases({
    project_id: session.value?.project.id,
    status: "TERMINATED",
    sort: "end_date:desc",
    limit: pageSize(50),
    marker: marker ?? undefined,
  });
}
