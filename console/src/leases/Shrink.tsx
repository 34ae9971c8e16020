import { useEffect, useState } from "preact/hooks";
import { changeLease, resourcesOf } from "../api/lessees";
import { textOf } from "../api/problem";
import type { Lease, ReservationResources } from "../api/values";
import { t } from "../messages";
import { announce } from "../page/announce";
import { typeOf, unitOf } from "../search/catalogue";
import { searchAgain } from "../search/store";
import { refreshLeases } from "./store";
import { amountOf } from "./words";

/** Releases chosen resources of a lease, or some of its instances. */
export function Shrink({ lease, onDone }: { lease: Lease; onDone: () => void }) {
  const [held, setHeld] = useState<ReservationResources[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    resourcesOf(lease.id).then(setHeld, (found: unknown) => setProblem(textOf(found)));
  }, [lease.id, lease.held]);

  async function apply(reservation: Readonly<Record<string, unknown>>) {
    setProblem(null);
    try {
      await changeLease(lease.id, { reservations: [reservation] });
      announce(t.leases.shrunk);
      searchAgain.value += 1;
      await refreshLeases();
      onDone();
    } catch (found) {
      setProblem(textOf(found));
    }
  }

  return (
    <div class="inset">
      <p class="muted">{t.leases.shrinkHint}</p>
      {held === null && !problem && <p class="muted">{t.loading}</p>}
      {held?.map((each) =>
        (typeOf(each.resource_type)?.unit_keys.length ?? 0) > 0 ? (
          <Fewer key={each.reservation_id} lease={lease} held={each} onApply={apply} />
        ) : (
          <Chosen key={each.reservation_id} held={each} onApply={apply} />
        ),
      )}
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

interface Props {
  held: ReservationResources;
  onApply: (reservation: Readonly<Record<string, unknown>>) => Promise<void>;
}

/** Whole resources, of which the user chooses. */
function Chosen({ held, onApply }: Props) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const set = (id: string, on: boolean) => setChosen(on ? [...chosen, id] : chosen.filter((each) => each !== id));
  const all = chosen.length === held.resources.length;
  return (
    <fieldset>
      <legend>{unitOf(held.resource_type)}</legend>
      {held.resources.length === 0 && <p class="muted">{t.leases.noResources}</p>}
      {held.resources.map((each) => (
        <label class="check" key={each.id}>
          <input
            type="checkbox"
            checked={chosen.includes(each.id)}
            onChange={(event) => set(each.id, event.currentTarget.checked)}
          />
          {each.name}
        </label>
      ))}
      <button
        type="button"
        disabled={chosen.length === 0 || all}
        onClick={() => void onApply({ id: held.reservation_id, release: chosen })}
      >
        {t.leases.shrinkChosen(chosen.length)}
      </button>
    </fieldset>
  );
}

/** Parts of resources, of which the service chooses. */
function Fewer({ lease, held, onApply }: Props & { lease: Lease }) {
  const reservation = lease.reservations.find((each) => each.id === held.reservation_id);
  const before = reservation ? amountOf(reservation) : 1;
  const [amount, setAmount] = useState(Math.max(1, before - 1));
  return (
    <fieldset>
      <legend>{unitOf(held.resource_type)}</legend>
      <label class="field">
        <span>{t.leases.newAmount}</span>
        <input
          type="number"
          min={1}
          max={before}
          value={amount}
          onInput={(event) => setAmount(Number(event.currentTarget.value))}
        />
      </label>
      <button
        type="button"
        disabled={!(amount >= 1 && amount < before)}
        onClick={() => void onApply({ id: held.reservation_id, amount })}
      >
        {t.leases.shrinkChosen(before - amount)}
      </button>
    </fieldset>
  );
}
