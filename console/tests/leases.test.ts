import { describe, expect, it } from "vitest";
import type { Lease } from "../src/api/values";
import { commandsOf } from "../src/leases/commands";
import { amountOf, endsOf, nextOf, reasonsOf, retryOf, toneOf } from "../src/leases/words";
import { fromApi } from "../src/time/instant";

const RESERVATION = {
  id: "r",
  lease_id: "l",
  resource_id: null,
  resource_type: "whole:thing",
  status: "pending",
  missing_resources: false,
  resources_changed: false,
  created_at: null,
  updated_at: null,
} as const;
const LEASE = {
  id: "l",
  name: "night run",
  user_id: "u",
  project_id: "p",
  start_date: "2031-04-05T06:00:00.000000",
  end_date: "2031-04-05T10:00:00.000000",
  trust_id: null,
  status: "PENDING",
  degraded: false,
  reservations: [RESERVATION],
  events: [],
  created_at: null,
  updated_at: null,
} as unknown as Lease;

describe("a lease", () => {
  it("counts down to its start, and then to its end", () => {
    expect(nextOf(LEASE)).toEqual({ kind: "start", at: fromApi("2031-04-05 06:00") });
    expect(nextOf({ ...LEASE, status: "ACTIVE" })).toEqual({ kind: "end", at: fromApi("2031-04-05 10:00") });
    expect(nextOf({ ...LEASE, status: "TERMINATED" })).toBeNull();
  });

  it("gives each reason once, and the earliest next try", () => {
    const lease = {
      ...LEASE,
      status_reason: "no host",
      retry_at: "2031-04-05T07:00:00.000000",
      reservations: [{ ...RESERVATION, status_reason: "no host", retry_at: "2031-04-05T06:30:00.000000" }],
    } as unknown as Lease;
    expect(reasonsOf(lease)).toEqual(["no host"]);
    expect(retryOf(lease)).toBe(fromApi("2031-04-05 06:30"));
    expect(retryOf(LEASE)).toBeNull();
  });

  it("is marked if one of its resources failed", () => {
    expect(toneOf({ ...LEASE, status: "ACTIVE" })).toBe("good");
    expect(toneOf({ ...LEASE, status: "ACTIVE", degraded: true })).toBe("bad");
  });

  it("says what happens at its end by time, and each sentence once", () => {
    const deleted = { text: "The servers are deleted.", time: "2031-04-05 10:00" };
    const saved = { text: "A snapshot is taken.", time: "2031-04-05 09:00" };
    expect(endsOf([{ at_end: [deleted] }, { at_end: [saved, deleted] }, {}])).toEqual([
      { at: fromApi("2031-04-05 09:00"), texts: ["A snapshot is taken."] },
      { at: fromApi("2031-04-05 10:00"), texts: ["The servers are deleted."] },
    ]);
    expect(endsOf([{ at_end: [] }])).toEqual([]);
  });

  it("asks for what its reservations say", () => {
    expect(amountOf({ ...RESERVATION, max: 2 } as never)).toBe(2);
    expect(amountOf({ ...RESERVATION, amount: "3" } as never)).toBe(3);
    expect(amountOf({ ...RESERVATION, held: 4 } as never)).toBe(4);
  });
});

describe("the use of a reservation", () => {
  it("is a command for each way", () => {
    expect(commandsOf({ scheduler_hints: { reservation: "r-1" } }).map((each) => each.text)).toEqual([
      "openstack server create --hint reservation=r-1 --flavor FLAVOR --image IMAGE --network NETWORK NAME",
    ]);
    expect(commandsOf({ flavor_id: "f-1", scheduler_hints: { group: "g-1" } }).map((each) => each.text)).toEqual([
      "openstack server create --flavor f-1 --hint group=g-1 --image IMAGE --network NETWORK NAME",
    ]);
    expect(commandsOf({ floating_ip_tags: ["blazar", "reservation:r"] }).map((each) => each.text)).toEqual([
      "openstack floating ip list --tags blazar,reservation:r",
    ]);
  });

  it("quotes what a shell would read otherwise, and shows unknown keys as they are", () => {
    expect(commandsOf({ volume_types: ["a; rm -r b"] })[0]?.text).toContain("--type 'a; rm -r b'");
    expect(commandsOf({ camera: "c-1" })).toEqual([{ key: "camera", text: "c-1" }]);
  });
});
