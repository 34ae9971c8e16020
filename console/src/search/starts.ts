import type { LeaseRequest, TimeSlot } from "../api/values";
import { fromApi, HOUR, type Instant, toApi } from "../time/instant";
import { atWall, startOfDay, wallOf } from "../time/zone";

/** A start that the page proposes, with the request that reserves it. */
export interface Start {
  readonly slot: TimeSlot;
  readonly start: Instant;
  readonly end: Instant;
  readonly request: LeaseRequest;
}

const MORNING = 9;

/**
 * Return the starts to propose for the slots of a search, by time.
 *
 * A slot is a range of starts. Its first start is proposed, and while there are fewer than *most* proposals, the
 * next mornings and the next full hours in it.
 */
export function startsOf(slots: readonly TimeSlot[], zone: string, most: number): Start[] {
  const found = slots.map((each) => startIn(each, fromApi(each.start_date)));
  const further = slots.flatMap((slot) => [...mornings(slot, zone, most), ...nextHours(slot)].map((at) => startIn(slot, at)));
  for (const each of further) {
    if (found.length >= most) break;
    if (!found.some((other) => other.start === each.start)) found.push(each);
  }
  return found.toSorted((a, b) => a.start - b.start || a.slot.shape - b.slot.shape);
}

function startIn(slot: TimeSlot, start: Instant): Start {
  const request = slot.request as unknown as LeaseRequest;
  const length = fromApi(slot.end_date) - fromApi(slot.start_date);
  const end = start + length;
  if (start === fromApi(slot.start_date)) return { slot, start, end, request };
  return { slot, start, end, request: { ...request, start_date: toApi(start), end_date: toApi(end) } };
}

function mornings(slot: TimeSlot, zone: string, most: number): Instant[] {
  const [first, last] = [fromApi(slot.start_date), fromApi(slot.latest_start_date)];
  return Array.from({ length: most }, (_, days) => {
    const { year, month, day } = wallOf(startOfDay(first, zone, days), zone);
    return atWall({ year, month, day, hour: MORNING, minute: 0 }, zone);
  }).filter((at) => at > first && at <= last);
}

function nextHours(slot: TimeSlot): Instant[] {
  const [first, last] = [fromApi(slot.start_date), fromApi(slot.latest_start_date)];
  const next = Math.ceil(first / HOUR) * HOUR;
  return [next, next + 2 * HOUR, next + 4 * HOUR].filter((at) => at > first && at <= last);
}
