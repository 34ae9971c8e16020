import { describe, expect, it } from "vitest";
import { type EnteredFeed, feedRequest } from "../src/calendars/request";
import { type EnteredSubscription, eventsOf, subscriptionRequest } from "../src/notices/request";

const FEED: EnteredFeed = {
  kind: "user",
  name: " ",
  leaseId: "",
  alarm: "",
  resourceType: "whole:thing",
  amount: "2",
  requirement: " rack=r1 ",
  unit: null,
};
const SUBSCRIPTION: EnteredSubscription = {
  kind: "mail",
  scope: "own",
  leaseId: "a",
  address: " ",
  url: " https://hooks.example.org/x ",
  leads: "",
  events: null,
  resourceType: "whole:thing",
  below: "3",
  waits: "1 h",
};

describe("a request for a calendar", () => {
  it("has what its kind needs", () => {
    const leases = { name: null, lease_id: null, alarm_minutes: null };
    expect(feedRequest(FEED)).toEqual({ kind: "user", ...leases });
    expect(feedRequest({ ...FEED, kind: "lease", leaseId: "a", alarm: "1 h 30 min", name: "mine" })).toEqual({
      kind: "lease",
      name: "mine",
      lease_id: "a",
      alarm_minutes: 90,
    });
    expect(feedRequest({ ...FEED, kind: "availability", unit: "vcpus=4" })).toEqual({
      kind: "availability",
      name: null,
      resource_type: "whole:thing",
      amount: 2,
      filter: "rack=r1",
      unit: "vcpus=4",
    });
  });

  it("is not made with a reminder that is no duration", () => {
    expect(feedRequest({ ...FEED, alarm: "soon" })).toContain("duration");
  });
});

describe("a request for a subscription", () => {
  it("has what its kind and its scope need", () => {
    expect(subscriptionRequest(SUBSCRIPTION, "Europe/Berlin")).toEqual({
      kind: "mail",
      scope: "own",
      lease_id: null,
      events: null,
      lead_minutes: null,
      address: null,
      time_zone: "Europe/Berlin",
    });
    const hook = { ...SUBSCRIPTION, kind: "webhook", scope: "lease", leads: "1 d, 1 h" } as const;
    expect(subscriptionRequest(hook, "UTC")).toEqual({
      kind: "webhook",
      scope: "lease",
      lease_id: "a",
      events: null,
      lead_minutes: [1440, 60],
      url: "https://hooks.example.org/x",
    });
  });

  it("tells of the site only if it is one of the site", () => {
    const chosen = { ...SUBSCRIPTION, events: ["resources.low", "lease.ended"] } as const;
    expect(subscriptionRequest(chosen, "UTC")).toMatchObject({ events: ["lease.ended"] });
    expect(subscriptionRequest(chosen, "UTC")).not.toHaveProperty("below");
    expect(subscriptionRequest({ ...chosen, scope: "site" }, "UTC")).toMatchObject({
      events: ["resources.low", "lease.ended"],
      resource_type: "whole:thing",
      below: 3,
    });
    expect(subscriptionRequest({ ...SUBSCRIPTION, scope: "site" }, "UTC")).toMatchObject({ waits_minutes: 60 });
    expect(eventsOf("own")).not.toContain("lease.waits");
  });

  it("is not made with lead times or waits that are no durations", () => {
    expect(subscriptionRequest({ ...SUBSCRIPTION, leads: "1 h, soon" }, "UTC")).toContain("durations");
    expect(subscriptionRequest({ ...SUBSCRIPTION, scope: "site", waits: "long" }, "UTC")).toContain("duration");
  });
});
