import { DAY, type Instant } from "../time/instant";
import type { Range } from "./model";

/** The sizes of tiles, and the minutes that answers for them need not tell apart: less than a pixel. */
const SIZES = [
  { size: 2 * DAY, resolution: 1 },
  { size: 8 * DAY, resolution: 5 },
  { size: 32 * DAY, resolution: 30 },
  { size: 128 * DAY, resolution: 120 },
];

function sizeOf(range: Range): (typeof SIZES)[number] {
  return SIZES.find(({ size }) => size >= range.end - range.start) ?? SIZES.at(-1)!;
}

/** A piece of time that is read with one request. */
export interface Tile extends Range {
  /** Whether it begins now: then its beginning moves. */
  readonly first: boolean;
  /** The minutes that its answer need not tell apart. */
  readonly resolution: number;
}

/** Return the tiles that cover a range from *now* on: at most three of one size, at fixed places of time. */
export function tilesOf(range: Range, now: Instant): Tile[] {
  const { size, resolution } = sizeOf(range);
  const start = Math.max(range.start, now);
  const found: Tile[] = [];
  for (let at = Math.floor(start / size) * size; at < range.end; at += size) {
    found.push({ start: Math.max(at, now), end: at + size, first: at <= now, resolution });
  }
  return found;
}

/** Return a text that is the same for the same piece of time, also if *now* is in it. */
export function tileKey({ first, start, end, resolution }: Tile): string {
  return `${first ? "now" : start} ${end} ${resolution}`;
}
