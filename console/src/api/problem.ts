import type { components } from "./schema";

export type Refusal = components["schemas"]["RefusedLease"];

/** A request that the service refused, with its answer. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly body: unknown,
  ) {
    super(message);
  }

  /** Return why and what else is possible, if the service says so. */
  get refusal(): Refusal | null {
    const body = this.body as Partial<Refusal> | null;
    return body && Array.isArray(body.reasons) ? (body as Refusal) : null;
  }
}

/** A request without an answer, which may or may not have had an effect. */
export class Unanswered extends Error {}

/** Return the text for a person, of any error. */
export function textOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}
