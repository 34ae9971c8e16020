import { possibleChanges, previewChange } from "../api/lessees";
import { Refused, type Refusal, textOf } from "../api/problem";
import type { Lease } from "../api/values";
import { fromApi, type Instant, MINUTE, toApi } from "../time/instant";

/** How far a lease can be extended. */
export interface Extension {
  /** Null if no later end is possible. */
  readonly latest: Instant | null;
  /** Why not: the service's refusal of one more minute. */
  readonly refused: { readonly message: string; readonly refusal: Refusal | null } | null;
}

/** Return how far a lease can be extended now or, if it cannot, why. */
export async function extensionOf(lease: Pick<Lease, "id" | "end_date">, signal?: AbortSignal): Promise<Extension> {
  const possible = await possibleChanges(lease.id, signal);
  if (possible.latest_end_date !== null) return { latest: fromApi(possible.latest_end_date), refused: null };
  try {
    await previewChange(lease.id, { end_date: toApi(fromApi(lease.end_date) + MINUTE) }, signal);
  } catch (problem) {
    if (!(problem instanceof Refused)) throw problem;
    return { latest: null, refused: { message: textOf(problem), refusal: problem.refusal } };
  }
  return { latest: null, refused: null };
}
