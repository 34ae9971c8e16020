import { DAY, type Instant } from "./instant";

/** A time as a clock on the wall of a time zone shows it. */
export interface Wall {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  /** 0 is Sunday. */
  readonly weekday: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      hourCycle: "h23",
    });
    formats.set(zone, format);
  }
  return format;
}

/** Return the zone of the browser. */
export function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}

export function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

export function wallOf(at: Instant, zone: string): Wall {
  const found: Record<string, number> = {};
  for (const part of formatOf(zone).formatToParts(at)) found[part.type] = Number(part.value);
  const [year, month, day] = [found["year"]!, found["month"]!, found["day"]!];
  return {
    year,
    month,
    day,
    hour: found["hour"]!,
    minute: found["minute"]!,
    weekday: new Date(Date.UTC(year, month - 1, day)).getUTCDay(),
  };
}

function asUtc(wall: Omit<Wall, "weekday">): number {
  return Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute);
}

/**
 * Return the instant at which the clocks of a zone show a time.
 *
 * A time that is skipped in spring becomes the one as long after the change; of a time that comes twice in
 * autumn, the first is returned. Days and months beyond their range carry over.
 */
export function atWall(wall: Omit<Wall, "weekday">, zone: string): Instant {
  const wanted = asUtc(wall);
  const shown = (at: Instant) => asUtc(wallOf(at, zone)) - at;
  const [before, after] = [shown(wanted - DAY), shown(wanted + DAY)];
  for (const offset of before === after ? [before] : [before, after].sort((a, b) => b - a)) {
    if (shown(wanted - offset) === offset) return wanted - offset;
  }
  return wanted - before;
}

/** Return the midnight at which the day of an instant began, or that of a day some days later. */
export function startOfDay(at: Instant, zone: string, daysLater = 0): Instant {
  const { year, month, day } = wallOf(at, zone);
  return atWall({ year, month, day: day + daysLater, hour: 0, minute: 0 }, zone);
}
