import { type Call, call } from "./http";
import type {
  Catalogue,
  FreeAmounts,
  HistoryEntry,
  Lease,
  LeaseChange,
  LeasePreview,
  LeaseRequest,
  Offer,
  PossibleChanges,
  ReservationResources,
  Timeline,
  TimeSlots,
} from "./values";

/** Return a value for `Idempotency-Key`, with which a request may be repeated. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (each) => each.toString(16).padStart(2, "0")).join("");
}

function once(method: Call["method"], body: unknown, key: string): Call {
  return { method: method ?? "POST", body, headers: { "Idempotency-Key": key }, repeatable: true };
}

/** Return the catalogue; with *choices*, the service asks the cloud for the objects that a request can name. */
export async function getCatalogue(choices: boolean): Promise<Catalogue> {
  const query = { choices: choices ? "true" : undefined };
  return (await call<{ catalogue: Catalogue }>("catalogue", { query })).value.catalogue;
}

export async function searchSlots(body: unknown, signal?: AbortSignal): Promise<TimeSlots> {
  return (await call<TimeSlots>("availability/search", { method: "POST", body, signal, repeatable: true })).value;
}

export async function possibleChanges(leaseId: string, signal?: AbortSignal): Promise<PossibleChanges> {
  const body = { lease_id: leaseId };
  return (await call<PossibleChanges>("availability/search", { method: "POST", body, signal, repeatable: true })).value;
}

export async function getTimeline(
  query: Readonly<Record<string, string | undefined>>,
  signal?: AbortSignal,
): Promise<Timeline> {
  return (await call<Timeline>("timeline", { query, signal })).value;
}

/** Return the free amounts, or null if they are those of the answer with *etag*. */
export async function getAvailability(
  query: Readonly<Record<string, string | undefined>>,
  etag: string | null,
): Promise<{ amounts: FreeAmounts; etag: string | null } | null> {
  const headers = etag ? { "If-None-Match": etag } : {};
  const answer = await call<FreeAmounts>("availability", { query, headers });
  return answer.status === 304 ? null : { amounts: answer.value, etag: answer.etag };
}

/** Return a page of leases, and the marker of the next one. */
export async function listLeases(
  query: Readonly<Record<string, string | undefined>>,
): Promise<{ leases: Lease[]; next: string | null }> {
  const { value } = await call<{ leases: Lease[]; leases_links?: Array<{ href: string }> }>("leases", { query });
  return { leases: value.leases, next: value.leases_links ? (value.leases.at(-1)?.id ?? null) : null };
}

export async function getLease(id: string): Promise<Lease> {
  return (await call<{ lease: Lease }>(`leases/${encodeURIComponent(id)}`)).value.lease;
}

export async function previewLease(request: LeaseRequest, signal?: AbortSignal): Promise<LeasePreview> {
  const options: Call = { method: "POST", query: { dry_run: "true" }, body: request, signal, repeatable: true };
  return (await call<{ preview: LeasePreview }>("leases", options)).value.preview;
}

export async function createLease(
  request: LeaseRequest | { offer_id: string; name: string },
  key: string,
): Promise<Lease> {
  return (await call<{ lease: Lease }>("leases", once("POST", request, key))).value.lease;
}

export async function previewChange(id: string, change: LeaseChange, signal?: AbortSignal): Promise<LeasePreview> {
  const options: Call = { method: "PUT", query: { dry_run: "true" }, body: change, signal, repeatable: true };
  return (await call<{ preview: LeasePreview }>(`leases/${encodeURIComponent(id)}`, options)).value.preview;
}

/** Change a lease. Its values are absolute, so the request may be repeated. */
export async function changeLease(id: string, change: LeaseChange): Promise<Lease> {
  return (await call<{ lease: Lease }>(`leases/${encodeURIComponent(id)}`, { method: "PUT", body: change, repeatable: true })).value.lease;
}

export async function deleteLease(id: string): Promise<void> {
  await call(`leases/${encodeURIComponent(id)}`, { method: "DELETE", repeatable: true });
}

export async function resourcesOf(id: string): Promise<ReservationResources[]> {
  return (await call<{ resources: ReservationResources[] }>(`leases/${encodeURIComponent(id)}/resources`)).value.resources;
}

export async function historyOf(id: string): Promise<HistoryEntry[]> {
  return (await call<{ history: HistoryEntry[] }>(`leases/${encodeURIComponent(id)}/history`)).value.history;
}

export async function holdOffer(request: LeaseRequest, key: string): Promise<Offer> {
  // The user has not asked for it, so that no notice is sent when it expires.
  const body = { ...request, expiry_notice: false };
  return (await call<{ offer: Offer }>("offers", once("POST", body, key))).value.offer;
}

export async function releaseOffer(id: string): Promise<void> {
  await call(`offers/${encodeURIComponent(id)}`, { method: "DELETE", outlives: true });
}
