import { t } from "../messages";
import { minute } from "../time/clock";
import { Period } from "../time/When";
import { type Range, STATES, type Stretch } from "./model";
import { type Row, rows } from "./rows";
import { draftPeriod } from "./select";
import { range } from "./store";

const MOST = 300;
const FREE = STATES.indexOf("free");

/** The same data as the chart, as a table for each group. */
export function List() {
  return (
    <div class="calendar-list">
      {rows.value
        .filter((each) => each.kind === "group")
        .map((row) => (
          <Table key={row.key} row={row} />
        ))}
    </div>
  );
}

function clipped(stretch: Stretch, visible: Range): Stretch | null {
  const start = Math.max(stretch.start, visible.start, minute.value);
  const end = Math.min(stretch.end, visible.end);
  return start < end ? { ...stretch, start, end } : null;
}

function Table({ row }: { row: Row }) {
  const shown = row.stretches.flatMap((each) => clipped(each, range.value) ?? []);
  const states = STATES.map((state, number) => ({ state, number })).filter(
    ({ state, number }) => state === "free" || shown.some((each) => each.counts[number]! > 0),
  );
  return (
    <table>
      <caption>
        {row.name} ({row.total})
      </caption>
      <thead>
        <tr>
          <th scope="col">{t.chart.period}</th>
          {states.map(({ state }) => (
            <th scope="col" class="number" key={state}>
              {t.chart.states[state]}
            </th>
          ))}
          <th scope="col">
            <span class="hidden">{t.chart.reserveThis}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {shown.slice(0, MOST).map((each) => (
          <tr key={each.start}>
            <th scope="row">
              <Period start={each.start} end={each.end} />
            </th>
            {states.map(({ state, number }) => (
              <td class="number" key={state}>
                {each.counts[number]}
              </td>
            ))}
            <td class="number">
              {each.counts[FREE]! > 0 && (
                <button type="button" class="small" onClick={() => draftPeriod(each, row.value)}>
                  {t.chart.reserveThis}
                </button>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
