import { useState } from "preact/hooks";
import { changeLease, deleteLease } from "../api/lessees";
import { textOf } from "../api/problem";
import type { Lease } from "../api/values";
import { t } from "../messages";
import { announce } from "../page/announce";
import { Dialog } from "../page/Dialog";
import { searchAgain } from "../search/store";
import { refreshLeases } from "./store";

/** Asks before an active lease ends, or another one is deleted. */
export function RemoveDialog({ lease, onClose }: { lease: Lease; onClose: () => void }) {
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const active = lease.status === "ACTIVE";
  const text = active
    ? t.leases.atEnd.now
    : lease.status === "TERMINATED"
      ? t.leases.removeEnded
      : lease.status === "PENDING"
        ? t.leases.removeText
        : t.leases.atEnd.now;

  async function remove() {
    setBusy(true);
    try {
      if (active) await changeLease(lease.id, { end_date: "now" });
      else await deleteLease(lease.id);
      announce(active ? t.leases.endedNow : t.leases.removed);
      onClose();
      searchAgain.value += 1;
      await refreshLeases();
    } catch (found) {
      setProblem(textOf(found));
      setBusy(false);
    }
  }

  return (
    <Dialog title={active ? t.leases.endNowTitle(lease.name) : t.leases.removeTitle(lease.name)} onClose={onClose}>
      <p>{text}</p>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <p class="actions">
        <button type="button" class="primary danger" disabled={busy} onClick={remove}>
          {active ? t.leases.endNow : t.leases.remove}
        </button>
        <button type="button" onClick={onClose}>
          {t.cancel}
        </button>
      </p>
    </Dialog>
  );
}
