/** An instant, in milliseconds since 1970. */
export type Instant = number;

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const API_TIME = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?Z?$/;

/** Return the instant of a time in an answer, which is UTC: `2031-04-05 20:00` or `2031-04-05T20:00:00.000000`. */
export function fromApi(text: string): Instant {
  const parts = API_TIME.exec(text);
  if (!parts) throw new Error(`not a time of the API: ${text}`);
  const [year, month, day, hour, minute, second] = parts.slice(1).map((each) => Number(each ?? 0));
  return Date.UTC(year!, month! - 1, day, hour, minute, second);
}

/** Return an instant as requests write it: UTC, to the minute. */
export function toApi(at: Instant): string {
  return new Date(at).toISOString().slice(0, 16).replace("T", " ");
}

export function floorToMinute(at: Instant): Instant {
  return Math.floor(at / MINUTE) * MINUTE;
}

export function ceilToMinute(at: Instant): Instant {
  return Math.ceil(at / MINUTE) * MINUTE;
}
