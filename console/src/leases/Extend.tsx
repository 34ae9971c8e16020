import { useEffect, useState } from "preact/hooks";
import { changeLease } from "../api/lessees";
import { Refused, type Refusal as RefusalBody, textOf } from "../api/problem";
import type { Alternative, Lease, LeaseChange } from "../api/values";
import { t } from "../messages";
import { announce } from "../page/announce";
import { zone } from "../page/preferences";
import { Refusal } from "../reserve/Refusal";
import { searchAgain } from "../search/store";
import { minute } from "../time/clock";
import { durationText, inputText } from "../time/format";
import { DAY, fromApi, HOUR, toApi } from "../time/instant";
import { readMoment } from "../time/reading";
import { When } from "../time/When";
import { type Extension, extensionOf } from "./extension";
import { refreshLeases } from "./store";

const STEPS = [HOUR, 4 * HOUR, DAY, 7 * DAY];

/** A later end for a lease, with how far that is possible. */
export function Extend({ lease, onDone }: { lease: Lease; onDone: () => void }) {
  const end = fromApi(lease.end_date);
  const [possible, setPossible] = useState<Extension | null>(null);
  const [text, setText] = useState(inputText(end, zone()).replace("T", " "));
  const [problem, setProblem] = useState<{ message: string; refusal: RefusalBody | null } | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    extensionOf(lease, stop.signal).then(setPossible, (found: unknown) => {
      if (!stop.signal.aborted) setProblem({ message: textOf(found), refusal: null });
    });
    return () => stop.abort();
  }, [lease.id, lease.end_date]);

  async function apply(change: LeaseChange) {
    setBusy(true);
    setProblem(null);
    try {
      await changeLease(lease.id, change);
      announce(t.leases.extended);
      searchAgain.value += 1;
      await refreshLeases();
      onDone();
    } catch (found) {
      setProblem({ message: textOf(found), refusal: found instanceof Refused ? found.refusal : null });
      setBusy(false);
    }
  }

  const latest = possible?.latest ?? null;
  const wanted = readMoment(text, minute.value, zone(), { asEnd: true });
  const show = (at: number) => setText(inputText(at, zone()).replace("T", " "));
  return (
    <form
      class="inset"
      onSubmit={(event) => {
        event.preventDefault();
        if (wanted !== null) void apply({ end_date: toApi(wanted) });
      }}
    >
      <p class="muted">
        {possible === null && !problem && t.loading}
        {latest !== null && (
          <>
            {t.leases.extendLimit} <When at={latest} />.
          </>
        )}
        {possible && latest === null && t.leases.extendNever}
      </p>
      {possible?.refused && !problem && <Refusal {...possible.refused} />}
      <p class="actions">
        {STEPS.filter((each) => latest === null || end + each <= latest).map((each) => (
          <button type="button" key={each} onClick={() => show(end + each)}>
            {t.leases.extendBy(durationText(each))}
          </button>
        ))}
        {latest !== null && (
          <button type="button" onClick={() => show(latest)}>
            {t.leases.extendMost}
          </button>
        )}
      </p>
      <label class="field">
        <span>{t.leases.extendTo}</span>
        <input value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {wanted === null && <p class="problem">{t.search.badLatest}</p>}
      {problem && (
        <Refusal
          {...problem}
          onTake={(each: Alternative) => void apply((each.bodies[0] ?? {}) as unknown as LeaseChange)}
        />
      )}
      <p class="actions">
        <button class="primary" disabled={busy || wanted === null || wanted === end}>
          {t.leases.extend}
        </button>
      </p>
    </form>
  );
}
