import { useEffect, useState } from "preact/hooks";
import { textOf } from "../api/problem";
import type { Maintenance, MaintenancePlan } from "../api/values";
import { t } from "../messages";
import { announce } from "../page/announce";
import { ConfirmButton } from "../page/ConfirmButton";
import { searchAgain } from "../search/store";
import { fromApi } from "../time/instant";
import { Period, When } from "../time/When";
import { endMaintenance, getMaintenance, listMaintenances } from "./maintenance";
import { NewMaintenance } from "./NewMaintenance";
import { Plan } from "./Plan";

/** Periods in which no lease gets certain resources. */
export function MaintenanceList() {
  const [found, setFound] = useState<readonly Maintenance[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [adding, setAdding] = useState(false);
  const changes = searchAgain.value;
  useEffect(() => {
    listMaintenances().then(setFound, (reason: unknown) => setProblem(textOf(reason)));
  }, [changes]);
  return (
    <section class="panel" aria-label={t.operators.parts.maintenance}>
      <p class="actions">
        <button type="button" aria-expanded={adding} onClick={() => setAdding(!adding)}>
          {t.operators.newMaintenance}
        </button>
      </p>
      {adding && <NewMaintenance onDone={() => setAdding(false)} />}
      {problem && <p class="problem">{problem}</p>}
      {found?.length === 0 && <p class="muted">{t.operators.noMaintenance}</p>}
      {found?.map((each) => (
        <One key={each.id} maintenance={each} />
      ))}
    </section>
  );
}

function One({ maintenance }: { maintenance: Maintenance }) {
  const [plan, setPlan] = useState<MaintenancePlan | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const start = fromApi(maintenance.start_date);

  async function show() {
    if (plan) return setPlan(null);
    try {
      setPlan(await getMaintenance(maintenance.id));
    } catch (reason) {
      setProblem(textOf(reason));
    }
  }

  async function end() {
    await endMaintenance(maintenance.id);
    announce(t.operators.maintenanceEnded);
    searchAgain.value += 1;
  }

  return (
    <article class="inset" aria-label={maintenance.reason || maintenance.id}>
      <p>
        <strong>{maintenance.reason || t.operators.noReason}</strong> ·{" "}
        {t.operators.maintenanceStates[maintenance.status]} ·{" "}
        {maintenance.end_date ? (
          <Period start={start} end={fromApi(maintenance.end_date)} />
        ) : (
          <>
            <When at={start} /> – {t.operators.untilEnded}
          </>
        )}
      </p>
      <p class="muted">{maintenance.resources.map((each) => each.name).join(", ")}</p>
      <p class="actions">
        <button type="button" aria-expanded={plan !== null} onClick={() => void show()}>
          {t.operators.affected}
        </button>
        {maintenance.status !== "ENDED" && (
          <ConfirmButton
            label={t.operators.endMaintenance}
            title={t.operators.endMaintenanceTitle}
            text={t.operators.endMaintenanceText}
            onConfirm={end}
          />
        )}
      </p>
      {problem && <p class="problem">{problem}</p>}
      {plan && <Plan plan={plan} />}
    </article>
  );
}
