import { effect, signal } from "@preact/signals";
import { isZone, ownZone } from "../time/zone";

export type Theme = "system" | "light" | "dark";
export type ReserveView = "chart" | "list";

const KEY = "blazar-console";

function stored(): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {};
  } catch {
    // Storage may be blocked, for example in a frame of another site.
    return {};
  }
}

const initial = stored();

export const theme = signal<Theme>(
  initial["theme"] === "light" || initial["theme"] === "dark" ? initial["theme"] : "system",
);
/** The name of the time zone of all times on the page; null for that of the browser. */
export const chosenZone = signal<string | null>(
  typeof initial["zone"] === "string" && isZone(initial["zone"]) ? initial["zone"] : null,
);
export const reserveView = signal<ReserveView>(initial["view"] === "list" ? "list" : "chart");

export function zone(): string {
  return chosenZone.value ?? ownZone();
}

/** Apply the theme, and keep the preferences. Nothing else is ever stored. */
export function startPreferences(): void {
  effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
    const kept = JSON.stringify({ theme: theme.value, zone: chosenZone.value, view: reserveView.value });
    try {
      localStorage.setItem(KEY, kept);
    } catch {
      // Then they last until the page is closed.
    }
  });
}
