import { t } from "../messages";
import { DAY, HOUR, MINUTE, type Instant } from "./instant";
import { startOfDay } from "./zone";

const formats = new Map<string, Intl.DateTimeFormat>();

function format(at: Instant, zone: string, options: Intl.DateTimeFormatOptions): string {
  const key = `${t.locale} ${zone} ${JSON.stringify(options)}`;
  let found = formats.get(key);
  if (!found) {
    found = new Intl.DateTimeFormat(t.locale, { timeZone: zone, hourCycle: "h23", ...options });
    formats.set(key, found);
  }
  return found.format(at);
}

/** Return `09:00`. */
export function clockText(at: Instant, zone: string): string {
  return format(at, zone, { hour: "2-digit", minute: "2-digit" });
}

/** Return `Tue`, `Tue 1 Dec` for days that are not within a week, or with the year if it is another one. */
export function dayText(at: Instant, zone: string, now: Instant): string {
  const distance = startOfDay(at, zone) - startOfDay(now, zone);
  if (distance >= 0 && distance < 6.5 * DAY) return format(at, zone, { weekday: "short" });
  const year: Intl.DateTimeFormatOptions = Math.abs(distance) > 300 * DAY ? { year: "numeric" } : {};
  return format(at, zone, { weekday: "short", day: "numeric", month: "short", ...year }).replace(",", "");
}

/** Return `Tue 09:00`, or `Tue 1 Dec 09:00`. */
export function momentText(at: Instant, zone: string, now: Instant): string {
  return `${dayText(at, zone, now)} ${clockText(at, zone)}`;
}

/** Return `1 Dec`. */
export function dateText(at: Instant, zone: string): string {
  return format(at, zone, { day: "numeric", month: "short" });
}

/** Return `Tue 1 Dec`. */
export function weekdayDateText(at: Instant, zone: string): string {
  return format(at, zone, { weekday: "short", day: "numeric", month: "short" }).replace(",", "");
}

/** Return `Thu 09:00 – 13:00`, or with both days. */
export function periodText(start: Instant, end: Instant, zone: string, now: Instant): string {
  const sameDay = startOfDay(start, zone) === startOfDay(end, zone);
  return `${momentText(start, zone, now)} – ${sameDay ? clockText(end, zone) : momentText(end, zone, now)}`;
}

/** Return `2031-04-05 20:00 UTC`. */
export function utcText(at: Instant): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** Return `3 h 20 min`: the two largest units. */
export function durationText(milliseconds: number): string {
  const left = Math.max(0, milliseconds);
  if (left < MINUTE) return t.time.seconds(Math.floor(left / 1000));
  if (left < HOUR) return t.time.minutes(Math.floor(left / MINUTE));
  if (left < 2 * DAY) {
    const minutes = Math.floor((left % HOUR) / MINUTE);
    return [t.time.hours(Math.floor(left / HOUR)), minutes ? t.time.minutes(minutes) : ""].join(" ").trim();
  }
  const hours = Math.floor((left % DAY) / HOUR);
  return [t.time.days(Math.floor(left / DAY)), hours ? t.time.hours(hours) : ""].join(" ").trim();
}

/** Return the value of an input `datetime-local`. */
export function inputText(at: Instant, zone: string): string {
  const text = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).format(at);
  return text.replace(" ", "T");
}
