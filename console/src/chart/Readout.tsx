import { t } from "../messages";
import { zone } from "../page/preferences";
import { minute } from "../time/clock";
import { momentText, utcText } from "../time/format";
import type { Instant } from "../time/instant";
import { STATES, stretchAt } from "./model";
import type { Row } from "./rows";

export interface Pointed {
  readonly row: Row;
  readonly instant: Instant;
}

/** What is under the pointer: the time here and in UTC, and the states of the row. */
export function Readout({ pointed }: { pointed: Pointed | null }) {
  if (!pointed) return <p class="readout muted">{t.chart.help}</p>;
  const { row, instant } = pointed;
  const stretch = stretchAt(row.stretches, instant);
  const counts = stretch
    ? STATES.flatMap((state, number) => {
        const count = stretch.counts[number]!;
        if (!count) return [];
        return row.kind === "one" ? [t.chart.states[state]] : [`${count} ${t.chart.states[state]}`];
      }).toReversed()
    : [];
  return (
    <p class="readout">
      <strong>{row.name}</strong> · {momentText(instant, zone(), minute.value)}{" "}
      <span class="muted">({utcText(instant)})</span> · {counts.join(", ")}
    </p>
  );
}
