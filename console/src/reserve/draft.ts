import { signal } from "@preact/signals";
import { createLease, holdOffer, newKey, previewLease, releaseOffer } from "../api/lessees";
import { Refused, type Refusal, textOf } from "../api/problem";
import type { Alternative, Lease, LeasePreview, LeaseRequest, Offer } from "../api/values";
import type { Instant } from "../time/instant";

/** Whether a lease would be granted. */
export type Check =
  | { readonly kind: "checking" }
  | { readonly kind: "possible"; readonly preview: LeasePreview }
  | { readonly kind: "refused"; readonly message: string; readonly refusal: Refusal | null };

/** Whether the resources of a lease are held. */
export type Hold =
  | { readonly kind: "none" }
  | { readonly kind: "holding" }
  | { readonly kind: "held"; readonly offer: Offer }
  | { readonly kind: "failed"; readonly message: string };

/** A lease that is being prepared. An alternative may consist of two. */
export interface Part {
  readonly id: number;
  readonly request: LeaseRequest;
  readonly check: Check;
  readonly hold: Hold;
  /** With which its creation may be repeated. */
  readonly key: string;
}

export interface Draft {
  readonly parts: readonly Part[];
  /** As entered; null until then. */
  readonly name: string | null;
  /** Until when later starts are possible, if it came from a search. */
  readonly latestStart: Instant | null;
  readonly busy: boolean;
  /** How many of its leases exist already. */
  readonly done: number;
  readonly problem: { readonly message: string; readonly refusal: Refusal | null } | null;
}

export const draft = signal<Draft | null>(null);
/** Whether dates were entered that are not in the draft yet; then it must not be reserved. */
export const editing = signal(false);

let lastId = 0;
let running = new AbortController();
/** Ends when all parts are checked and held, or cannot be, and when all that former drafts held is released. */
let settled: Promise<void> = Promise.resolve();

function newPart(request: LeaseRequest, id = ++lastId): Part {
  return { id, request, check: { kind: "checking" }, hold: { kind: "none" }, key: newKey() };
}

/** Prepare a lease: check it, learn its cost, and hold its resources. Replaces what was prepared before. */
export function draftOf(request: LeaseRequest, latestStart: Instant | null = null): void {
  const name = draft.value?.name ?? null;
  replace([request], { name, latestStart, done: 0 });
}

/** Prepare an alternative that the service offers, instead of what it refused. */
export function takeAlternative(alternative: Alternative): void {
  const before = draft.value;
  const requests = alternative.bodies as unknown as LeaseRequest[];
  replace(requests.map(withoutName), { name: before?.name ?? null, latestStart: null, done: before?.done ?? 0 });
}

function withoutName({ name: _name, ...request }: LeaseRequest): LeaseRequest {
  return request;
}

/** Change the dates or the reservations of a part; its check and its hold start again. */
export function changePart(id: number, change: Partial<LeaseRequest>): void {
  const before = draft.value;
  if (!before) return;
  const requests = before.parts.map((each) => (each.id === id ? { ...each.request, ...change } : each.request));
  const kept = { name: before.name, latestStart: before.latestStart, done: before.done };
  replace(requests, kept, before.parts.map((each) => each.id));
}

export function rename(name: string): void {
  if (draft.value) draft.value = { ...draft.value, name };
}

/** Stop preparing, and release what is held. */
export function discard(): void {
  running.abort();
  settled = releaseAll();
  draft.value = null;
}

/** Release what is held, and offers that are still being made: the check of the next draft must not count them. */
function releaseAll(): Promise<void> {
  return Promise.all([settled, releaseHeld()]).then(() => undefined);
}

function releaseHeld(): Promise<unknown> {
  const offers = (draft.value?.parts ?? []).flatMap(({ hold }) => (hold.kind === "held" ? [hold.offer.id] : []));
  return Promise.all(offers.map(release));
}

/** An offer that is not released expires by itself. */
function release(id: string): Promise<unknown> {
  return releaseOffer(id).catch(() => undefined);
}

/** Release what is held when the page is left, as far as the browser lets it. */
export function releaseOnLeave(): void {
  addEventListener("pagehide", (event) => {
    if (!event.persisted) void releaseHeld();
  });
}

type Kept = Pick<Draft, "name" | "latestStart" | "done">;

function replace(requests: readonly LeaseRequest[], kept: Kept, ids: readonly number[] = []): void {
  running.abort();
  running = new AbortController();
  editing.value = false;
  const released = releaseAll();
  const parts = requests.map((each, number) => newPart(each, ids[number]));
  draft.value = { ...kept, parts, busy: false, problem: null };
  settled = checkAll(parts, released, running.signal);
}

function update(id: number, change: Partial<Part>): void {
  const before = draft.value;
  if (!before) return;
  draft.value = { ...before, parts: before.parts.map((each) => (each.id === id ? { ...each, ...change } : each)) };
}

async function checkAll(parts: readonly Part[], released: Promise<void>, signal: AbortSignal): Promise<void> {
  await released;
  for (const part of parts) {
    if (signal.aborted) return;
    await check(part, signal);
  }
}

async function check(part: Part, signal: AbortSignal): Promise<void> {
  try {
    // A dry run of a lease needs a name.
    const preview = await previewLease({ name: "-", ...part.request }, signal);
    if (signal.aborted) return;
    update(part.id, { check: { kind: "possible", preview }, hold: { kind: "holding" } });
  } catch (problem) {
    if (signal.aborted) return;
    const refusal = problem instanceof Refused ? problem.refusal : null;
    update(part.id, { check: { kind: "refused", message: textOf(problem), refusal } });
    return;
  }
  try {
    const offer = await holdOffer(part.request, newKey());
    if (signal.aborted) await release(offer.id);
    else update(part.id, { hold: { kind: "held", offer } });
  } catch (problem) {
    if (!signal.aborted) update(part.id, { hold: { kind: "failed", message: textOf(problem) } });
  }
}

/** Make the leases; return those that exist now. The draft remains if one is refused. */
export async function reserve(name: string): Promise<Lease[]> {
  const made: Lease[] = [];
  if (!draft.value || draft.value.busy) return made;
  draft.value = { ...draft.value, busy: true, problem: null };
  // An offer that is still being made would hold what the lease needs.
  await settled;
  // It may have been discarded meanwhile.
  const parts = (draft.value as Draft | null)?.parts ?? [];
  for (const part of parts) {
    try {
      made.push(await create(part, name));
    } catch (problem) {
      const refusal = problem instanceof Refused ? problem.refusal : null;
      const left = parts.slice(made.length);
      const done = draft.value.done + made.length;
      draft.value = { ...draft.value, parts: left, done, busy: false, problem: { message: textOf(problem), refusal } };
      return made;
    }
  }
  draft.value = null;
  return made;
}

async function create(part: Part, name: string): Promise<Lease> {
  if (part.hold.kind === "held") {
    try {
      return await createLease({ offer_id: part.hold.offer.id, name }, part.key);
    } catch (problem) {
      // The offer has expired: its resources may still be free.
      if (!(problem instanceof Refused) || (problem.status !== 410 && problem.status !== 404)) throw problem;
    }
  }
  return createLease({ ...part.request, name }, `${part.key}-direct`);
}
