import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Unanswered } from "../src/api/problem";
import { extensionOf } from "../src/leases/extension";
import { fromApi } from "../src/time/instant";

const LEASE = { id: "one", end_date: "2031-04-05T20:00:00.000000" };
const RULE = {
  code: "extension",
  rule: "at-the-end",
  summary: "end_date: a lease that has started can be extended only in its last 2 hours; you can extend the lease from"
    + " Sat 2031-04-05 18:00 UTC (rule at-the-end)",
  possible_from: "2031-04-05 18:00",
};
const REASON = { resource_type: "physical:host", needed: 1, binding: "rule", summary: RULE.summary, steps: [], rules: [RULE] };

let latest: string | null = null;
let preview: () => Response;
let asked: Array<{ path: string; body: unknown }> = [];

beforeEach(() => {
  asked = [];
  vi.stubGlobal("document", { baseURI: "http://service.example/ui/" });
  vi.stubGlobal("fetch", async (url: URL, init: RequestInit) => {
    const path = url.pathname.replace("/ui/api/v1/", "") + url.search;
    asked.push({ path, body: JSON.parse(String(init.body)) });
    if (path === "availability/search") {
      return new Response(JSON.stringify({ id: "one", latest_end_date: latest, reservations: [], slots: [] }));
    }
    return preview();
  });
});

afterEach(() => vi.unstubAllGlobals());

const refusing = (body: object) => () => new Response(JSON.stringify(body), { status: 403 });

describe("how far a lease can be extended", () => {
  it("is asked once if it can be", async () => {
    latest = "2031-04-06 06:00";

    expect(await extensionOf(LEASE)).toEqual({ latest: fromApi("2031-04-06 06:00"), refused: null });
    expect(asked.map((each) => each.path)).toEqual(["availability/search"]);
  });

  it("is, if it cannot be, explained by the refusal of one more minute, which changes nothing", async () => {
    latest = null;
    preview = refusing({ error_message: RULE.summary, reasons: [REASON], alternatives: [] });

    const found = await extensionOf(LEASE);

    expect(found.latest).toBeNull();
    expect(found.refused?.message).toBe(RULE.summary);
    expect(found.refused?.refusal?.reasons[0]?.rules?.[0]?.possible_from).toBe("2031-04-05 18:00");
    expect(asked[1]).toEqual({ path: "leases/one?dry_run=true", body: { end_date: "2031-04-05 20:01" } });
  });

  it("has the message of a refusal without reasons, such as one of a site's filter", async () => {
    latest = null;
    preview = refusing({ error_message: "The project has no credits." });

    expect((await extensionOf(LEASE)).refused).toEqual({ message: "The project has no credits.", refusal: null });
  });

  it("has no reason if the service grants it meanwhile", async () => {
    latest = null;
    preview = () => new Response(JSON.stringify({ preview: {} }));

    expect(await extensionOf(LEASE)).toEqual({ latest: null, refused: null });
  });

  it("is not known without an answer", async () => {
    latest = null;
    const stop = new AbortController();
    preview = () => {
      stop.abort();
      throw new TypeError("no connection");
    };

    await expect(extensionOf(LEASE, stop.signal)).rejects.not.toBeInstanceOf(Unanswered);
  });
});
