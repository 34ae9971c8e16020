import { useState } from "preact/hooks";
import { textOf } from "../api/problem";

/** What a form or a button does with the service, one thing at a time, and why the last attempt failed. */
export interface Attempts {
  readonly busy: boolean;
  readonly problem: string | null;
  /** Show a problem that was found before anything was sent. */
  fail(problem: string): void;
  /** Run something; what it throws becomes the problem. */
  attempt(act: () => Promise<void>): Promise<void>;
}

export function useAttempts(): Attempts {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  async function attempt(act: () => Promise<void>) {
    setBusy(true);
    setProblem(null);
    try {
      await act();
    } catch (reason) {
      setProblem(textOf(reason));
    }
    setBusy(false);
  }

  return { busy, problem, fail: setProblem, attempt };
}

/** The problem of an attempt, which screen readers announce. */
export function Problem({ text }: { text: string | null }) {
  return text ? (
    <p class="problem" role="alert">
      {text}
    </p>
  ) : null;
}
