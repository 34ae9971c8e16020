import { describe, expect, it } from "vitest";
import type { TimeSlot } from "../src/api/values";
import {
  type Stretch,
  STATES,
  joined,
  segmentsOf,
  snapOf,
  snapped,
  stretchAt,
  stretchesOf,
  stretchesOfFree,
  stretchesOfOne,
  ticksOf,
} from "../src/chart/model";
import { tileKey, tilesOf } from "../src/chart/tiles";
import { startsOf } from "../src/search/starts";
import { DAY, fromApi, HOUR, MINUTE, toApi } from "../src/time/instant";

const at = fromApi;
const START = at("2031-04-07 00:00");
const FREE = STATES.indexOf("free");
const TAKEN = STATES.indexOf("taken");

function counts(free: number, taken: number): number[] {
  return STATES.map((_, state) => (state === FREE ? free : state === TAKEN ? taken : 0));
}

const interval = (start: string, end: string, free: number, taken: number) => ({
  start_date: start,
  end_date: end,
  free,
  taken,
  mine: 0,
  project: 0,
  maintenance: 0,
  cleaning: 0,
  failed: 0,
});

describe("stretches", () => {
  const first = stretchesOf([
    interval("2031-04-07 00:00", "2031-04-07 06:00", 4, 0),
    interval("2031-04-07 06:00", "2031-04-08 00:00", 1, 3),
  ]);

  it("are found by an instant, which belongs to the later one where two touch", () => {
    expect(stretchAt(first, at("2031-04-07 05:59"))?.counts[FREE]).toBe(4);
    expect(stretchAt(first, at("2031-04-07 06:00"))?.counts[FREE]).toBe(1);
    expect(stretchAt(first, at("2031-04-08 00:00"))).toBeUndefined();
    expect(stretchAt(first, START - 1)).toBeUndefined();
  });

  it("of two tiles become one where nothing changes between them", () => {
    const same = stretchesOf([interval("2031-04-08 00:00", "2031-04-09 00:00", 1, 3)]);
    const other = stretchesOf([interval("2031-04-08 00:00", "2031-04-09 00:00", 2, 2)]);
    expect(joined(first, same).map((each) => toApi(each.end))).toEqual(["2031-04-07 06:00", "2031-04-09 00:00"]);
    expect(joined(first, other)).toHaveLength(3);
    expect(joined([], first)).toEqual(first);
  });

  it("of one resource are free between the states that the answer has", () => {
    const range = { start: START, end: START + DAY };
    const found = stretchesOfOne(
      [{ start_date: "2031-04-07 02:00", end_date: "2031-04-07 03:00", state: "taken" }],
      range,
    );
    expect(found.map((each) => [(each.start - START) / HOUR, STATES[each.counts.indexOf(1)]])).toEqual([
      [0, "free"],
      [2, "taken"],
      [3, "free"],
    ]);
    expect(found.at(-1)?.end).toBe(range.end);
  });
});

describe("free units", () => {
  it("last until the next step, and the rest is taken", () => {
    const steps = [
      { time: "2031-04-07 00:00", free: 3 },
      { time: "2031-04-07 06:00", free: 8 },
    ];
    const found = stretchesOfFree({ total: 8, steps }, at("2031-04-08 00:00"));
    expect(found.map((each) => [toApi(each.end), each.counts[FREE], each.counts[TAKEN]])).toEqual([
      ["2031-04-07 06:00", 3, 5],
      ["2031-04-08 00:00", 8, 0],
    ]);
  });
});

describe("segments", () => {
  it("keep wide stretches, and average those that are narrower than a pixel", () => {
    const stretches: Stretch[] = [
      { start: START, end: START + 10 * HOUR, counts: counts(1, 0) },
      { start: START + 10 * HOUR, end: START + 10.25 * HOUR, counts: counts(0, 1) },
      { start: START + 10.25 * HOUR, end: START + 11 * HOUR, counts: counts(1, 0) },
      { start: START + 11 * HOUR, end: START + 20 * HOUR, counts: counts(0, 1) },
    ];
    const found = segmentsOf(stretches, { start: START, end: START + 20 * HOUR }, HOUR);
    expect(found.map((each) => [each.from, each.to, each.shares[TAKEN]])).toEqual([
      [0, 10, 0],
      [10, 11, 0.25],
      [11, 20, 1],
    ]);
  });

  it("are no more than pixels, and leave out what is not visible", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => ({
      start: START + index * MINUTE,
      end: START + (index + 1) * MINUTE,
      counts: counts(index % 2, 1),
    }));
    const range = { start: START + DAY, end: START + 3 * DAY };
    const found = segmentsOf(many, range, (range.end - range.start) / 400);
    expect(found.length).toBeLessThanOrEqual(400);
    expect(found[0]?.from).toBe(0);
    expect(found.at(-1)?.to).toBeCloseTo(400);
  });

  it("have a gap where nothing is known", () => {
    const stretches = [
      { start: START, end: START + HOUR, counts: counts(1, 0) },
      { start: START + 5 * HOUR, end: START + 6 * HOUR, counts: counts(1, 0) },
    ];
    const found = segmentsOf(stretches, { start: START, end: START + DAY }, HOUR);
    expect(found.map((each) => [each.from, each.to])).toEqual([
      [0, 1],
      [5, 6],
    ]);
  });
});

