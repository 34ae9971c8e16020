import type { FreeAmounts, Timeline } from "../api/values";
import { DAY, fromApi, HOUR, type Instant, MINUTE } from "../time/instant";
import { atWall, startOfDay, wallOf } from "../time/zone";

/** The states of resources, in the order in which a row shows them from the bottom up. */
export const STATES = ["mine", "project", "taken", "maintenance", "failed", "cleaning", "free"] as const;
export type State = (typeof STATES)[number];

/** How many resources are in each state during a period. */
export interface Stretch {
  readonly start: Instant;
  readonly end: Instant;
  /** By the order of STATES. */
  readonly counts: readonly number[];
}

export interface Range {
  readonly start: Instant;
  readonly end: Instant;
}

type GroupInterval = NonNullable<Timeline["groups"]>[number]["intervals"][number];
type OwnInterval = NonNullable<Timeline["resources"]>[number]["intervals"][number];

/** Return the stretches of a group. */
export function stretchesOf(intervals: readonly GroupInterval[]): Stretch[] {
  return intervals.map((each) => ({
    start: fromApi(each.start_date),
    end: fromApi(each.end_date),
    counts: STATES.map((state) => each[state]),
  }));
}

type FreeGroup = FreeAmounts["groups"][number];

/** Return the stretches of a group of which only the free units are known. */
export function stretchesOfFree({ total, steps }: Pick<FreeGroup, "total" | "steps">, end: Instant): Stretch[] {
  return steps.map(({ time, free }, number) => {
    const next = steps[number + 1];
    const taken = Math.max(0, total - free);
    return {
      start: fromApi(time),
      end: next ? fromApi(next.time) : end,
      counts: STATES.map((state) => (state === "free" ? free : state === "taken" ? taken : 0)),
    };
  });
}

/** Return the stretches of one resource, which is free where the answer says nothing. */
export function stretchesOfOne(intervals: readonly OwnInterval[], range: Range): Stretch[] {
  const found: Stretch[] = [];
  let end = range.start;
  const add = (until: Instant, state: State) => {
    if (until <= end) return;
    found.push({ start: end, end: until, counts: STATES.map((each) => (each === state ? 1 : 0)) });
    end = until;
  };
  for (const each of intervals) {
    add(fromApi(each.start_date), "free");
    add(fromApi(each.end_date), each.state);
  }
  add(range.end, "free");
  return found;
}

/** Append the stretches of a later tile; equal ones that touch become one. */
export function joined(before: readonly Stretch[], after: readonly Stretch[]): Stretch[] {
  const [last, next] = [before.at(-1), after[0]];
  if (!last || !next || last.end !== next.start || last.counts.some((each, state) => each !== next.counts[state])) {
    return [...before, ...after];
  }
  return [...before.slice(0, -1), { ...last, end: next.end }, ...after.slice(1)];
}

/** Return the stretch of an instant, or undefined. The stretches are in order. */
export function stretchAt(stretches: readonly Stretch[], at: Instant): Stretch | undefined {
  const found = stretches[firstEndingAfter(stretches, at)];
  return found && found.start <= at ? found : undefined;
}

function firstEndingAfter(stretches: readonly Stretch[], at: Instant): number {
  let [low, high] = [0, stretches.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (stretches[middle]!.end <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A part of a row as wide as a pixel or wider, with the share of each state in the order of STATES. */
export interface Segment {
  readonly from: number;
  readonly to: number;
  readonly shares: readonly number[];
}

/**
 * Return a row in pixels: stretches narrower than a pixel are averaged, so that the work depends on the width.
 *
 * Args: *perPixel* is the time of a pixel, and pixel 0 is at *range.start*.
 */
export function segmentsOf(stretches: readonly Stretch[], range: Range, perPixel: number): Segment[] {
  const found: Segment[] = [];
  let sums: number[] = STATES.map(() => 0);
  let from: number | null = null;
  let width = 0;
  let to = 0;
  const flush = () => {
    const total = sums.reduce((sum, each) => sum + each, 0);
    if (from !== null && total > 0) found.push({ from, to, shares: sums.map((each) => each / total) });
    [sums, from, width] = [STATES.map(() => 0), null, 0];
  };
  for (let index = firstEndingAfter(stretches, range.start); index < stretches.length; index++) {
    const stretch = stretches[index]!;
    if (stretch.start >= range.end) break;
    const start = (Math.max(stretch.start, range.start) - range.start) / perPixel;
    const end = (Math.min(stretch.end, range.end) - range.start) / perPixel;
    if (from !== null && start > to + 0.01) flush();
    // A wide stretch keeps its own shares.
    if (from !== null && width > 0 && end - start >= 1) flush();
    from ??= start;
    to = end;
    width += end - start;
    stretch.counts.forEach((count, state) => (sums[state]! += count * (end - start)));
    if (width >= 1) flush();
  }
  flush();
  return found;
}

export interface Tick {
  readonly at: Instant;
  readonly midnight: boolean;
  /** How far apart the labels are: hours, days, or weeks and more. */
  readonly unit: "hour" | "day" | "week";
}

const STEPS = [HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY];

/** Return where the time axis has labels: at full hours and days of the zone, at most *most* of them. */
export function ticksOf(range: Range, zone: string, most: number): Tick[] {
  const length = range.end - range.start;
  const step = STEPS.find((each) => length / each <= most) ?? 28 * DAY;
  const found: Tick[] = [];
  if (step < DAY) {
    for (let day = startOfDay(range.start, zone); day < range.end; day = startOfDay(day + 12 * HOUR, zone, 1)) {
      const { year, month, day: date } = wallOf(day, zone);
      for (let hour = 0; hour < 24; hour += step / HOUR) {
        const at = atWall({ year, month, day: date, hour, minute: 0 }, zone);
        if (at >= range.start && at < range.end && at !== found.at(-1)?.at) {
          found.push({ at, midnight: hour === 0, unit: "hour" });
        }
      }
    }
    return found;
  }
  const days = step / DAY;
  // Weeks begin on Monday; other steps count from a fixed day, so that panning does not move the labels.
  const number = (at: Instant) => Math.round((startOfDay(at, zone) - Date.UTC(1970, 0, 5)) / DAY);
  let day = startOfDay(range.start, zone);
  while (number(day) % days !== 0) day = startOfDay(day + 12 * HOUR, zone, 1);
  for (; day < range.end; day = startOfDay(day + 12 * HOUR, zone, days)) {
    if (day >= range.start) found.push({ at: day, midnight: true, unit: days < 7 ? "day" : "week" });
  }
  return found;
}

/** Return the step to which a chosen time is rounded, so that it is a few pixels at least. */
export function snapOf(perPixel: number): number {
  const steps = [5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY];
  return steps.find((each) => each / perPixel >= 6) ?? DAY;
}

/** Return an instant rounded to a step of the zone's clock. */
export function snapped(at: Instant, step: number, zone: string): Instant {
  const midnight = startOfDay(at, zone);
  return midnight + Math.round((at - midnight) / step) * step;
}
