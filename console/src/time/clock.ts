import { computed, signal } from "@preact/signals";
import { floorToMinute } from "./instant";

/** The present time, which advances every second. */
export const now = signal(Date.now());

/** The minute of the present time: what depends on it is rendered once a minute only. */
export const minute = computed(() => floorToMinute(now.value));

export function startClock(): void {
  setInterval(() => {
    now.value = Date.now();
  }, 1000);
}
