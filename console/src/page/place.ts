import { signal } from "@preact/signals";

/** The part of the page that is shown, from the address after `#`. */
export interface Place {
  readonly part: "reserve" | "leases" | "notices" | "operators";
  /** What is shown of the part; empty for its beginning. */
  readonly detail: string;
}

const PARTS: readonly Place["part"][] = ["reserve", "leases", "notices", "operators"];

function read(): Place {
  const [name, ...detail] = location.hash.slice(1).split("/");
  return { part: PARTS.find((each) => each === name) ?? "reserve", detail: detail.join("/") };
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
