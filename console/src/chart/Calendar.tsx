import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { textOf } from "../api/problem";
import { t } from "../messages";
import { reserveView } from "../page/preferences";
import { propertiesOf, typeOf, unitName } from "../search/catalogue";
import { wish } from "../search/store";
import { DAY } from "../time/instant";
import { Period } from "../time/When";
import { List } from "./List";
import { STATES } from "./model";
import { rows } from "./rows";
import { chosenGrouping, filter, firstInstant, grouping, onlyWished, problem, range, reading, show, unit } from "./store";

/** What is free, taken and whose, over time: as a chart or as a list. */
export function Calendar() {
  const type = typeOf(wish.value.resourceType);
  const view = reserveView.value;
  useEffect(() => {
    // Beside the requests for what it shows.
    if (view === "chart") void loadChart().catch(() => undefined);
  }, [view]);
  if (!type) return null;
  return (
    <section class="panel calendar" aria-labelledby="calendar-title">
      <header>
        <h2 id="calendar-title">
          {t.chart.title}: {unitName(type)}
        </h2>
        <span class="choice">
          {(["chart", "list"] as const).map((each) => (
            <button type="button" key={each} aria-pressed={view === each} onClick={() => (reserveView.value = each)}>
              {t.chart[each]}
            </button>
          ))}
        </span>
        <Grouping />
      </header>
      <div class="range">
        <span class="muted">
          <Period start={range.value.start} end={range.value.end} /> {reading.value > 0 && t.loading}
        </span>
        <Moves />
      </div>
      {problem.value && <p class="problem">{problem.value}</p>}
      {rows.value.length === 0 && !problem.value ? (
        <p class="muted">{reading.value ? t.loading : t.search.notNow}</p>
      ) : view === "chart" ? (
        <LoadedChart />
      ) : (
        <List />
      )}
      {unit.value && <p class="muted">{t.chart.units}</p>}
      <Legend />
    </section>
  );
}

const loadChart = () => import("./Chart");

/** The chart, whose library is loaded when it is needed for the first time. */
function LoadedChart() {
  const [Loaded, setLoaded] = useState<ComponentType | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  useEffect(() => {
    loadChart().then(
      (found) => setLoaded(() => found.default),
      (reason: unknown) => setFailed(textOf(reason)),
    );
  }, []);
  if (failed) return <p class="problem">{failed}</p>;
  return Loaded ? <Loaded /> : <p class="muted">{t.loading}</p>;
}

function Grouping() {
  const properties = propertiesOf(wish.value.resourceType).filter((each) => each.values.length <= 1000);
  const { property } = wish.value;
  return (
    <>
      {properties.length > 0 && (
        <label>
          <span class="muted">{t.chart.groupBy} </span>
          <select
            value={grouping.value ?? ""}
            onChange={(event) => (chosenGrouping.value = event.currentTarget.value || null)}
          >
            <option value="">{t.chart.noGroups}</option>
            {properties.map((each) => (
              <option key={each.property} value={each.property}>
                {each.property}
              </option>
            ))}
          </select>
        </label>
      )}
      {property && (
        <label class="check">
          <input
            type="checkbox"
            checked={onlyWished.value}
            onChange={(event) => (onlyWished.value = event.currentTarget.checked)}
          />
          {t.chart.filter} {filter.value || `${property.name}=${property.value}`}
        </label>
      )}
    </>
  );
}

const SPANS = { day: DAY, week: 7 * DAY, month: 30 * DAY, quarter: 90 * DAY } as const;

function Moves() {
  const { start, end } = range.value;
  const length = end - start;
  const button = (label: string, sign: string, act: () => void) => (
    <button type="button" aria-label={label} title={label} onClick={act}>
      {sign}
    </button>
  );
  const zoom = (factor: number) => show(start + (length - length * factor) / 2, length * factor);
  return (
    <span class="moves">
      <span class="choice">
        {button(t.chart.earlier, "◀", () => show(start - length / 2, length))}
        {button(t.chart.today, "●", () => show(firstInstant.value, length))}
        {button(t.chart.later, "▶", () => show(start + length / 2, length))}
        {button(t.chart.zoomOut, "−", () => zoom(2))}
        {button(t.chart.zoomIn, "+", () => zoom(0.5))}
      </span>
      <span class="choice">
        {Object.entries(SPANS).map(([name, size]) => (
          <button type="button" key={name} aria-pressed={Math.abs(length - size) < 1000} onClick={() => show(start, size)}>
            {t.chart.spans[name as keyof typeof SPANS]}
          </button>
        ))}
      </span>
    </span>
  );
}

function Legend() {
  return (
    <ul class="legend">
      {STATES.toReversed().map((each) => (
        <li key={each}>
          <span class={`swatch ${each}`} aria-hidden="true" />
          {t.chart.states[each]}
        </li>
      ))}
    </ul>
  );
}
