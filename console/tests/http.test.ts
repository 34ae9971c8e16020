import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { trouble } from "../src/api/connection";
import { call, onSessionEnd } from "../src/api/http";
import { Refused, Unanswered } from "../src/api/problem";

let answers: Array<() => Response> = [];
let requests = 0;

beforeEach(() => {
  vi.useFakeTimers();
  requests = 0;
  vi.stubGlobal("document", { baseURI: "http://service.example/ui/#reserve" });
  vi.stubGlobal("fetch", async (url: URL) => {
    requests += 1;
    expect(url.href).toBe("http://service.example/ui/api/v1/catalogue");
    return (answers.length > 1 ? answers.shift()! : answers[0]!)();
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const answer = (status: number, body: unknown = {}) => () => new Response(JSON.stringify(body), { status });
const gone = () => {
  throw new TypeError("no connection");
};

describe("a request", () => {
  it("waits for the service, and is then sent again", async () => {
    answers = [gone, answer(503, { error_message: "The database is away." }), answer(200, { found: true })];

    const found = call<{ found: boolean }>("catalogue");
    await vi.advanceTimersByTimeAsync(0);
    expect(trouble.value?.reason).toBe("The service does not answer.");
    await vi.advanceTimersByTimeAsync(1100);
    expect(trouble.value?.reason).toBe("The database is away.");
    await vi.advanceTimersByTimeAsync(20_000);

    expect((await found).value).toEqual({ found: true });
    expect(trouble.value).toBeNull();
  });

  it("that changes something is not repeated unless that is safe", async () => {
    answers = [gone];

    await expect(call("catalogue", { method: "POST", body: {} })).rejects.toBeInstanceOf(Unanswered);
    expect(requests).toBe(1);
  });

  it("is sent again after the user has signed in", async () => {
    answers = [answer(401), answer(200, { found: true })];
    const ask = vi.fn(() => Promise.resolve());
    onSessionEnd(ask);

    expect((await call("catalogue")).value).toEqual({ found: true });
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it("that the API does not accept in spite of signing in fails in the end", async () => {
    answers = [answer(401, { error_message: "The token is not valid." })];
    onSessionEnd(() => Promise.resolve());

    await expect(call("catalogue")).rejects.toThrow("The token is not valid.");
    expect(requests).toBe(4);
  });

  it("that is refused has the message and the reasons of the service", async () => {
    answers = [answer(409, { error_message: "Not enough", reasons: [], alternatives: [] })];

    const refused = await call("catalogue").catch((problem: unknown) => problem);

    expect(refused).toBeInstanceOf(Refused);
    expect((refused as Refused).message).toBe("Not enough");
    expect((refused as Refused).refusal?.alternatives).toEqual([]);
  });
});
