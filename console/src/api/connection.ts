import { signal } from "@preact/signals";

/** Null while the service answers; otherwise why not, and when the page tries again. */
export const trouble = signal<{ readonly reason: string; readonly nextTry: number } | null>(null);

const LONGEST_DELAY = 15_000;
let delay = 1000;
let wake: Array<() => void> = [];

/** Note that the service answered, so that all that wait try again at once. */
export function answered(): void {
  delay = 1000;
  if (trouble.value) trouble.value = null;
  retryNow();
}

/** End all waits. */
export function retryNow(): void {
  const waiting = wake;
  wake = [];
  for (const each of waiting) each();
}

/** Wait until the next try is due: longer after each failure, until the service answers or the user asks for it. */
export async function nextTry(reason: string, signal?: AbortSignal): Promise<void> {
  if (!trouble.value || trouble.value.nextTry <= Date.now()) {
    trouble.value = { reason, nextTry: Date.now() + delay };
    delay = Math.min(delay * 2, LONGEST_DELAY);
  }
  const wait = Math.max(0, trouble.value.nextTry - Date.now());
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, wait);
    wake.push(() => {
      clearTimeout(timer);
      resolve();
    });
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("aborted", "AbortError"));
    });
  });
}
