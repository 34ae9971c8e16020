import { t } from "../messages";
import { minute } from "../time/clock";
import { STATES, stretchAt } from "./model";
import { type Row, rows, rowsIn } from "./rows";
import { opened, range, toggle } from "./store";
import { AXIS_HEIGHT } from "./sizes";

/** The service shows at most so many resources one by one. */
const MOST_SHOWN = 1000;
const FREE = STATES.indexOf("free");

/** The names of the visible rows, beside the canvas; a group opens to show its resources. */
export function Labels({ offset, height }: { offset: number; height: number }) {
  return (
    <div class="labels">
      {rowsIn(rows.value, offset, offset + height).filter((row) => row.top + row.height / 2 > offset).map((row) => (
        <div
          key={row.key}
          class={`label ${row.kind}`}
          style={{ top: `${row.top + AXIS_HEIGHT}px`, height: `${row.height}px` }}
        >
          {row.kind === "group" ? <GroupLabel row={row} /> : <span>{row.name}</span>}
        </div>
      ))}
    </div>
  );
}

function GroupLabel({ row }: { row: Row }) {
  const open = opened.value.has(row.value);
  const at = Math.max(range.value.start, minute.value);
  const free = stretchAt(row.stretches, at)?.counts[FREE];
  const counts = free !== undefined && <small class="muted">{t.chart.free(free, row.total)}</small>;
  if (row.total > MOST_SHOWN) {
    return (
      <span class="plain" title={t.chart.tooMany}>
        <span />
        <span class="name">{row.name}</span>
        {counts}
      </span>
    );
  }
  return (
    <button
      type="button"
      class="plain"
      aria-expanded={open}
      title={open ? t.chart.collapse(row.name) : t.chart.expand(row.name)}
      onClick={() => toggle(row.value)}
    >
      <span class="arrow" aria-hidden="true">
        {open ? "▾" : "▸"}
      </span>
      <span class="name">{row.name}</span>
      {counts}
    </button>
  );
}
