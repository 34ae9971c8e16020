import { readdirSync, readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Collection } from "../src/api/values";
import { type Item, listHolders, listItems, registerItem } from "../src/operators/collections";
import { columnsOf, nameOf } from "../src/operators/columns";
import { exampleLine, readLine } from "../src/operators/lines";
import { fromApi } from "../src/time/instant";

// What the service's catalogue says of the resources of examples/plugin; a test of the service compares the two.
const DONGLES = JSON.parse(readFileSync(new URL("dongles.json", import.meta.url), "utf8")) as Collection;
const PAGED: Collection = {
  ...DONGLES,
  path: "things",
  list_key: "things",
  has_pages: true,
  allocation_filters: ["starts_before", "ends_after"],
};

let answers: Record<string, readonly [status: number, body: unknown]> = {};
let sent: string[] = [];

beforeEach(() => {
  [answers, sent] = [{}, []];
  vi.stubGlobal("document", { baseURI: "http://service.example/ui/" });
  vi.stubGlobal("fetch", async (url: URL, init: RequestInit) => {
    const method = init.method ?? "GET";
    const asked = `${method} ${url.pathname.replace("/ui/api/v1/", "")}${decodeURIComponent(url.search)}`;
    sent.push(init.body ? `${asked} ${init.body as string}` : asked);
    const [status, body] = answers[asked] ?? [404, { error_message: asked }];
    return new Response(JSON.stringify(body), { status });
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

const dongle = (name: string, drawer: string): Item => ({
  id: `dongle:${name}`,
  name,
  product: "cad",
  drawer,
  amounts: {},
  reservable: true,
  health_reason: null,
});

describe("resources of a plugin that the page does not know", () => {
  it("are listed with their names and facts", async () => {
    answers["GET dongles"] = [200, { dongles: [dongle("D-1", "A3"), dongle("D-2", "B1")] }];

    const found = (await listItems(DONGLES))!;

    expect(found.map((each) => nameOf(each, DONGLES.name_key))).toEqual(["D-1", "D-2"]);
    expect(columnsOf(found, DONGLES.name_key)).toEqual(["drawer", "product"]);
  });

  it("are registered with a line such as the example of their schema", async () => {
    answers["POST dongles"] = [201, { dongle: dongle("D-1", "A3") }];
    expect(exampleLine(DONGLES)).toBe("D-1 product=cad drawer=A3");

    const line = readLine(exampleLine(DONGLES), DONGLES.create_name_key);
    await registerItem(DONGLES, "values" in line ? line.values : {});

    expect(sent).toEqual(['POST dongles {"serial":"D-1","product":"cad","drawer":"A3"}']);
  });

  it("have the leases that hold them at this time, which the service does not select", async () => {
    const period = (lease: string, start: string, end: string) => ({
      lease_id: lease,
      start_date: `2031-04-05T${start}:00.000000`,
      end_date: `2031-04-05T${end}:00.000000`,
    });
    answers["GET dongles/allocations"] = [
      200,
      {
        allocations: [
          { resource_id: "dongle:D-1", reservations: [period("now", "06:00", "08:00"), period("later", "08:00", "09:00")] },
          { resource_id: "dongle:D-2", reservations: [period("later", "08:00", "09:00")] },
        ],
      },
    ];

    const holders = await listHolders(DONGLES, fromApi("2031-04-05 07:00"));

    expect([...holders]).toEqual([["dongle:D-1", ["now"]]]);
  });

  it("are not shown to those who may not read them", async () => {
    answers["GET dongles"] = [403, { error_message: "disallowed by policy" }];

    expect(await listItems(DONGLES)).toBeNull();
  });
});

describe("a list with pages", () => {
  it("is read to its end", async () => {
    answers["GET things"] = [200, { things: [dongle("D-1", "A3")], things_links: [{ rel: "next", href: "…" }] }];
    answers["GET things?marker=dongle:D-1"] = [200, { things: [dongle("D-2", "B1")] }];

    expect((await listItems(PAGED))!.map((each) => each.id)).toEqual(["dongle:D-1", "dongle:D-2"]);
  });

  it("of allocations is selected by the service, if it can", async () => {
    const held = (id: string) => ({ resource_id: id, reservations: [{ lease_id: `of ${id}` }] });
    const asked = "GET things/allocations?starts_before=now&ends_after=now";
    answers[asked] = [200, { allocations: [held("a")], allocations_links: [{ rel: "next", href: "…" }] }];
    answers[`${asked}&marker=a`] = [200, { allocations: [held("b"), { resource_id: "c", reservations: [] }] }];

    const holders = await listHolders(PAGED, 0);

    expect([...holders]).toEqual([
      ["a", ["of a"]],
      ["b", ["of b"]],
    ]);
    expect([...(await listHolders({ ...PAGED, allocation_filters: null }, 0))]).toEqual([]);
  });
});

describe("the example of a line", () => {
  it("has the required keys if the schema has no example", () => {
    const schema = { required: ["serial", "product"] } as unknown as Collection["create_schema"];

    expect(exampleLine({ ...DONGLES, create_schema: schema })).toBe("… product=…");
    expect(exampleLine({ ...DONGLES, create_schema: schema, create_name_key: null })).toBe("serial=… product=…");
  });

  it("has quotes where a line needs them", () => {
    const schema = { examples: [{ product: "two words", serial: "a=b" }] } as unknown as Collection["create_schema"];

    expect(exampleLine({ ...DONGLES, create_schema: schema })).toBe('"a=b" product="two words"');
  });
});

describe("the page", () => {
  it("names no collection and no resource type", () => {
    const folder = new URL("../src/", import.meta.url);
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
      (each) => /\.tsx?$/.test(each) && !each.endsWith("schema.d.ts"),
    );
    const named = /os-hosts|floatingips|storage[-_]pools|["'`](physical|virtual|flavor):/;

    expect(files.length).toBeGreaterThan(50);
    expect(files.filter((each) => named.test(readFileSync(new URL(each, folder), "utf8")))).toEqual([]);
  });
});
