import { changeLease, deleteLease } from "../api/lessees";
import type { Lease } from "../api/values";
import { t } from "../messages";
import { announce } from "../page/announce";
import { ConfirmButton } from "../page/ConfirmButton";
import { searchAgain } from "../search/store";
import { refreshLeases } from "./store";
import { endsOf } from "./words";

/** Ends an active lease, or deletes another one, after the user has confirmed it. */
export function RemoveButton({ lease }: { lease: Lease }) {
  const active = lease.status === "ACTIVE";

  async function remove() {
    if (active) await changeLease(lease.id, { end_date: "now" });
    else await deleteLease(lease.id);
    announce(active ? t.leases.endedNow : t.leases.removed);
    searchAgain.value += 1;
    await refreshLeases();
  }

  return (
    <ConfirmButton
      label={active ? t.leases.endNow : t.leases.remove}
      title={active ? t.leases.endNowTitle(lease.name) : t.leases.removeTitle(lease.name)}
      text={textOf(lease)}
      onConfirm={remove}
    />
  );
}

function textOf({ status, reservations }: Lease): string {
  if (status === "PENDING") return t.leases.removeText;
  if (status === "TERMINATED") return t.leases.removeEnded;
  return endsOf(reservations).flatMap((each) => each.texts).join(" ") || t.leases.endNowText;
}
