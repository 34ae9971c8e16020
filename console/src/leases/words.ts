import type { Lease, LeasePreview, Reservation } from "../api/values";
import { fromApi, type Instant } from "../time/instant";

export type Tone = "ahead" | "busy" | "good" | "bad" | "over";

const TONES: Readonly<Record<Lease["status"], Tone>> = {
  PENDING: "ahead",
  CREATING: "busy",
  STARTING: "busy",
  ACTIVE: "good",
  UPDATING: "busy",
  TERMINATING: "busy",
  TERMINATED: "over",
  DELETING: "busy",
  ERROR: "bad",
};

export function toneOf(lease: Lease): Tone {
  return lease.degraded && lease.status === "ACTIVE" ? "bad" : TONES[lease.status];
}

/** What the page counts down to: the start, the end, or nothing. */
export type Next = { readonly kind: "start" | "end"; readonly at: Instant } | null;

export function nextOf(lease: Lease): Next {
  if (lease.status === "PENDING" || lease.status === "CREATING") return { kind: "start", at: fromApi(lease.start_date) };
  if (lease.status === "TERMINATED" || lease.status === "DELETING") return null;
  if (lease.status === "ERROR" && fromApi(lease.end_date) < Date.now()) return null;
  return { kind: "end", at: fromApi(lease.end_date) };
}

/** Return why a lease waits or failed: its own reasons, and those of its reservations. */
export function reasonsOf(lease: Lease): string[] {
  const reasons = [lease.status_reason, ...lease.reservations.map((each) => each.status_reason)];
  return [...new Set(reasons.filter((each): each is string => Boolean(each)))];
}

/** Return when the service tries again, or null. */
export function retryOf(lease: Lease): Instant | null {
  const times = [lease.retry_at, ...lease.reservations.map((each) => each.retry_at)];
  const known = times.filter((each): each is string => Boolean(each)).map(fromApi);
  return known.length ? Math.min(...known) : null;
}

/** Return how many units a reservation asks for. */
export function amountOf(reservation: Reservation): number {
  const asked = reservation["amount"] ?? reservation["max"];
  return Number(asked ?? reservation.held ?? 1);
}

export type AtEnd = LeasePreview["reservations"][number]["at_end"];

/** What happens at a time. */
export interface End {
  readonly at: Instant;
  readonly texts: readonly string[];
}

/** Return what happens at the end of some reservations, by time; each sentence once. */
export function endsOf(reservations: ReadonlyArray<{ readonly at_end?: AtEnd }>): End[] {
  const found = new Map<Instant, Set<string>>();
  for (const { text, time } of reservations.flatMap((each) => each.at_end ?? [])) {
    const at = fromApi(time);
    found.set(at, (found.get(at) ?? new Set()).add(text));
  }
  return [...found].map(([at, texts]) => ({ at, texts: [...texts] })).sort((one, other) => one.at - other.at);
}

export const isOver = (lease: Lease): boolean => lease.status === "TERMINATED";

export const canChange = (lease: Lease): boolean => lease.status === "ACTIVE" || lease.status === "PENDING";

/** For how long after its time a start or an end is not yet late. */
const GRACE = 30_000;

/** Return whether a lease waits for something but time: it has a reason, is in transition, failed, or is late. */
export function isWaiting(lease: Lease, now: Instant): boolean {
  if (reasonsOf(lease).length || lease.degraded || lease.status === "ERROR") return true;
  if (lease.status === "PENDING") return fromApi(lease.start_date) + GRACE < now;
  if (lease.status === "ACTIVE") return fromApi(lease.end_date) + GRACE < now;
  return !isOver(lease);
}
