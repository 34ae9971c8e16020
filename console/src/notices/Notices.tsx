import { useEffect, useState } from "preact/hooks";
import type { Lease } from "../api/values";
import { textOf } from "../api/problem";
import { Feeds } from "../calendars/Feeds";
import { leases, readLease } from "../leases/store";
import { t } from "../messages";
import { place } from "../page/place";
import { Subscriptions } from "./Subscriptions";

/** Calendars and notices of leases: of one, if the address of the page names it. */
export default function Notices() {
  const id = place.value.detail;
  const known = leases.value?.find((each) => each.id === id);
  const [found, setFound] = useState<Lease | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    setFound(null);
    if (id && !known) readLease(id).then(setFound, (reason: unknown) => setProblem(textOf(reason)));
  }, [id]);
  const lease = id ? (known ?? found) : null;
  return (
    <>
      <h1 class="hidden">{t.page.notices}</h1>
      {problem && <p class="problem">{problem}</p>}
      <Feeds key={`feeds ${lease?.id}`} lease={lease} />
      <Subscriptions key={`subscriptions ${lease?.id}`} lease={lease} />
    </>
  );
}
