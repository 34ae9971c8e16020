import { describe, expect, it } from "vitest";
import { durationText, momentText, periodText, utcText } from "../src/time/format";
import { DAY, fromApi, HOUR, MINUTE, toApi } from "../src/time/instant";
import { readDuration, readMoment } from "../src/time/reading";
import { atWall, startOfDay, wallOf } from "../src/time/zone";

const BERLIN = "Europe/Berlin";
const at = (text: string) => fromApi(text);
// A Thursday, 09:20 in Berlin.
const NOW = at("2031-04-03 07:20");

describe("times of the API", () => {
  it("reads both forms of answers, and writes that of requests", () => {
    expect(toApi(at("2031-04-05 20:00"))).toBe("2031-04-05 20:00");
    expect(toApi(at("2031-04-05T06:07:00.000000"))).toBe("2031-04-05 06:07");
    expect(() => at("soon")).toThrow("not a time");
  });
});

describe("time zones", () => {
  it("shows the time of a zone", () => {
    expect(wallOf(NOW, BERLIN)).toMatchObject({ day: 3, hour: 9, minute: 20, weekday: 4 });
  });

  it("finds the instant of a wall clock in every hour of a year, except those that come twice", () => {
    for (let each = at("2031-01-01 00:00"); each < at("2032-01-01 00:00"); each += HOUR) {
      const wall = wallOf(each, BERLIN);
      const found = atWall(wall, BERLIN);
      expect(wallOf(found, BERLIN)).toEqual(wall);
      expect([0, HOUR]).toContain(each - found);
    }
  });

  it("moves times that are skipped in spring to after the change", () => {
    const skipped = atWall({ year: 2031, month: 3, day: 30, hour: 2, minute: 30 }, BERLIN);
    expect(utcText(skipped)).toBe("2031-03-30 01:30 UTC");
  });

  it("counts days as the clock does, also across a change", () => {
    expect(startOfDay(at("2031-03-29 12:00"), BERLIN, 2) - startOfDay(at("2031-03-29 12:00"), BERLIN)).toBe(47 * HOUR);
  });
});

describe("durations", () => {
  it.each([
    ["4 h", 240],
    ["4h", 240],
    ["1h30m", 90],
    ["90 min", 90],
    ["1.5 h", 90],
    ["2 days", 2880],
    ["1 w", 10080],
  ])("reads %s", (text, minutes) => expect(readDuration(text)).toBe(minutes * MINUTE));

  it.each(["", "4", "h", "4 parsecs", "-1 h", "0 h", "4 h soon"])("refuses %j", (text) =>
    expect(readDuration(text)).toBeNull(),
  );

  it("are written with two units at most", () => {
    expect(durationText(200 * MINUTE)).toBe("3 h 20 min");
    expect(durationText(3 * DAY + 5 * HOUR + MINUTE)).toBe("3 d 5 h");
    expect(durationText(42_000)).toBe("42 s");
    expect(durationText(-1)).toBe("0 s");
  });
});

describe("moments", () => {
  it.each([
    ["now", "2031-04-03 07:20"],
    ["in 2 h", "2031-04-03 09:20"],
    ["tomorrow", "2031-04-03 22:00"],
    ["tomorrow 9:00", "2031-04-04 07:00"],
    ["Sunday", "2031-04-05 22:00"],
    ["sun 18", "2031-04-06 16:00"],
    ["today", "2031-04-03 07:20"],
    ["18:30", "2031-04-03 16:30"],
    ["2031-04-05 20:00", "2031-04-05 18:00"],
    ["2031-04-05T20:00", "2031-04-05 18:00"],
    ["2031-04-05", "2031-04-04 22:00"],
  ])("reads %s as the beginning", (text, expected) => {
    expect(toApi(readMoment(text, NOW, BERLIN)!)).toBe(expected);
  });

  it("takes the end of a day as the end", () => {
    expect(toApi(readMoment("Sunday", NOW, BERLIN, { asEnd: true })!)).toBe("2031-04-06 22:00");
    expect(toApi(readMoment("today", NOW, BERLIN, { asEnd: true })!)).toBe("2031-04-03 22:00");
  });

  it("understands weekdays of another language", () => {
    const names = ["Sonntag", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag"];
    expect(readMoment("Sonntag", NOW, BERLIN, { names })).toBe(readMoment("Sunday", NOW, BERLIN));
  });

  it.each(["", "soon", "2031-13-01", "tomorrow 25:00", "Sunday at noon", "in 4", "2031-04-05 20:61"])(
    "refuses %j",
    (text) => expect(readMoment(text, NOW, BERLIN)).toBeNull(),
  );

  it("are written with the date only if the weekday is not enough", () => {
    expect(momentText(at("2031-04-05 18:00"), BERLIN, NOW)).toBe("Sat 20:00");
    expect(momentText(at("2031-04-12 18:00"), BERLIN, NOW)).toBe("Sat 12 Apr 20:00");
    expect(momentText(at("2031-04-01 18:00"), BERLIN, NOW)).toBe("Tue 1 Apr 20:00");
    expect(periodText(at("2031-04-05 18:00"), at("2031-04-05 20:00"), BERLIN, NOW)).toBe("Sat 20:00 – 22:00");
    expect(periodText(at("2031-04-05 18:00"), at("2031-04-05 23:00"), BERLIN, NOW)).toBe("Sat 20:00 – Sun 01:00");
  });
});
