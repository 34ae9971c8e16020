import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LeaseRequest } from "../src/api/values";
import { changePart, discard, draft, draftOf, reserve, takeAlternative } from "../src/reserve/draft";

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly headers: Record<string, string>;
}

type Answer = readonly [status: number, body: unknown];

const REQUEST: LeaseRequest = {
  start_date: "2031-04-05 20:00",
  end_date: "2031-04-06 06:00",
  reservations: [{ resource_type: "whole:thing", min: 2, max: 2 }],
};
const REFUSAL = { error_message: "Not enough", reasons: [], alternatives: [] };

let sent: Sent[] = [];
let answers: Record<string, (one: Sent) => Answer | Promise<Answer>> = {};

const DEFAULTS: typeof answers = {
  "POST leases?dry_run=true": () => [200, { preview: { costs: [], reservations: [] } }],
  "POST offers": () => [201, { offer: { id: `offer-${sent.length}`, expires_at: "2031-04-05T20:00:00.000000" } }],
  "POST leases": ({ body }) => [201, { lease: { id: body["offer_id"] ?? "direct" } }],
  DELETE: () => [204, null],
};

beforeEach(() => {
  [sent, answers] = [[], { ...DEFAULTS }];
  vi.stubGlobal("document", { baseURI: "http://service.example/ui/" });
  vi.stubGlobal("fetch", async (url: URL, init: RequestInit) => {
    const method = init.method ?? "GET";
    const path = `${url.pathname.replace("/ui/api/v1/", "")}${url.search}`;
    const body = init.body ? (JSON.parse(init.body as string) as Record<string, unknown>) : {};
    const one = { method, path, body, headers: init.headers as Record<string, string> };
    sent.push(one);
    const answer = answers[`${method} ${path}`] ?? answers[method]!;
    const [status, value] = await answer(one);
    return new Response(value === null ? null : JSON.stringify(value), { status });
  });
});

afterEach(() => {
  discard();
  vi.unstubAllGlobals();
});

const paths = () => sent.map(({ method, path }) => `${method} ${path}`);
const held = () => vi.waitFor(() => expect(draft.value?.parts.every((each) => each.hold.kind === "held")).toBe(true));

describe("a lease that is being prepared", () => {
  it("is checked before it is held, and becomes the lease of the offer", async () => {
    draftOf(REQUEST);
    await held();

    const made = await reserve("night run");

    expect(paths()).toEqual(["POST leases?dry_run=true", "POST offers", "POST leases"]);
    expect(sent[2]!.body).toEqual({ offer_id: made[0]!.id, name: "night run" });
    expect(sent.every((each) => each.headers["X-Requested-With"] === "blazar-console")).toBe(true);
    expect(draft.value).toBeNull();
  });

  it("is not made beside an offer that is still being made, which holds what it needs", async () => {
    let answer: (value: Answer) => void = () => undefined;
    answers["POST offers"] = () => new Promise((resolve) => (answer = resolve));
    draftOf(REQUEST);
    await vi.waitFor(() => expect(paths()).toContain("POST offers"));

    const reserving = reserve("night run");
    expect(draft.value?.busy).toBe(true);
    answer([201, { offer: { id: "late", expires_at: "2031-04-05T20:00:00.000000" } }]);

    expect((await reserving).map((each) => each.id)).toEqual(["late"]);
  });

  it("is made directly if it cannot be held, or if the offer has expired", async () => {
    answers["POST offers"] = () => [409, { error_message: "too many offers" }];
    draftOf(REQUEST);
    await vi.waitFor(() => expect(draft.value?.parts[0]?.hold.kind).toBe("failed"));
    expect((await reserve("one")).map((each) => each.id)).toEqual(["direct"]);

    answers = { ...DEFAULTS };
    answers["POST leases"] = ({ body }) =>
      body["offer_id"] ? [410, { error_message: "expired" }] : [201, { lease: { id: "direct" } }];
    draftOf(REQUEST);
    await held();
    expect((await reserve("two")).map((each) => each.id)).toEqual(["direct"]);
  });

  it("releases what it holds when it is discarded or changed", async () => {
    draftOf(REQUEST);
    await held();
    const first = draft.value!.parts[0]!;
    changePart(first.id, { end_date: "2031-04-06 08:00" });
    await held();
    discard();

    const released = sent.filter((each) => each.method === "DELETE").map((each) => each.path);
    expect(released).toHaveLength(2);
    // The offer is gone before the changed lease is checked.
    expect(paths().indexOf(`DELETE ${released[0]}`)).toBeLessThan(paths().lastIndexOf("POST leases?dry_run=true"));
    expect(draft.value).toBeNull();
  });

  it("is not checked before an offer of the former draft, which was still being made, is released", async () => {
    const waiting: ((value: Answer) => void)[] = [];
    const late: Answer = [201, { offer: { id: "late", expires_at: "2031-04-05T20:00:00.000000" } }];
    for (const replaceDraft of [() => draftOf(REQUEST), () => (discard(), draftOf(REQUEST))]) {
      [sent, answers] = [[], { ...DEFAULTS, "POST offers": () => new Promise((resolve) => waiting.push(resolve)) }];
      draftOf(REQUEST);
      await vi.waitFor(() => expect(paths()).toContain("POST offers"));
      answers = { ...DEFAULTS };

      replaceDraft();
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(paths()).toHaveLength(2);
      waiting.pop()!(late);
      await held();

      expect(paths().slice(2)).toEqual(["DELETE offers/late", "POST leases?dry_run=true", "POST offers"]);
      discard();
    }
  });

  it("shows why it is refused, and takes an alternative of two leases", async () => {
    answers["POST leases?dry_run=true"] = () => [409, REFUSAL];
    draftOf(REQUEST);
    await vi.waitFor(() => expect(draft.value?.parts[0]?.check.kind).toBe("refused"));

    answers["POST leases?dry_run=true"] = DEFAULTS["POST leases?dry_run=true"]!;
    const body = { ...REQUEST, name: "-" };
    takeAlternative({ kind: "split", summary: "two", bodies: [body, body] } as never);
    await held();

    expect(await reserve("both")).toHaveLength(2);
  });

  it("keeps what is left if only a part of it could be made", async () => {
    let number = 0;
    answers["POST leases"] = () => (++number === 1 ? [201, { lease: { id: "a" } }] : [409, REFUSAL]);
    takeAlternative({ kind: "split", summary: "two", bodies: [REQUEST, REQUEST] } as never);
    await held();

    expect(await reserve("both")).toHaveLength(1);
    expect(draft.value).toMatchObject({ done: 1, busy: false, problem: { message: "Not enough" } });
    expect(draft.value?.parts).toHaveLength(1);
  });
});
