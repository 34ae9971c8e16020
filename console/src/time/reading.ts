import { DAY, HOUR, MINUTE, type Instant, floorToMinute } from "./instant";
import { atWall, startOfDay, wallOf } from "./zone";

const UNITS: Readonly<Record<string, number>> = {
  m: MINUTE,
  min: MINUTE,
  mins: MINUTE,
  minute: MINUTE,
  minutes: MINUTE,
  h: HOUR,
  hour: HOUR,
  hours: HOUR,
  d: DAY,
  day: DAY,
  days: DAY,
  w: 7 * DAY,
  week: 7 * DAY,
  weeks: 7 * DAY,
};

/** Return the milliseconds of a text such as `4 h`, `1h30m`, `90 min` or `2 days`, or null. */
export function readDuration(text: string): number | null {
  const clean = text.trim().toLowerCase().replace(",", ".");
  if (!/^(\d+(\.\d+)?\s*[a-z]+\s*)+$/.test(clean)) return null;
  let total = 0;
  for (const [, amount, unit] of clean.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/g)) {
    const size = UNITS[unit!];
    if (size === undefined) return null;
    total += Number(amount) * size;
  }
  const minutes = Math.round(total / MINUTE);
  return minutes > 0 ? minutes * MINUTE : null;
}

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const CLOCK = /^(\d{1,2})(?::(\d\d))?(?:\s*h)?$/;
const DATE = /^(\d{4})-(\d{1,2})-(\d{1,2})$/;

/** Names of weekdays in the language of the page, beside the English ones: Sunday first. */
export type WeekdayNames = readonly string[];

function weekdayOf(word: string, names: WeekdayNames): number {
  const matches = (name: string) => word.length >= 2 && name.toLowerCase().startsWith(word);
  const own = names.findIndex(matches);
  return own >= 0 ? own : WEEKDAYS.findIndex(matches);
}

/** Return how many days after *now* a word names, or null. */
function dayOf(word: string, now: Instant, zone: string, names: WeekdayNames): number | null {
  if (word === "today") return 0;
  if (word === "tomorrow") return 1;
  const weekday = weekdayOf(word, names);
  if (weekday < 0) return null;
  return (weekday - wallOf(now, zone).weekday + 7) % 7;
}

/**
 * Return the instant of a text such as `now`, `tomorrow 9:00`, `Sunday`, `in 3 days` or `2031-04-05 20:00`, or null.
 *
 * A day without a time is its beginning, or with *asEnd* its end. Times are those of *zone*.
 */
export function readMoment(
  text: string,
  now: Instant,
  zone: string,
  { asEnd = false, names = [] as WeekdayNames } = {},
): Instant | null {
  const clean = text.trim().toLowerCase().replace(/t(?=\d)/, " ").replace(/\s+/g, " ");
  if (clean === "" ) return null;
  if (clean === "now") return floorToMinute(now);
  if (/^(in |\+)/.test(clean)) {
    const length = readDuration(clean.replace(/^(in |\+)/, ""));
    return length === null ? null : floorToMinute(now) + length;
  }
  const [first, second] = clean.split(" ");
  const alone = CLOCK.exec(clean);
  if (alone?.[2] !== undefined) return onDay(startOfDay(now, zone), alone, zone);
  const clock = second === undefined ? null : CLOCK.exec(second);
  if (second !== undefined && !clock) return null;
  const date = DATE.exec(first!);
  let days: number | null = 0;
  let midnight: Instant;
  if (date) {
    const [year, month, day] = date.slice(1).map(Number);
    if (month! < 1 || month! > 12 || day! < 1 || day! > 31) return null;
    midnight = atWall({ year: year!, month: month!, day: day!, hour: 0, minute: 0 }, zone);
  } else {
    days = dayOf(first!, now, zone, names);
    if (days === null) return null;
    midnight = startOfDay(now, zone, days);
  }
  if (clock) return onDay(midnight, clock, zone);
  return asEnd ? startOfDay(midnight, zone, 1) : Math.max(midnight, days === 0 && !date ? floorToMinute(now) : midnight);
}

function onDay(midnight: Instant, clock: RegExpExecArray, zone: string): Instant | null {
  const [hour, minute] = [Number(clock[1]), Number(clock[2] ?? 0)];
  if (hour > 23 || minute > 59) return null;
  const { year, month, day } = wallOf(midnight, zone);
  return atWall({ year, month, day, hour, minute }, zone);
}
