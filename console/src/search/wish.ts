import type { Property, ReservationRequest, ResourceType, Value } from "../api/values";
import { toApi, type Instant } from "../time/instant";
import { readDuration, readMoment, type WeekdayNames } from "../time/reading";
import { condition } from "./catalogue";
import { fieldsOf, initialValue, ownFields, requestValue } from "./fields";

/** What the user has entered into the search. */
export interface Wish {
  readonly resourceType: string;
  readonly property: { readonly name: string; readonly value: Value } | null;
  readonly count: string;
  readonly duration: string;
  readonly earliest: string;
  readonly latest: string;
  /** Empty, or `same` or `spread` and the name of a property, with a colon between. */
  readonly placement: string;
  readonly fewer: boolean;
  readonly requirement: string;
  /** By key: the entered values of the type's own keys. */
  readonly own: Readonly<Record<string, string>>;
}

export interface Understood {
  /** The number of units; null if reservations of the type have none. */
  readonly count: number | null;
  readonly minutes: number;
  readonly earliest: Instant;
  readonly startsNow: boolean;
  readonly latest: Instant;
  readonly reservation: ReservationRequest;
}

/** The fields of the search that are not understood, each with what is wrong. */
export type Mistakes = Readonly<Partial<Record<"count" | "duration" | "earliest" | "latest" | "own", string>>>;

export interface Texts {
  readonly badCount: string;
  readonly badDuration: string;
  readonly badEarliest: string;
  readonly badLatest: string;
  readonly badOrder: string;
  readonly badJson: string;
  readonly badValue: (key: string) => string;
  readonly missing: (key: string) => string;
}

export interface Surroundings {
  readonly type: ResourceType;
  readonly properties: readonly Property[];
  readonly now: Instant;
  readonly zone: string;
  readonly weekdays: WeekdayNames;
  readonly texts: Texts;
}

/** Return what a wish means, or the mistakes in it. */
export function understand(wish: Wish, around: Surroundings): Understood | Mistakes {
  const { type, now, zone, weekdays, texts } = around;
  const mistakes: Record<string, string> = {};
  const entered = /^\d{1,6}$/.test(wish.count.trim()) ? Number(wish.count) : 0;
  const count = type.has_count ? entered : null;
  if (count !== null && count < 1) mistakes["count"] = texts.badCount;
  const length = readDuration(wish.duration);
  if (length === null) mistakes["duration"] = texts.badDuration;
  const earliest = readMoment(wish.earliest, now, zone, { names: weekdays });
  if (earliest === null) mistakes["earliest"] = texts.badEarliest;
  const latest = readMoment(wish.latest, now, zone, { asEnd: true, names: weekdays });
  if (latest === null) mistakes["latest"] = texts.badLatest;
  else if (earliest !== null && length !== null && latest - Math.max(earliest, now) < length - 60_000) {
    mistakes["latest"] = texts.badOrder;
  }
  const reservation = reservationOf(wish, around);
  if (typeof reservation === "string") mistakes["own"] = reservation;
  if (Object.keys(mistakes).length || typeof reservation === "string") return mistakes;
  const startsNow = earliest! <= now;
  return {
    count,
    minutes: length! / 60_000,
    earliest: Math.max(earliest!, now),
    startsNow,
    latest: latest!,
    reservation,
  };
}

export function isUnderstood(result: Understood | Mistakes): result is Understood {
  return "reservation" in result;
}

/** Return the reservation of a wish without its number, or the mistake in it. */
function reservationOf(wish: Wish, { type, properties, texts }: Surroundings): ReservationRequest | string {
  const fields = fieldsOf(type, properties);
  if (!fields) return freeKeys(wish, type, texts);
  const request: Record<string, unknown> = {};
  for (const field of ownFields(fields)) {
    const entered = wish.own[field.key] ?? initialValue(field);
    const value = requestValue(field, entered);
    if (value === undefined && field.kind === "number" && (field.required || entered.trim())) {
      return texts.badValue(field.key);
    }
    if (value === undefined && field.kind === "text" && field.required) return texts.missing(field.key);
    if (value !== undefined) request[field.key] = value;
  }
  const requirements = fields.filter((each) => each.kind === "requirement").map((each) => each.key);
  const main = requirements.includes("resource_properties") ? "resource_properties" : requirements[0];
  for (const key of requirements) request[key] = key === main ? requirementOf(wish) : "";
  const [relation, name] = wish.placement.split(":", 2);
  if (relation && name) request[relation] = name;
  return { resource_type: type.resource_type, ...request };
}

function freeKeys(wish: Wish, type: ResourceType, texts: Texts): ReservationRequest | string {
  const entered = wish.own["*"]?.trim() || "{}";
  try {
    const found: unknown = JSON.parse(entered);
    if (typeof found !== "object" || found === null || Array.isArray(found)) return texts.badJson;
    return { ...found, resource_type: type.resource_type };
  } catch {
    return texts.badJson;
  }
}

function requirementOf(wish: Wish): string {
  const chosen = wish.property ? condition(wish.property.name, wish.property.value) : "";
  const entered = wish.requirement.trim();
  // The JSON form cannot be continued in the short form.
  if (entered.startsWith("[")) return chosen ? withChosen(entered, wish) : entered;
  return [chosen, entered].filter(Boolean).join(", ");
}

function withChosen(json: string, wish: Wish): string {
  try {
    const own = ["==", `$${wish.property!.name}`, wish.property!.value];
    return JSON.stringify(["and", own, JSON.parse(json) as unknown]);
  } catch {
    return json;
  }
}

/** Return the body of a search. With *fewer*, times with a smaller number follow those with the whole one. */
export function searchBody(wish: Understood, fewer: boolean, limit: number): Record<string, unknown> {
  const { count, reservation } = wish;
  const counted = (least: number) => ({ ...reservation, count: { least, most: count } });
  const window = {
    earliest_start: wish.startsNow ? "now" : toApi(wish.earliest),
    latest_end: toApi(wish.latest),
    duration_minutes: wish.minutes,
    limit,
  };
  if (count === null) return { ...window, reservations: [reservation] };
  if (!fewer || count === 1) return { ...window, reservations: [counted(count)] };
  return { ...window, shapes: [{ reservations: [counted(count)] }, { reservations: [counted(1)] }] };
}

/** Return the reservation of a wish with its number, as a request for a lease has it. */
export function countedReservation(
  { reservation, count }: Pick<Understood, "reservation" | "count">,
  type: ResourceType,
): ReservationRequest {
  if (count === null) return reservation;
  const keys = new Set(type.keys ?? []);
  if (keys.has("max")) return { ...reservation, min: count, max: count };
  return keys.has("amount") ? { ...reservation, amount: count } : reservation;
}
