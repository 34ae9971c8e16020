import type { Colours } from "./canvas";
import { STATES } from "./model";

/** Return the colours of the page's present appearance, as a canvas needs them. */
export function readColours(): Colours {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const colour = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const states = Object.fromEntries(STATES.map((each) => [each, colour(each)]));
  const found = {
    ...states,
    line: colour("line"),
    text: colour("text"),
    muted: colour("muted"),
    now: colour("bad"),
    past: colour("past"),
  };
  probe.remove();
  return found as unknown as Colours;
}
