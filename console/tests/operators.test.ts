import { describe, expect, it } from "vitest";
import type { Lease, Usage } from "../src/api/values";
import { isWaiting } from "../src/leases/words";
import { columnsOf, nameOf, reasonOf } from "../src/operators/columns";
import { pairText, readLine } from "../src/operators/lines";
import { groupsOf, stepsOf, unitsOf } from "../src/operators/usage";
import { fromApi, MINUTE } from "../src/time/instant";

describe("a line of a registration", () => {
  it("has a name, and pairs with texts, numbers and words for true and false", () => {
    expect(readLine('node-1 rack=r1 model="A 100, \\"new\\"" cores=64 ssd=true serial="007"', "name")).toEqual({
      values: { name: "node-1", rack: "r1", model: 'A 100, "new"', cores: 64, ssd: true, serial: "007" },
    });
    expect(readLine("42", "name")).toEqual({ values: { name: "42" } });
    expect(readLine("block1@fast#ssd", "name")).toEqual({ values: { name: "block1@fast#ssd" } });
    expect(readLine("segment_id=201-240 code=007", null)).toEqual({ values: { segment_id: "201-240", code: "007" } });
  });

  it.each([
    ["node-1", null, "node-1"],
    ["node-1 node-2", "name", "node-2"],
    ["a=1 a=2", null, "a=2"],
    ['a="open', null, 'a="open'],
    ["a=", null, "a="],
  ])("%j is not understood", (line, nameKey, mistake) => {
    expect(readLine(line, nameKey)).toEqual({ mistake });
  });

  it("can be read from what it is written as", () => {
    for (const value of ["r1", "A 100", 'say "no"', "a\\b", "x=y"]) {
      expect(readLine(pairText("key", value), null)).toEqual({ values: { key: value } });
    }
  });
});

describe("a table of resources", () => {
  const items = [
    { id: "1", hypervisor_hostname: "node-1", service_name: "node-1", vcpus: 8, rack: "r1", cpu_info: "{}".repeat(40) },
    { id: "2", hypervisor_hostname: "node-2", service_name: "node-2", vcpus: 8, rack: "r2", trust_id: null },
  ];

  it("shows what tells the resources apart first, and no long texts", () => {
    expect(columnsOf(items, "hypervisor_hostname")).toEqual(["rack", "vcpus"]);
    expect(items.map((each) => nameOf(each, "hypervisor_hostname"))).toEqual(["node-1", "node-2"]);
    expect(nameOf({ id: "9" }, "name")).toBe("9");
  });

  it("has the reason of the health beside it, and not as a column", () => {
    const down = { ...items[0]!, reservable: false, health_reason: "its compute service is down" };

    expect(reasonOf(down)).toBe("its compute service is down");
    expect(reasonOf({ ...down, health_reason: null })).toBe("");
    expect(reasonOf(items[0]!)).toBe("");
    expect(columnsOf([down, items[1]!], "hypervisor_hostname")).toEqual(["rack", "vcpus"]);
  });
});

describe("a report of usage", () => {
  const hours = (reserved: number) => ({ reserved, in_use: reserved, idle: 0, no_show: 0, lost: 0, unknown: 0 });
  const amount = (unit: string, resourceClass: string | null, steps: number[]) => ({
    unit,
    resource_class: resourceClass,
    hours: hours(steps.reduce((sum, each) => sum + each, 0)),
    steps: steps.map(hours),
  });
  const usage = {
    by: "project",
    property: null,
    from: "2031-04-01 00:00",
    to: "2031-04-03 00:00",
    complete_since: null,
    steps: [
      { start_date: "2031-04-01 00:00", end_date: "2031-04-02 00:00" },
      { start_date: "2031-04-02 00:00", end_date: "2031-04-03 00:00" },
    ],
    groups: [
      { value: "p", amounts: [amount("hosts", null, [1, 2]), amount("hosts", "VCPU", [8, 16])] },
      { value: "q", amounts: [amount("hosts", null, [4, 0]), amount("instances", null, [1, 1])] },
    ],
  } as Usage;

  it("is added up by step and listed by group, without resource classes", () => {
    expect(unitsOf(usage)).toEqual(["hosts", "instances"]);
    expect(stepsOf(usage, "hosts").map((each) => each.reserved)).toEqual([5, 2]);
    expect(groupsOf(usage, "hosts").map((each) => [each.value, each.hours.reserved])).toEqual([
      ["q", 4],
      ["p", 3],
    ]);
  });
});

describe("a lease that waits", () => {
  const now = fromApi("2031-04-05 06:00");
  const lease = (change: Partial<Lease>) =>
    ({
      status: "PENDING",
      degraded: false,
      start_date: "2031-04-05T07:00:00.000000",
      end_date: "2031-04-05T08:00:00.000000",
      reservations: [],
      ...change,
    }) as unknown as Lease;

  it("has a reason, changes, failed or is late", () => {
    expect(isWaiting(lease({}), now)).toBe(false);
    expect(isWaiting(lease({ status: "ACTIVE" }), now)).toBe(false);
    expect(isWaiting(lease({ status: "TERMINATED" }), now)).toBe(false);
    expect(isWaiting(lease({ status_reason: "no host" }), now)).toBe(true);
    expect(isWaiting(lease({ status: "STARTING" }), now)).toBe(true);
    expect(isWaiting(lease({ status: "ERROR" }), now)).toBe(true);
    expect(isWaiting(lease({ status: "ACTIVE", degraded: true }), now)).toBe(true);
    expect(isWaiting(lease({}), now + 61 * MINUTE)).toBe(true);
    expect(isWaiting(lease({ status: "ACTIVE" }), now + 121 * MINUTE)).toBe(true);
  });
});
