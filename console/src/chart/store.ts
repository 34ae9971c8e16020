import { computed, effect, signal } from "@preact/signals";
import { getAvailability, getTimeline } from "../api/lessees";
import { textOf } from "../api/problem";
import type { Property, Timeline, Value } from "../api/values";
import { catalogue, condition, propertiesOf, typeOf } from "../search/catalogue";
import { searchAgain, understood, wish } from "../search/store";
import { isUnderstood } from "../search/wish";
import { minute } from "../time/clock";
import { DAY, fromApi, toApi } from "../time/instant";
import { type Range, type Stretch, joined, stretchesOf, stretchesOfFree, stretchesOfOne } from "./model";
import { type Tile, tileKey, tilesOf } from "./tiles";

/** A row of the calendar. */
export interface Group {
  readonly value: Value;
  readonly total: number;
  readonly stretches: readonly Stretch[];
}

export interface One {
  readonly name: string;
  readonly id: string | null;
  readonly stretches: readonly Stretch[];
}

export const range = signal<Range>({ start: 0, end: 7 * DAY });
/** The property by which the user groups; undefined until one is chosen, and null for none. */
export const chosenGrouping = signal<string | null | undefined>(undefined);
/** Whether only resources with the property of the search are shown. */
export const onlyWished = signal(true);
export const problem = signal<string | null>(null);
export const reading = signal(0);

export const firstInstant = computed(() => Math.floor(minute.value / (DAY / 24)) * (DAY / 24));
export const lastInstant = computed(() => minute.value + ((catalogue.value?.longest_period_days ?? 366) - 1) * DAY);

const MOST_GROUPS = 300;

/** Return the property that splits the most resources of a type into a useful number of groups. */
export function usefulGrouping(properties: readonly Property[]): string | null {
  const count = (each: Property) => each.values.reduce((sum, { reservable }) => sum + reservable, 0);
  const useful = properties.filter((each) => each.values.length > 1 && each.values.length <= MOST_GROUPS);
  const own = useful.filter((each) => !each.built_in);
  return (own.length ? own : useful).toSorted((a, b) => count(b) - count(a))[0]?.property ?? null;
}

export const grouping = computed(() => {
  const properties = propertiesOf(wish.value.resourceType);
  const chosen = chosenGrouping.value;
  if (chosen === null) return null;
  return properties.some((each) => each.property === chosen) ? chosen! : usefulGrouping(properties);
});

export const filter = computed(() => {
  const { property } = wish.value;
  return onlyWished.value && property ? condition(property.name, property.value) : "";
});

/** How large a unit is, for types whose reservations hold parts of resources; null for whole ones. */
export const unit = computed(() => {
  const keys = typeOf(wish.value.resourceType)?.unit_keys ?? [];
  const asked = understood.value;
  if (keys.length === 0 || !asked || !isUnderstood(asked)) return null;
  return keys.map((each) => `${each}=${String(asked.reservation[each])}`).join(",");
});

interface Read {
  readonly groups: readonly Group[];
  readonly at: number;
  readonly etag: string | null;
}

/** What was read, by question and tile. */
const cache = signal<ReadonlyMap<string, Read>>(new Map());
const CACHE_SIZE = 60;
const FRESH_FOR = 25_000;

const question = computed(() => JSON.stringify([wish.value.resourceType, grouping.value, filter.value, unit.value]));
const tiles = computed(() => tilesOf(range.value, minute.value));
/** The keys of the tiles: a text, so that moving within them changes nothing that depends on it. */
const tileKeys = computed(() => JSON.stringify(tiles.value.map(tileKey)));

/** The groups in the visible range, as far as they were read. */
export const groups = computed<readonly Group[]>(() => {
  const found = new Map<Value, Group>();
  for (const key of JSON.parse(tileKeys.value) as string[]) {
    for (const { value, total, stretches } of cache.value.get(`${question.value} ${key}`)?.groups ?? []) {
      const before = found.get(value)?.stretches ?? [];
      found.set(value, { value, total, stretches: joined(before, stretches) });
    }
  }
  return [...found.values()].toSorted(byValue);
});

function byValue(a: Group, b: Group): number {
  if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
  return String(a.value).localeCompare(String(b.value), undefined, { numeric: true });
}

/** The values of groups whose resources are shown one by one. */
export const opened = signal<ReadonlySet<Value>>(new Set());
export const ones = signal<ReadonlyMap<Value, readonly One[]>>(new Map());

function filterOf(value: Value): string {
  const own = grouping.value === null ? "" : condition(grouping.value, value);
  return [filter.value, own].filter(Boolean).join(", ");
}

type Query = Readonly<Record<string, string | undefined>>;

