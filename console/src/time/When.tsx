import type { ComponentChildren } from "preact";
import { zone } from "../page/preferences";
import { minute, now } from "./clock";
import { durationText, momentText, periodText, utcText } from "./format";
import { type Instant, fromApi } from "./instant";

/** A time in the zone of the page, with UTC on hover. */
export function When({ at }: { at: Instant }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={utcText(at)}>
      {momentText(at, zone(), minute.value)}
    </time>
  );
}

/** A period in the zone of the page, with UTC on hover. */
export function Period({ start, end }: { start: Instant; end: Instant }) {
  return (
    <span class="period" title={`${utcText(start)} – ${utcText(end)}`}>
      {periodText(start, end, zone(), minute.value)}
    </span>
  );
}

/** The time until an instant, which is updated. */
export function Countdown({ to }: { to: Instant }) {
  const left = to - now.value;
  return <span title={utcText(to)}>{durationText(left)}</span>;
}

const TIME = /\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: UTC)?/g;
const WEEKDAY_BEFORE = /\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) $/;

/** A sentence of the API, in which its UTC times are shown in the zone of the page. */
export function Sentence({ text }: { text: string }) {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const match of text.matchAll(TIME)) {
    parts.push(text.slice(end, match.index).replace(WEEKDAY_BEFORE, ""));
    parts.push(<When at={fromApi(match[0].replace(" UTC", ""))} />);
    end = match.index + match[0].length;
  }
  const rest = text.slice(end);
  parts.push(end ? rest.replace(/^ UTC\b/, "") : rest);
  return <>{parts}</>;
}
