import { computed } from "@preact/signals";
import type { Value } from "../api/values";
import { t } from "../messages";
import type { Stretch } from "./model";
import { groups, ones, opened } from "./store";

export const GROUP_HEIGHT = 38;
export const ONE_HEIGHT = 18;
const GAP = 3;

/** A row of the chart, with its place from the top of the first one. */
export interface Row {
  readonly key: string;
  readonly kind: "group" | "one";
  /** The group that it is, or that it belongs to. */
  readonly value: Value;
  readonly name: string;
  readonly total: number;
  readonly stretches: readonly Stretch[];
  readonly top: number;
  /** Without the gap to the next one. */
  readonly height: number;
}

export function groupName(value: Value, grouped: boolean): string {
  if (!grouped) return t.chart.all;
  return value === null ? t.chart.without : String(value);
}

/** The rows from top to bottom: the groups, each followed by its resources if it is opened. */
export const rows = computed<readonly Row[]>(() => {
  const found: Row[] = [];
  let top = 0;
  const add = (row: Omit<Row, "top" | "height">, height: number) => {
    found.push({ ...row, top, height: height - GAP });
    top += height;
  };
  const grouped = groups.value.length > 1 || groups.value[0]?.value !== null;
  for (const { value, total, stretches } of groups.value) {
    const name = groupName(value, grouped);
    add({ key: `group ${value}`, kind: "group", value, name, total, stretches }, GROUP_HEIGHT);
    if (!opened.value.has(value)) continue;
    for (const one of ones.value.get(value) ?? []) {
      const own = { kind: "one", value, name: one.name, total: 1, stretches: one.stretches } as const;
      add({ key: `one ${value} ${one.name}`, ...own }, ONE_HEIGHT);
    }
  }
  return found;
});

export const totalHeight = computed(() => {
  const last = rows.value.at(-1);
  return last ? last.top + last.height + GAP : 0;
});

/** Return the rows that are visible in a window of the chart, which may be a part of all. */
export function rowsIn(all: readonly Row[], from: number, to: number): Row[] {
  return all.filter((each) => each.top < to && each.top + each.height > from);
}

/** Return the row at a height, or undefined. */
export function rowAt(all: readonly Row[], y: number): Row | undefined {
  return all.find((each) => y >= each.top && y < each.top + each.height);
}