async function readStates(query: Query): Promise<Read> {
  const { groups: found } = await getTimeline(query);
  const parsed = (found ?? []).map((each) => ({ ...each, stretches: stretchesOf(each.intervals) }));
  return { groups: parsed, at: Date.now(), etag: null };
}

async function readUnits(query: Query, before: Read | undefined): Promise<Read> {
  const found = await getAvailability(query, before?.etag ?? null);
  if (!found) return { ...before!, at: Date.now() };
  const end = fromApi(found.amounts.to);
  const parsed = found.amounts.groups.map((each) => ({ ...each, stretches: stretchesOfFree(each, end) }));
  return { groups: parsed, at: Date.now(), etag: found.etag };
}

const pending = new Set<string>();

async function read(key: string, tile: Tile, now: number): Promise<void> {
  if (pending.has(key)) return;
  pending.add(key);
  reading.value = reading.peek() + 1;
  const asked = question.value;
  const query = {
    resource_type: wish.value.resourceType,
    group_by: grouping.value ?? undefined,
    filter: filter.value || undefined,
    from: tile.first ? "now" : toApi(tile.start),
    to: toApi(Math.min(tile.end, now + 366 * DAY)),
    resolution: String(tile.resolution),
  };
  try {
    const before = cache.peek().get(key);
    const found = unit.value ? await readUnits({ ...query, unit: unit.value }, before) : await readStates(query);
    const kept = [...cache.value].filter(([each]) => each !== key).slice(-CACHE_SIZE);
    cache.value = new Map([...kept, [key, found]]);
    problem.value = null;
  } catch (found) {
    if (asked === question.value) problem.value = textOf(found);
  } finally {
    pending.delete(key);
    reading.value = reading.peek() - 1;
  }
}

async function readOnes(value: Value, visible: readonly Tile[], signal: AbortSignal): Promise<void> {
  const [first, last] = [visible[0], visible.at(-1)];
  if (!first || !last) return;
  const timeline = await getTimeline(
    {
      resource_type: wish.value.resourceType,
      resources: "true",
      filter: filterOf(value) || undefined,
      from: first.first ? "now" : toApi(first.start),
      to: toApi(last.end),
      resolution: String(first.resolution),
    },
    signal,
  );
  const whole = { start: fromApi(timeline.from), end: fromApi(timeline.to) };
  const rows = (timeline.resources ?? []).toSorted(byContent).map((each, number) => ({
    name: each.id ?? String(number + 1),
    id: each.id ?? null,
    stretches: stretchesOfOne(each.intervals, whole),
  }));
  ones.value = new Map([...ones.value, [value, rows]]);
}

type Row = NonNullable<Timeline["resources"]>[number];

/** Order rows so that they keep their places: their numbers hold for one answer only. */
function byContent(a: Row, b: Row): number {
  if (a.id !== undefined && b.id !== undefined) return a.id.localeCompare(b.id, undefined, { numeric: true });
  return JSON.stringify(b.intervals).localeCompare(JSON.stringify(a.intervals));
}

/** Read what is visible: at once if it is missing, and again if it is old or something was changed. */
export function startCalendar(): void {
  range.value = { start: firstInstant.value, end: firstInstant.value + 7 * DAY };
  let changes = searchAgain.value;
  effect(() => {
    const now = minute.value;
    const changed = searchAgain.value !== changes;
    changes = searchAgain.value;
    const asked = question.value;
    void tileKeys.value;
    if (!wish.value.resourceType) return;
    for (const tile of tiles.peek()) {
      const key = `${asked} ${tileKey(tile)}`;
      const before = cache.peek().get(key);
      if (changed || !before || Date.now() - before.at > FRESH_FOR) void read(key, tile, now);
    }
  });
  effect(() => {
    const stop = new AbortController();
    void searchAgain.value;
    void question.value;
    const timer = setTimeout(() => {
      for (const value of opened.value) {
        readOnes(value, tiles.peek(), stop.signal).catch((found: unknown) => {
          if (!stop.signal.aborted) problem.value = textOf(found);
        });
      }
    }, 150);
    void tileKeys.value;
    void opened.value;
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  });
  effect(() => {
    void question.value;
    opened.value = new Set();
    ones.value = new Map();
  });
}

export function toggle(value: Value): void {
  const next = new Set(opened.value);
  if (!next.delete(value)) next.add(value);
  opened.value = next;
}

/** Show another range, within what the service can answer. */
export function show(start: number, length: number): void {
  const size = Math.min(Math.max(length, 2 * (DAY / 24)), 124 * DAY);
  const first = Math.min(Math.max(start, firstInstant.value), lastInstant.value - size);
  range.value = { start: first, end: first + size };
}
