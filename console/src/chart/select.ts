import type { LeaseRequest, ReservationRequest, Value } from "../api/values";
import { condition, typeOf } from "../search/catalogue";
import { understood, wish } from "../search/store";
import { countedReservation, isUnderstood } from "../search/wish";
import { draftOf } from "../reserve/draft";
import { minute } from "../time/clock";
import { type Instant, MINUTE, toApi } from "../time/instant";
import { readDuration } from "../time/reading";
import type { Range } from "./model";
import { filter, grouping } from "./store";

const REQUIREMENT = "resource_properties";

/** Return how long a lease is if the user only chooses its start. */
export function wishedLength(): number {
  return readDuration(wish.value.duration) ?? 60 * MINUTE;
}

/** Prepare a lease of a period, of resources of one group, with what the search says about everything else. */
export function draftPeriod(period: Range, value: Value): boolean {
  const type = typeOf(wish.value.resourceType);
  const asked = understood.value;
  if (!type || !asked) return false;
  const understands = isUnderstood(asked);
  // Dates of the search do not matter here, but its reservation does.
  if (!understands && asked.own) return false;
  const counted = understands
    ? countedReservation(asked, type)
    : { ...countedReservation({ count: 1, reservation: { resource_type: type.resource_type } }, type) };
  const reservation = ofGroup(counted, value);
  draftOf(requestOf(period, reservation));
  return true;
}

function ofGroup(reservation: ReservationRequest, value: Value): ReservationRequest {
  const keys = typeOf(reservation.resource_type)?.keys ?? [];
  const key = keys.includes(REQUIREMENT) ? REQUIREMENT : keys.find((each) => each.endsWith("_properties"));
  const property = grouping.value;
  if (!key || property === null) return reservation;
  const own = condition(property, value);
  const before = typeof reservation[key] === "string" ? (reservation[key] as string) : filter.value;
  if (before.startsWith("[")) {
    const group = value === null ? ["not", ["exists", `$${property}`]] : ["==", `$${property}`, value];
    return { ...reservation, [key]: JSON.stringify(["and", group, JSON.parse(before) as unknown]) };
  }
  return { ...reservation, [key]: before.includes(own) ? before : [own, before].filter(Boolean).join(", ") };
}

function requestOf({ start, end }: Range, reservation: ReservationRequest): LeaseRequest {
  const startsNow = start <= minute.value;
  return { start_date: startsNow ? "now" : toApi(start), end_date: toApi(end), reservations: [reservation] };
}

/** Return the period between two instants, in their order, that begins now or later. */
export function periodOf(one: Instant, other: Instant): Range | null {
  const start = Math.max(Math.min(one, other), minute.value);
  const end = Math.max(one, other);
  return end - start >= 5 * MINUTE ? { start, end } : null;
}
