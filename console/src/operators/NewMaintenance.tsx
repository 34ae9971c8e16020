import { useState } from "preact/hooks";
import type { MaintenancePlan } from "../api/values";
import { t } from "../messages";
import { announce } from "../page/announce";
import { Problem, useAttempts } from "../page/attempt";
import { zone } from "../page/preferences";
import { searchAgain, wish } from "../search/store";
import { TypeSelect } from "../search/TypeSelect";
import { minute } from "../time/clock";
import { toApi } from "../time/instant";
import { readMoment } from "../time/reading";
import { createMaintenance, type MaintenanceRequest, previewMaintenance } from "./maintenance";
import { Plan } from "./Plan";

interface Entered {
  readonly resourceType: string;
  readonly resources: string;
  readonly filter: string;
  readonly start: string;
  readonly end: string;
  readonly reason: string;
  readonly leavePool: boolean;
}

/** Return the request, or what is wrong with what was entered. */
function requestOf(entered: Entered): MaintenanceRequest | string {
  const at = minute.value;
  const start = readMoment(entered.start, at, zone());
  const end = entered.end.trim() ? readMoment(entered.end, at, zone(), { asEnd: true }) : null;
  if (start === null) return t.search.badEarliest;
  if (end === null && entered.end.trim()) return t.search.badLatest;
  const resources = entered.resources.split(/[\s,]+/).filter(Boolean);
  const filter = entered.filter.trim();
  if (!resources.length && !filter) return t.operators.whichResources;
  return {
    resource_type: entered.resourceType,
    ...(resources.length ? { resources } : {}),
    ...(filter ? { filter } : {}),
    start_date: start <= at ? "now" : toApi(start),
    end_date: end === null ? null : toApi(end),
    reason: entered.reason.trim(),
    leave_pool: entered.leavePool,
  };
}

/** Plans a maintenance: first shows which leases it concerns, then makes it. */
export function NewMaintenance({ onDone }: { onDone: () => void }) {
  const [entered, setEntered] = useState<Entered>({
    resourceType: wish.value.resourceType,
    resources: "",
    filter: "",
    start: t.time.now,
    end: "",
    reason: "",
    leavePool: false,
  });
  const [plan, setPlan] = useState<{ request: MaintenanceRequest; plan: MaintenancePlan } | null>(null);
  const { busy, problem, fail, attempt } = useAttempts();
  const enter = (part: Partial<Entered>) => {
    setEntered({ ...entered, ...part });
    setPlan(null);
  };

  async function preview(event: Event) {
    event.preventDefault();
    const request = requestOf(entered);
    if (typeof request === "string") return fail(request);
    await attempt(async () => setPlan({ request, plan: await previewMaintenance(request) }));
  }

  async function create() {
    await attempt(async () => {
      await createMaintenance(plan!.request);
      announce(t.operators.maintenanceMade);
      searchAgain.value += 1;
      onDone();
    });
  }

  const field = (key: "resources" | "filter" | "start" | "end" | "reason", hint: string) => (
    <label class="field">
      <span>{t.operators.maintenanceFields[key]}</span>
      <input
        value={entered[key]}
        placeholder={hint}
        onInput={(event) => enter({ [key]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <form class="inset" onSubmit={preview}>
      <div class="grid">
        <TypeSelect
          label={t.chart.type}
          value={entered.resourceType}
          onChange={(resourceType) => enter({ resourceType })}
        />
        {field("resources", "")}
        {field("filter", "rack=r1")}
        {field("start", t.time.now)}
        {field("end", t.operators.untilEnded)}
        {field("reason", "")}
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={entered.leavePool}
          onChange={(event) => enter({ leavePool: event.currentTarget.checked })}
        />
        {t.operators.maintenanceFields.leavePool}
      </label>
      <Problem text={problem} />
      {plan && <Plan plan={plan.plan} />}
      <p class="actions">
        <button class={plan ? "" : "primary"} disabled={busy}>
          {t.operators.previewMaintenance}
        </button>
        {plan && (
          <button type="button" class="primary" disabled={busy} onClick={() => void create()}>
            {t.operators.makeMaintenance(plan.plan.resources.length)}
          </button>
        )}
      </p>
    </form>
  );
}
