import { useState } from "preact/hooks";
import type { Lease } from "../api/values";
import { t } from "../messages";
import { amountsText } from "../search/amounts";
import { fromApi } from "../time/instant";
import { Period } from "../time/When";
import { EndInWords } from "./EndInWords";
import { Extend } from "./Extend";
import { LeaseDetails } from "./LeaseDetails";
import { RemoveButton } from "./RemoveButton";
import { Shrink } from "./Shrink";
import { LeaseCountdown, State } from "./State";
import { newLeases } from "./store";
import { amountOf, canChange } from "./words";

type Opened = "extend" | "shrink" | "details" | null;

/** A lease with everything that its owner does with it. */
export function LeaseCard({ lease }: { lease: Lease }) {
  const [opened, setOpened] = useState<Opened>(null);
  const toggle = (what: Opened) => setOpened(opened === what ? null : what);
  const asked = lease.reservations.map((each) => ({ resource_type: each.resource_type, amount: amountOf(each) }));
  const button = (what: Exclude<Opened, null>, text: string) => (
    <button type="button" aria-expanded={opened === what} onClick={() => toggle(what)}>
      {text}
    </button>
  );
  return (
    <article class={`panel lease ${newLeases.value.has(lease.id) ? "new" : ""}`} aria-label={lease.name}>
      <header>
        <h3>{lease.name}</h3>
        <span class="countdown">
          <LeaseCountdown lease={lease} />
        </span>
      </header>
      <State lease={lease} />
      <p>
        {amountsText(asked)} · <Period start={fromApi(lease.start_date)} end={fromApi(lease.end_date)} />
      </p>
      <div class="muted">
        <EndInWords reservations={lease.reservations} />
      </div>
      <p class="actions">
        {button("details", t.leases.details)}
        {canChange(lease) && button("extend", t.leases.extend)}
        {canChange(lease) && button("shrink", t.leases.shrink)}
        {lease.status !== "DELETING" && <RemoveButton lease={lease} />}
      </p>
      {opened === "extend" && <Extend lease={lease} onDone={() => setOpened(null)} />}
      {opened === "shrink" && <Shrink lease={lease} onDone={() => setOpened(null)} />}
      {opened === "details" && <LeaseDetails lease={lease} />}
    </article>
  );
}
