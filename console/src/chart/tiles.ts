import { DAY, type Instant } from "../time/instant";
import type { Range } from "./model";

const SIZES = [2 * DAY, 8 * DAY, 32 * DAY, 128 * DAY];

/** A piece of time that is read with one request. */
export interface Tile extends Range {
  /** Whether it begins now: then its beginning moves. */
  readonly first: boolean;
}

/** Return the tiles that cover a range from *now* on: at most three of one size, at fixed places of time. */
export function tilesOf(range: Range, now: Instant): Tile[] {
  const size = SIZES.find((each) => each >= range.end - range.start) ?? SIZES.at(-1)!;
  const start = Math.max(range.start, now);
  const found: Tile[] = [];
  for (let at = Math.floor(start / size) * size; at < range.end; at += size) {
    found.push({ start: Math.max(at, now), end: at + size, first: at <= now });
  }
  return found;
}

/** Return a text that is the same for the same piece of time, also if *now* is in it. */
export function tileKey(tile: Tile): string {
  return tile.first ? `now ${tile.end}` : `${tile.start} ${tile.end}`;
}
