"""``blazar-manage lease``: the history of a lease, and its repair or retry."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from blazar.app.leases import read_lease, update_lease
from blazar.booking.context import Context
from blazar.cmd.manage.lease_list import add_listing
from blazar.cmd.manage.operators import operator
from blazar.cmd.manage.rendering import add_format, present, shown
from blazar.domain.dates import format_date
from blazar.domain.errors import Conflict
from blazar.domain.lease import Lease, ReservationStatus
from blazar.ports.journal import JournalEntry
from blazar.ports.manager import Caller

_POLL = timedelta(milliseconds=200)


def add_parsers(parsers: Any) -> None:
    """Add the sub-commands."""
    lease = parsers.add_parser("lease", help="single leases").add_subparsers(required=True)
    add_listing(lease)
    past = lease.add_parser("history", help="print all events of a lease, also after its deletion")
    past.add_argument("lease_id", metavar="lease", help="id or name")
    add_format(past)
    past.set_defaults(run=history)
    again = lease.add_parser("retry", help="retry the reservations that are in error")
    again.add_argument("lease_id", metavar="lease", help="id or name")
    again.set_defaults(run=retry)
    look = lease.add_parser("repair", help="compare a lease with the cloud now and repair it")
    look.add_argument("lease_id", metavar="lease", help="id or name")
    look.add_argument("--wait", type=float, default=10, help="seconds to wait for the result; 10")
    look.set_defaults(run=repair)


def history(context: Context, arguments: Any) -> int:
    """Print the journal of a lease and its damaged rows; return 1 if there is no journal."""
    lease_id = _id_of(context, arguments.lease_id)
    entries = _journal(context, lease_id)
    with context.store.read() as transaction:
        lease = transaction.leases.find(lease_id)
    damage = [] if lease is None else list(_damage(lease))
    present(
        arguments, [_entry_document(each) for each in entries], [*(_line(each) for each in entries), *damage]
    )
    if not entries:
        print(f"{arguments.lease_id}: there is no history of such a lease", file=sys.stderr)
    return 0 if entries else 1


def retry(context: Context, arguments: Any) -> int:
    """Schedule a retry of the reservations in error; return 1 if there are none.

    Raises:
        BlazarError: The lease does not exist, is over, or its resources are not available.
    """
    lease = read_lease(context, _id_of(context, arguments.lease_id))
    failed = [each for each in lease.reservations if each.status is ReservationStatus.ERROR]
    if not failed:
        print(f"{lease.id} is {lease.status}, and none of its reservations is in error", file=sys.stderr)
        return 1
    caller = Caller(user_id=operator(), project_id=lease.project_id)
    # Any update retries; this one changes nothing.
    after = update_lease(context, caller, lease.id, {"end_date": format_date(lease.end)})
    print(f"{lease.id} is {after['status']}; a manager will retry:")
    for each in failed:
        print(f"  {each.resource_type} {each.id}: {each.problem}")
    return 0


def repair(context: Context, arguments: Any) -> int:
    """Reconcile a lease now and print the result; return 1 if a problem remains.

    Raises:
        LeaseNotFound: The lease does not exist.
    """
    lease = read_lease(context, _id_of(context, arguments.lease_id))
    before = len(_journal(context, lease.id))
    now = context.clock.now()
    with context.store.begin() as transaction:
        transaction.work.schedule([lease.id], now)
        transaction.commit()
    context.waker.wake()
    never, deadline = threading.Event(), now + timedelta(seconds=arguments.wait)
    while not _was_reconciled(context, lease) and context.clock.now() < deadline:
        context.clock.wait(never, _POLL)
    for each in _journal(context, lease.id)[before:]:
        print(_line(each))
    if not _was_reconciled(context, lease):
        print(f"{lease.id} was not reconciled in time: is a blazar-manager running?", file=sys.stderr)
        return 1
    return _print_status(context, lease)


def _print_status(context: Context, lease: Lease) -> int:
    with context.store.read() as transaction:
        found = transaction.leases.find(lease.id)
    if found is None:
        print(f"{lease.id} no longer exists")
        return 0
    print(f"{found.id} is {found.status}" + (f": {found.damage}" if found.damage else ""))
    troubled = [each for each in found.reservations if each.problem or each.missing_resources]
    for each in troubled:
        print(f"  {each.resource_type} {each.id} is {each.status}: {each.problem or 'resources are missing'}")
    return 1 if troubled else 0


def _damage(lease: Lease) -> Iterator[str]:
    """Yield a line for each damaged row of a lease."""
    if lease.damage is not None:
        yield f"lease {lease.id} is {lease.status}: {lease.damage}"
    for each in lease.reservations:
        if each.is_damaged:
            yield f"{each.resource_type} {each.id} is {each.status}: {each.problem}"


def _was_reconciled(context: Context, lease: Lease) -> bool:
    """Return whether a lease that was due is not due any more."""
    now = context.clock.now()
    with context.store.read() as transaction:
        return not transaction.work.is_due(lease.id, now)


def _id_of(context: Context, reference: str) -> str:
    """Return the id of a lease by id or name; if no lease has the name, return *reference*.

    Raises:
        Conflict: Several leases have the name.
    """
    with context.store.read() as transaction:
        if transaction.leases.find(reference) is not None:
            return reference
        found = [str(each.id) for each in transaction.leases.list() if each.name == reference]
    if len(found) > 1:
        raise Conflict(f"{len(found)} leases are named {reference}: give an id, one of {', '.join(found)}")
    return found[0] if found else reference


def _journal(context: Context, lease_id: str) -> Sequence[JournalEntry]:
    with context.store.read() as transaction:
        return transaction.journal.list(lease_id)


def _line(entry: JournalEntry) -> str:
    parts = [shown(entry.at), entry.event, entry.reservation_id, entry.reason]
    by = " ".join(each for each in (entry.actor, entry.request_id) if each)
    return "  ".join(each for each in parts if each) + (f"  ({by})" if by else "")


def _entry_document(entry: JournalEntry) -> dict[str, object]:
    return {
        "at": entry.at,
        "event": entry.event,
        "lease_id": entry.lease_id,
        "reservation_id": entry.reservation_id,
        "reason": entry.reason or None,
        "actor": entry.actor or None,
        "request_id": entry.request_id,
    }
