import type { FeedCreate } from "../api/values";
import { t } from "../messages";
import { MINUTE } from "../time/instant";
import { readDuration } from "../time/reading";

/** What the form for a calendar has. */
export interface EnteredFeed {
  readonly kind: FeedCreate["kind"];
  readonly name: string;
  readonly leaseId: string;
  readonly alarm: string;
  readonly resourceType: string;
  readonly amount: string;
  readonly requirement: string;
  /** How large a unit is, for types whose reservations hold parts of resources. */
  readonly unit: string | null;
}

/** Return the request for a feed, or what is wrong with what was entered. */
export function feedRequest(entered: EnteredFeed): FeedCreate | string {
  const name = entered.name.trim() || null;
  if (entered.kind === "availability") {
    return {
      kind: entered.kind,
      name,
      resource_type: entered.resourceType,
      amount: Number(entered.amount),
      filter: entered.requirement.trim() || null,
      unit: entered.unit,
    };
  }
  const alarm = entered.alarm.trim() ? readDuration(entered.alarm) : null;
  if (alarm === null && entered.alarm.trim()) return t.feeds.badAlarm;
  return {
    kind: entered.kind,
    name,
    lease_id: entered.kind === "lease" ? entered.leaseId : null,
    alarm_minutes: alarm === null ? null : alarm / MINUTE,
  };
}
