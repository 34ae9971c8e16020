"""Results: what became of objects of lessees at the end of their leases, as recorded in the journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final

from blazar.booking.context import Context
from blazar.booking.views import JsonObject
from blazar.domain.lease import LeaseId, ReservationId
from blazar.plugins.contract import Result, ResultKind
from blazar.ports.journal import JournalEntry
from blazar.ports.store import Transaction

RESULT: Final = "reservation.result"
"""The event of the journal entries."""
MOST_NAMES: Final = 50
"""The most objects of one kind that are recorded for a reservation; then their number follows."""
_LONGEST_NAME: Final = 100
_SEPARATOR: Final = "; "
_MORE: Final = " more"


def record_results(
    context: Context,
    transaction: Transaction,
    lease_id: LeaseId,
    found: Mapping[ReservationId, Sequence[Result]],
    actor: str,
) -> None:
    """Record results that were not recorded before.

    Args:
        context: The context.
        transaction: The transaction of the reconcile pass.
        lease_id: The lease.
        found: The results of the pass; a repeated step may return them again.
        actor: The manager.
    """
    if not any(found.values()):
        return
    recorded = _read(transaction, lease_id)
    entries = []
    for reservation_id, results in found.items():
        for kind in ResultKind:
            known = recorded.get((reservation_id, kind), [])
            names = dict.fromkeys(_clean(each.name) for each in results if each.kind is kind)
            new = [each for each in names if each not in known]
            if new and not any(each.endswith(_MORE) for each in known):
                reason = f"{kind.value}: {_SEPARATOR.join(_limited(new, MOST_NAMES - len(known)))}"
                entries.append(
                    JournalEntry(
                        at=context.clock.now(),
                        lease_id=lease_id,
                        reservation_id=reservation_id,
                        event=RESULT,
                        reason=reason,
                        actor=actor,
                    )
                )
    transaction.journal.append(entries)


def results_of(transaction: Transaction, lease_id: str) -> JsonObject:
    """Return the detail of a notice that says what became of objects, as far as it was recorded.

    An object that was deleted later is not listed as saved.
    """
    recorded = _read(transaction, lease_id)
    deleted = {name for (_, kind), names in recorded.items() if kind is ResultKind.DELETED for name in names}
    left = {
        key: [each for each in names if key[1] is not ResultKind.SAVED or not _is_among(each, deleted)]
        for key, names in recorded.items()
    }
    return {
        "results": [
            {"reservation_id": key, "kind": kind.value, "names": names}
            for (key, kind), names in left.items()
            if names
        ]
    }


def result_text(reason: str) -> str | None:
    """Return an entry of the journal as a sentence for the lessee; None if it cannot be read."""
    kind, _, names = reason.partition(": ")
    return f"{kind.capitalize()}: {names}." if names and kind in list(ResultKind) else None


def _read(
    transaction: Transaction, lease_id: str
) -> Mapping[tuple[ReservationId | None, ResultKind], list[str]]:
    found: dict[tuple[ReservationId | None, ResultKind], list[str]] = {}
    for entry in transaction.journal.list_event(RESULT, [LeaseId(lease_id)]):
        kind, _, names = entry.reason.partition(": ")
        if kind in list(ResultKind):
            found.setdefault((entry.reservation_id, ResultKind(kind)), []).extend(names.split(_SEPARATOR))
    return found


def _is_among(name: str, objects: Set[str]) -> bool:
    """Return whether a name, which may be followed by more text, is that of one of some objects."""
    return name in objects or any(name.startswith(f"{each}, ") for each in objects)


def _clean(name: str) -> str:
    """Return a name in one line, without the separator."""
    plain = "".join(each if each.isprintable() else " " for each in name).replace(";", ",")
    return " ".join(plain.split())[:_LONGEST_NAME]


def _limited(names: Sequence[str], limit: int) -> Iterable[str]:
    left = len(names) - max(0, limit)
    return [*names[: max(0, limit)], *([f"{left}{_MORE}"] if left > 0 else [])]
