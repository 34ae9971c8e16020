import { useEffect, useState } from "preact/hooks";
import { listLeases } from "../api/lessees";
import { textOf } from "../api/problem";
import type { Lease } from "../api/values";
import { isWaiting } from "../leases/words";
import { t } from "../messages";
import { pageSize } from "../search/catalogue";
import { searchAgain } from "../search/store";
import { minute, now } from "../time/clock";
import { LeaseTable } from "./AllLeases";

const CURRENT = "PENDING,ACTIVE,ERROR,CREATING,STARTING,UPDATING,TERMINATING,DELETING";
const MOST_PAGES = 20;

/** Leases that wait for something, failed, or are late, each with its reason. */
export function Waiting() {
  const [leases, setLeases] = useState<readonly Lease[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [changes, at] = [searchAgain.value, minute.value];
  useEffect(() => {
    let current = true;
    readAll().then(
      (found) => current && setLeases(found),
      (reason: unknown) => current && setProblem(textOf(reason)),
    );
    return () => {
      current = false;
    };
  }, [changes, at]);
  const waiting = leases?.filter((each) => isWaiting(each, now.value));
  return (
    <section class="panel" aria-label={t.operators.parts.waiting}>
      {problem && <p class="problem">{problem}</p>}
      {!waiting ? (
        <p class="muted">{t.loading}</p>
      ) : waiting.length === 0 ? (
        <p>{t.operators.nothingWaits}</p>
      ) : (
        <LeaseTable leases={waiting} />
      )}
    </section>
  );
}

async function readAll(): Promise<Lease[]> {
  const leases: Lease[] = [];
  let marker: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const read = await listLeases({ status: CURRENT, sort: "start_date", limit: pageSize(500), marker });
    leases.push(...read.leases);
    if (!read.next) break;
    marker = read.next;
  }
  return leases;
}
