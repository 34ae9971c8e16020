import { Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import { listLeases } from "../api/lessees";
import { textOf } from "../api/problem";
import type { Lease } from "../api/values";
import { LeaseCard } from "../leases/LeaseCard";
import { LeaseCountdown, State } from "../leases/State";
import { readLease } from "../leases/store";
import { amountOf } from "../leases/words";
import { t } from "../messages";
import { amountsText } from "../search/amounts";
import { pageSize } from "../search/catalogue";
import { searchAgain } from "../search/store";
import { fromApi } from "../time/instant";
import { Period } from "../time/When";

const PAGE = 100;

/** The leases of all projects, filtered by the service. */
export function AllLeases() {
  const [status, setStatus] = useState("");
  const [project, setProject] = useState("");
  const [user, setUser] = useState("");
  const [name, setName] = useState("");
  const [pages, setPages] = useState(1);
  const [found, setFound] = useState<{ leases: readonly Lease[]; more: boolean } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const changes = searchAgain.value;

  useEffect(() => {
    let current = true;
    const timer = setTimeout(() => {
      const query = {
        status: status || undefined,
        project_id: project.trim() || undefined,
        user_id: user.trim() || undefined,
        name: name || undefined,
      };
      readPages(query, pages).then(
        (read) => current && (setFound(read), setProblem(null)),
        (reason: unknown) => current && setProblem(textOf(reason)),
      );
    }, 300);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [status, project, user, name, pages, changes]);

  const field = (label: string, value: string, set: (text: string) => void) => (
    <label class="field">
      <span>{label}</span>
      <input value={value} onInput={(event) => set(event.currentTarget.value)} />
    </label>
  );
  return (
    <section class="panel" aria-label={t.operators.parts.leases}>
      <div class="row">
        <label class="field">
          <span>{t.leases.state}</span>
          <select value={status} onChange={(event) => setStatus(event.currentTarget.value)}>
            <option value="">{t.any}</option>
            {Object.entries(t.leases.states).map(([each, text]) => (
              <option key={each} value={each}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {field(t.operators.projectId, project, setProject)}
        {field(t.operators.userId, user, setUser)}
        {field(t.operators.exactName, name, setName)}
      </div>
      {problem && <p class="problem">{problem}</p>}
      {found ? <LeaseTable leases={found.leases} /> : <p class="muted">{t.loading}</p>}
      {found?.more && (
        <button type="button" onClick={() => setPages(pages + 1)}>
          {t.leases.more}
        </button>
      )}
    </section>
  );
}

async function readPages(query: Readonly<Record<string, string | undefined>>, pages: number) {
  const leases: Lease[] = [];
  let marker: string | null = null;
  for (let page = 0; page < pages; page++) {
    const read = await listLeases({ ...query, sort: "start_date:desc", limit: pageSize(PAGE), marker: marker ?? undefined });
    leases.push(...read.leases);
    marker = read.next;
    if (!marker) break;
  }
  return { leases, more: marker !== null };
}

/** Leases as rows; one opens with everything that can be done with it. */
export function LeaseTable({ leases }: { leases: readonly Lease[] }) {
  const [opened, setOpened] = useState<string | null>(null);
  if (leases.length === 0) return <p class="muted">{t.leases.noneMatch}</p>;
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={t.operators.parts.leases}>
      <table>
        <thead>
          <tr>
            {[t.leases.name, t.leases.state, t.leases.period, t.leases.holds, t.page.project, t.leases.owner].map((each) => (
              <th scope="col" key={each}>
                {each}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {leases.map((each) => (
            <Fragment key={each.id}>
              <tr>
                <th scope="row">
                  <button
                    type="button"
                    class="link"
                    aria-expanded={opened === each.id}
                    onClick={() => setOpened(opened === each.id ? null : each.id)}
                  >
                    {each.name || each.id.slice(0, 8)}
                  </button>
                </th>
                <td>
                  <State lease={each} />
                  <span class="muted">
                    <LeaseCountdown lease={each} />
                  </span>
                </td>
                <td>
                  <Period start={fromApi(each.start_date)} end={fromApi(each.end_date)} />
                </td>
                <td>{amountsText(each.reservations.map((one) => ({ resource_type: one.resource_type, amount: amountOf(one) })))}</td>
                <td class="id">{each.project_id}</td>
                <td class="id">{each.user_id}</td>
              </tr>
              {opened === each.id && (
                <tr>
                  <td colSpan={6}>
                    <LeaseCard lease={each} />
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** One lease, by its id. */
export function OneLease({ id }: { id: string }) {
  const [lease, setLease] = useState<Lease | null | undefined>(undefined);
  const [problem, setProblem] = useState<string | null>(null);
  const changes = searchAgain.value;
  useEffect(() => {
    readLease(id).then(setLease, (found: unknown) => setProblem(textOf(found)));
  }, [id, changes]);
  if (problem) return <p class="problem">{problem}</p>;
  if (lease === undefined) return <p class="muted">{t.loading}</p>;
  return lease ? <LeaseCard lease={lease} /> : <p>{t.leases.noneMatch}</p>;
}
