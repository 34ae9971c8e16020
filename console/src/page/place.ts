import { signal } from "@preact/signals";

/** The part of the page that is shown, from the address after `#`. */
export interface Place {
  readonly part: "reserve" | "leases" | "operators";
  /** What is shown of the part; empty for its beginning. */
  readonly detail: string;
}

function read(): Place {
  const [part, ...detail] = location.hash.slice(1).split("/");
  return { part: part === "leases" || part === "operators" ? part : "reserve", detail: detail.join("/") };
}

export const place = signal<Place>(read());
/** Whether the service lets the user read what operators read. */
export const isOperator = signal(false);

export function startPlace(): void {
  addEventListener("hashchange", () => {
    place.value = read();
    document.getElementById("content")?.focus();
  });
}
