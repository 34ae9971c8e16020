import { useEffect, useState } from "preact/hooks";
import { historyOf, resourcesOf } from "../api/lessees";
import { textOf } from "../api/problem";
import type { HistoryEntry, Lease, ReservationResources } from "../api/values";
import { t } from "../messages";
import { unitOf } from "../search/catalogue";
import { fromApi } from "../time/instant";
import { Sentence, When } from "../time/When";
import { CopyButton } from "../page/CopyButton";
import { commandsOf } from "./commands";
import { isOver } from "./words";

/** What a lease holds, how to use it, and what happened to it. */
export function LeaseDetails({ lease }: { lease: Lease }) {
  const [held, setHeld] = useState<ReservationResources[] | null>(null);
  const [history, setHistory] = useState<HistoryEntry[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const fail = (found: unknown) => setProblem(textOf(found));
    resourcesOf(lease.id).then(setHeld, fail);
    historyOf(lease.id).then(setHistory, fail);
  }, [lease.id, lease.status, lease.held, lease.updated_at]);
  return (
    <div class="inset">
      {problem && <p class="problem">{problem}</p>}
      {held === null && !problem && <p class="muted">{t.loading}</p>}
      {held?.map((each) => (
        <ResourcesOf key={each.reservation_id} held={each} />
      ))}
      {history && (
        <>
          <h4>{t.leases.history}</h4>
          <ol class="history">
            {history.map((each, number) => (
              <li key={number}>
                <When at={fromApi(each.time)} /> <Sentence text={each.text} />
              </li>
            ))}
          </ol>
        </>
      )}
      {!isOver(lease) && (
        <p>
          <a href={`#notices/${lease.id}`}>{t.leases.follow}</a>
        </p>
      )}
      <p class="muted">
        {t.leases.id} <code>{lease.id}</code> <CopyButton text={lease.id} label={t.leases.id} />
      </p>
    </div>
  );
}

function ResourcesOf({ held }: { held: ReservationResources }) {
  const commands = held.use ? commandsOf(held.use) : [];
  return (
    <section>
      <h4>{unitOf(held.resource_type)}</h4>
      <p>
        {held.resources.length === 0
          ? t.leases.noResources
          : held.resources.map((each) => (each.amount > 1 ? `${each.name} (${each.amount})` : each.name)).join(", ")}
      </p>
      {held.use === null && <p class="muted">{t.leases.notYet}</p>}
      {commands.map((each) => (
        <div key={each.text}>
          <div class="muted">{t.use[each.key] ?? each.key}</div>
          <div class="command">
            <code>{each.text}</code>
            <CopyButton text={each.text} label={t.use[each.key] ?? each.key} />
          </div>
        </div>
      ))}
    </section>
  );
}
