import type { SubscriptionCreate } from "../api/values";
import { t } from "../messages";
import { MINUTE } from "../time/instant";
import { readDuration } from "../time/reading";

export type Kind = SubscriptionCreate["kind"];
export type Scope = NonNullable<SubscriptionCreate["scope"]>;
export type EventName = NonNullable<SubscriptionCreate["events"]>[number];

/** The events of leases and offers, of which every subscription can tell. */
export const LEASE_EVENTS: readonly EventName[] = [
  "lease.created",
  "lease.starts_soon",
  "lease.started",
  "lease.failed",
  "lease.degraded",
  "lease.healed",
  "lease.changed",
  "lease.extended",
  "lease.maintenance",
  "lease.unused",
  "lease.ends_soon",
  "lease.before_end_failed",
  "lease.ended",
  "lease.deleted",
  "offer.expired",
];
/** The events of which only subscriptions of operators to the site can tell. */
export const SITE_EVENTS: readonly EventName[] = ["resources.low", "lease.waits"];

/** What the form for a subscription has. */
export interface EnteredSubscription {
  readonly kind: Kind;
  readonly scope: Scope;
  readonly leaseId: string;
  readonly address: string;
  readonly url: string;
  readonly leads: string;
  /** Null for all. */
  readonly events: readonly EventName[] | null;
  readonly resourceType: string;
  readonly below: string;
  readonly waits: string;
}

/** Return the events that the form offers for a scope. */
export function eventsOf(scope: Scope): readonly EventName[] {
  return scope === "site" ? [...SITE_EVENTS, ...LEASE_EVENTS] : LEASE_EVENTS;
}

/** Return whether a subscription tells of an event. */
export function tells({ scope, events }: EnteredSubscription, event: EventName): boolean {
  return eventsOf(scope).includes(event) && (events === null || events.includes(event));
}

/** Return the request for a subscription, or what is wrong with what was entered; *zone* is that of dates in mail. */
export function subscriptionRequest(entered: EnteredSubscription, zone: string): SubscriptionCreate | string {
  const leads = readLeads(entered.leads);
  if (leads === undefined) return t.notices.badLeads;
  const asked: SubscriptionCreate = {
    kind: entered.kind,
    scope: entered.scope,
    lease_id: entered.scope === "lease" ? entered.leaseId : null,
    events: entered.events && eventsOf(entered.scope).filter((each) => entered.events!.includes(each)),
    lead_minutes: leads,
    ...(entered.kind === "webhook"
      ? { url: entered.url.trim() }
      : { address: entered.address.trim() || null, time_zone: zone }),
  };
  if (tells(entered, "resources.low") && entered.below.trim()) {
    Object.assign(asked, { resource_type: entered.resourceType, below: Number(entered.below) });
  }
  if (tells(entered, "lease.waits") && entered.waits.trim()) {
    const waits = readDuration(entered.waits);
    if (waits === null) return t.notices.badWaits;
    Object.assign(asked, { waits_minutes: waits / MINUTE });
  }
  return asked;
}

/** Return minutes, null for those of the site, or undefined for a text that is no list of durations. */
function readLeads(text: string): number[] | null | undefined {
  if (!text.trim()) return null;
  const read = text.split(",").map(readDuration);
  return read.includes(null) ? undefined : read.map((each) => each! / MINUTE);
}