describe("ticks", () => {
  it("are full hours of the zone for a short range, also on the day of a change", () => {
    const range = { start: at("2031-03-29 23:00"), end: at("2031-03-30 22:00") };
    const found = ticksOf(range, "Europe/Berlin", 12);
    expect(found.map((each) => toApi(each.at).slice(11)).slice(0, 4)).toEqual(["23:00", "01:00", "02:00", "04:00"]);
    expect(found[0]?.midnight).toBe(true);
  });

  it("are days or weeks for a long one, and stay where they are when it moves", () => {
    const range = { start: START, end: START + 30 * DAY };
    const found = ticksOf(range, "UTC", 6).map((each) => each.at);
    const moved = ticksOf({ start: range.start + 3 * DAY, end: range.end + 3 * DAY }, "UTC", 6).map((each) => each.at);
    expect(found.every((each) => new Date(each).getUTCDay() === 1)).toBe(true);
    expect(moved.filter((each) => each < range.end)).toEqual(found.slice(1));
  });
});

describe("tiles", () => {
  const now = at("2031-04-07 10:07");

  it("are at most three, at fixed places, and the first one begins now", () => {
    for (const days of [0.2, 1, 7, 30, 90, 124]) {
      for (const later of [0, 3, 40, 200]) {
        const range = { start: now + later * DAY, end: now + (later + days) * DAY };
        const found = tilesOf(range, now);
        expect(found.length).toBeLessThanOrEqual(3);
        expect(found[0]!.start).toBeLessThanOrEqual(range.start);
        expect(found.at(-1)!.end).toBeGreaterThanOrEqual(range.end);
        expect(found.every((each) => each.start >= now)).toBe(true);
        expect(found.slice(1).every((each, number) => each.start === found[number]!.end)).toBe(true);
      }
    }
  });

  it("keep their keys while time passes", () => {
    const range = { start: now, end: now + 7 * DAY };
    expect(tilesOf(range, now + MINUTE).map(tileKey)).toEqual(tilesOf(range, now).map(tileKey));
  });
});

describe("a chosen time", () => {
  it("is rounded to what is a few pixels wide", () => {
    expect(snapOf(MINUTE)).toBe(15 * MINUTE);
    expect(snapOf(15 * MINUTE)).toBe(3 * HOUR);
    expect(toApi(snapped(at("2031-04-07 10:52"), HOUR, "UTC"))).toBe("2031-04-07 11:00");
    expect(toApi(snapped(at("2031-04-07 10:52"), 30 * MINUTE, "Asia/Kolkata"))).toBe("2031-04-07 11:00");
  });
});

describe("proposed starts", () => {
  const slot = (start: string, latest: string): TimeSlot =>
    ({
      start_date: start,
      end_date: toApi(at(start) + 4 * HOUR),
      latest_start_date: latest,
      shape: 0,
      reservations: [],
      request: { start_date: start, end_date: toApi(at(start) + 4 * HOUR), reservations: [] },
    }) as unknown as TimeSlot;

  it("are the first of each slot, and then mornings and hours that are possible", () => {
    const found = startsOf([slot("2031-04-07 10:07", "2031-04-09 12:00")], "UTC", 5);
    expect(found.map((each) => each.request.start_date)).toEqual([
      "2031-04-07 10:07",
      "2031-04-07 11:00",
      "2031-04-07 13:00",
      "2031-04-08 09:00",
      "2031-04-09 09:00",
    ]);
    expect(found[1]!.request.end_date).toBe("2031-04-07 15:00");
  });

  it("are never outside of a slot", () => {
    const found = startsOf([slot("2031-04-07 10:07", "2031-04-07 10:30")], "UTC", 5);
    expect(found.map((each) => each.request.start_date)).toEqual(["2031-04-07 10:07"]);
  });
});
