"""``blazar-manage lease list``: all leases, or those that wait, with the reason and the next try."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from blazar.booking.context import Context
from blazar.cmd.manage.rendering import add_format, present, printable, shown
from blazar.domain.lease import Lease, ReservationStatus
from blazar.ports.work import WaitingLease, WaitingReservation

_NO_REPLACEMENT = "holds failed resources that could not be replaced yet"


def add_listing(verbs: Any) -> None:
    """Add the sub-command."""
    listing = verbs.add_parser("list", help="print all leases, or those that wait")
    listing.add_argument(
        "--waiting",
        action="store_true",
        help="print only leases that wait or are in error, with the reason, the time and the next try",
    )
    add_format(listing)
    listing.set_defaults(run=list_leases)


def list_leases(context: Context, arguments: Any) -> int:
    """Print a line for each lease, or several for each one that waits; return 0."""
    if arguments.waiting:
        return _list_waiting(context, arguments)
    with context.store.read() as transaction:
        found = transaction.leases.list()
    present(arguments, [_document(each) for each in found], (_line(each) for each in found))
    return 0


def _list_waiting(context: Context, arguments: Any) -> int:
    now = context.clock.now()
    with context.store.read() as transaction:
        found = transaction.work.list_waiting(now - context.settings.reconciler.claim_duration)
    lines = [line for each in found for line in _waiting_lines(each, now)]
    lines.append("1 lease waits" if len(found) == 1 else f"{len(found)} leases wait")
    present(arguments, [_waiting_document(each, now) for each in found], lines)
    return 0


def _line(lease: Lease) -> str:
    times = f"{shown(lease.start)} to {shown(lease.end)}"
    return "  ".join(
        (lease.id, printable(lease.name), lease.status, times, f"project {lease.project_id or 'unknown'}")
    )


def _document(lease: Lease) -> dict[str, object]:
    return {
        "id": lease.id,
        "name": lease.name,
        "project_id": lease.project_id,
        "user_id": lease.user_id,
        "status": lease.status,
        "start_at": lease.start,
        "end_at": lease.end,
        "is_degraded": lease.is_degraded,
    }


def _waiting_lines(lease: WaitingLease, now: datetime) -> Iterator[str]:
    parts = [lease.id, printable(lease.name), str(lease.status)]
    if lease.since is not None:
        parts.append(f"since {shown(lease.since)}")
    parts += [f"{lease.attempts} failed attempts", _fate(lease, now)]
    yield "  ".join(parts)
    for each in lease.reservations:
        yield f"  {each.resource_type} {each.id} is {each.status}: {printable(_reason(each))}"
    note = _note(lease, now)
    if note is not None:
        yield f"  {note}"


def _fate(lease: WaitingLease, now: datetime) -> str:
    worker, next_try = lease.worker_at(now), lease.next_try(now)
    if worker is not None:
        return f"{worker} is working on it"
    if next_try is not None:
        return f"next try at {shown(next_try)}"
    if all(each.status is ReservationStatus.ERROR for each in lease.reservations) and lease.reservations:
        return "no further try: blazar-manage lease retry"
    return "no try is planned"


def _reason(reservation: WaitingReservation) -> str:
    return reservation.problem or _NO_REPLACEMENT


def _note(lease: WaitingLease, now: datetime) -> str | None:
    """Return the reason why a lease waits; None if its reservations have the reason."""
    if lease.reservations:
        return None
    if lease.attempts:
        return "the last attempt failed: see the log of the manager"
    if lease.worker_at(now) is not None:
        return "a step is taking long"
    if lease.due_at is not None and lease.due_at <= now:
        return "no manager has continued with it: is a blazar-manager running?"
    return "its status does not change, and no reason is recorded: see lease history"


def _waiting_document(lease: WaitingLease, now: datetime) -> dict[str, object]:
    return {
        "id": lease.id,
        "name": lease.name,
        "project_id": lease.project_id,
        "status": lease.status,
        "since": lease.since,
        "failed_attempts": lease.attempts,
        "next_try_at": lease.next_try(now),
        "manager": lease.worker_at(now),
        "note": _note(lease, now),
        "reservations": [
            {
                "id": each.id,
                "resource_type": each.resource_type,
                "status": each.status,
                "reason": _reason(each),
                "since": each.since,
            }
            for each in lease.reservations
        ],
    }
