import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { textOf } from "../api/problem";
import type { Usage } from "../api/values";
import { t } from "../messages";
import { zone } from "../page/preferences";
import { catalogue } from "../search/catalogue";
import { minute } from "../time/clock";
import { weekdayDateText } from "../time/format";
import { DAY, fromApi, toApi } from "../time/instant";
import { Period } from "../time/When";
import { startOfDay } from "../time/zone";
import { type By, groupsOf, getUsage, type Hours, KINDS, stepsOf, unitsOf } from "./usage";
import type { BarsProps } from "./UsageBars";

const SPANS = [7, 30, 90] as const;

/** How reserved resources were used over time, and by whom. */
export function Utilisation() {
  const [by, setBy] = useState<By>("project");
  const [property, setProperty] = useState("");
  const [days, setDays] = useState<number>(30);
  const [unit, setUnit] = useState<string | null>(null);
  const [usage, setUsage] = useState<Usage | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const properties = catalogue.value?.properties ?? [];
  const chosen = property || properties[0]?.property || "";

  useEffect(() => {
    if (by === "property" && !chosen) return;
    const end = startOfDay(minute.value, zone(), 1);
    const start = startOfDay(minute.value, zone(), 1 - days);
    const step = Math.ceil((end - start) / DAY / 31) * 1440;
    getUsage({
      by,
      property: by === "property" ? chosen : undefined,
      from: toApi(start),
      to: toApi(end),
      step: String(step),
    }).then(
      (found) => (setUsage(found), setProblem(null)),
      (reason: unknown) => setProblem(textOf(reason)),
    );
  }, [by, chosen, days]);

  const units = usage ? unitsOf(usage) : [];
  const shown = unit && units.includes(unit) ? unit : units[0];
  return (
    <section class="panel" aria-label={t.operators.parts.usage}>
      <div class="row">
        <span class="choice">
          {SPANS.map((each) => (
            <button type="button" key={each} aria-pressed={days === each} onClick={() => setDays(each)}>
              {t.time.days(each)}
            </button>
          ))}
        </span>
        <label>
          <span class="muted">{t.operators.by} </span>
          <select value={by} onChange={(event) => setBy(event.currentTarget.value as By)}>
            {(["project", "user", "host", "zone", "property"] as const).map((each) => (
              <option key={each} value={each}>
                {t.operators.bys[each]}
              </option>
            ))}
          </select>
        </label>
        {by === "property" && (
          <select aria-label={t.operators.bys.property} value={chosen} onChange={(event) => setProperty(event.currentTarget.value)}>
            {properties.map((each) => (
              <option key={each.property} value={each.property}>
                {each.property}
              </option>
            ))}
          </select>
        )}
        {units.length > 1 && (
          <select aria-label={t.operators.unit} value={shown} onChange={(event) => setUnit(event.currentTarget.value)}>
            {units.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        )}
      </div>
      {problem && <p class="problem">{problem}</p>}
      {!usage && !problem && <p class="muted">{t.loading}</p>}
      {usage && (shown ? <Report usage={usage} unit={shown} /> : <p class="muted">{t.operators.noUsage}</p>)}
    </section>
  );
}

function Report({ usage, unit }: { usage: Usage; unit: string }) {
  const steps = stepsOf(usage, unit);
  const groups = groupsOf(usage, unit);
  const names = usage.steps.map((each) => weekdayDateText(fromApi(each.start_date), zone()));
  return (
    <>
      <p class="muted">
        {t.operators.hoursOf(unit)}, <Period start={fromApi(usage.from)} end={fromApi(usage.to)} />
      </p>
      <LoadedBars names={names} steps={steps} />
      <details>
        <summary>{t.operators.steps}</summary>
        <HoursTable first={t.operators.from} rows={steps.map((hours, step) => ({ name: names[step]!, hours }))} />
      </details>
      <HoursTable
        first={t.operators.bys[usage.by]}
        rows={groups.map(({ value, hours }) => ({ name: value === null ? t.chart.without : String(value), hours }))}
      />
    </>
  );
}

function HoursTable({ first, rows }: { first: string; rows: ReadonlyArray<{ name: string; hours: Hours }> }) {
  const number = new Intl.NumberFormat(t.locale, { maximumFractionDigits: 1 });
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={first}>
      <table>
        <thead>
          <tr>
            <th scope="col">{first}</th>
            {(["reserved", ...KINDS] as const).map((each) => (
              <th scope="col" class="number" key={each}>
                {t.operators.kinds[each]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, hours }, index) => (
            <tr key={index}>
              <th scope="row">{name}</th>
              {(["reserved", ...KINDS] as const).map((each) => (
                <td class="number" key={each}>
                  {number.format(hours[each])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The bars, whose library is loaded when they are first shown. */
function LoadedBars(props: BarsProps) {
  const [Loaded, setLoaded] = useState<ComponentType<BarsProps> | null>(null);
  useEffect(() => {
    void import("./UsageBars").then((found) => setLoaded(() => found.default));
  }, []);
  return Loaded ? <Loaded {...props} /> : <p class="muted">{t.loading}</p>;
}
