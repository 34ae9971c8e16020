import { useEffect, useState } from "preact/hooks";
import { textOf } from "../api/problem";
import type { Maintenance, MaintenancePlan } from "../api/values";
import { t } from "../messages";
import { announce } from "../page/announce";
import { Dialog } from "../page/Dialog";
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
  const [ending, setEnding] = useState(false);
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
    try {
      await endMaintenance(maintenance.id);
      announce(t.operators.maintenanceEnded);
      setEnding(false);
      searchAgain.value += 1;
    } catch (reason) {
      setProblem(textOf(reason));
    }
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
        <button type="button" class="danger" onClick={() => setEnding(true)}>
          {t.operators.endMaintenance}
        </button>
      </p>
      {problem && <p class="problem">{problem}</p>}
      {plan && <Plan plan={plan} />}
      {ending && (
        <Dialog title={t.operators.endMaintenanceTitle} onClose={() => setEnding(false)}>
          <p>{t.operators.endMaintenanceText}</p>
          <p class="actions">
            <button type="button" class="primary danger" onClick={() => void end()}>
              {t.operators.endMaintenance}
            </button>
            <button type="button" onClick={() => setEnding(false)}>
              {t.cancel}
            </button>
          </p>
        </Dialog>
      )}
    </article>
  );
}
