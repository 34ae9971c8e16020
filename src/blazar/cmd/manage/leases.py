"""``blazar-manage lease``: what became of a lease, and having it looked at or tried again."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from blazar.booking.context import Context
from blazar.app.leases import read_lease, update_lease
from blazar.cmd.manage.operators import operator
from blazar.domain.dates import format_date
from blazar.domain.lease import Lease, ReservationStatus
from blazar.ports.manager import Caller
from blazar.ports.store import JournalEntry

_POLL = timedelta(milliseconds=200)


def add_parsers(parsers: Any) -> None:
    """Add the sub-commands."""
    lease = parsers.add_parser("lease", help="single leases").add_subparsers(required=True)
    past = lease.add_parser("history", help="print all that happened to a lease, also to one that is gone")
    past.add_argument("lease_id")
    past.set_defaults(run=history)
    again = lease.add_parser("retry", help="have what is in error tried again")
    again.add_argument("lease_id")
    again.set_defaults(run=retry)
    look = lease.add_parser("repair", help="have a lease compared with the cloud now, and mended")
    look.add_argument("lease_id")
    look.add_argument("--wait", type=float, default=10, help="seconds to wait for what comes of it; 10")
    look.set_defaults(run=repair)


def history(context: Context, arguments: Any) -> int:
    """Print the journal of a lease; return 1 if there is none."""
    entries = _journal(context, arguments.lease_id)
    for each in entries:
        print(_line(each))
    if not entries:
        print(f"{arguments.lease_id}: nothing is known of such a lease", file=sys.stderr)
    return 0 if entries else 1


def retry(context: Context, arguments: Any) -> int:
    """Have what is in error tried again; return 1 if nothing is.

    Raises:
        BlazarError: There is no such lease, it is over, or its resources cannot be had.
    """
    lease = read_lease(context, arguments.lease_id)
    failed = [each for each in lease.reservations if each.status is ReservationStatus.ERROR]
    if not failed:
        print(f"{lease.id} is {lease.status}, and none of its reservations is in error", file=sys.stderr)
        return 1
    caller = Caller(user_id=operator(), project_id=lease.project_id)
    # As by any change: to what it is already.
    after = update_lease(context, caller, lease.id, {"end_date": format_date(lease.end)})
    print(f"{lease.id} is {after['status']}; a manager tries again what was in error:")
    for each in failed:
        print(f"  {each.resource_type} {each.id}: {each.problem}")
    return 0


def repair(context: Context, arguments: Any) -> int:
    """Have a lease looked at now and print what comes of it; return 1 if something is still amiss.

    Raises:
        LeaseNotFound: There is none.
    """
    lease = read_lease(context, arguments.lease_id)
    before = len(_journal(context, lease.id))
    now = context.clock.now()
    with context.store.begin() as transaction:
        transaction.work.schedule([lease.id], now)
        transaction.commit()
    context.waker.wake()
    never, deadline = threading.Event(), now + timedelta(seconds=arguments.wait)
    while not _is_looked_at(context, lease) and context.clock.now() < deadline:
        context.clock.wait(never, _POLL)
    for each in _journal(context, lease.id)[before:]:
        print(_line(each))
    if not _is_looked_at(context, lease):
        print(f"{lease.id} was not looked at: does a blazar-manager run?", file=sys.stderr)
        return 1
    return _say_how_it_is(context, lease)


def _say_how_it_is(context: Context, lease: Lease) -> int:
    with context.store.read() as transaction:
        found = transaction.leases.find(lease.id)
    if found is None:
        print(f"{lease.id} is gone")
        return 0
    print(f"{found.id} is {found.status}")
    amiss = [each for each in found.reservations if each.problem or each.missing_resources]
    for each in amiss:
        print(f"  {each.resource_type} {each.id} is {each.status}: {each.problem or 'resources are missing'}")
    return 1 if amiss else 0


def _is_looked_at(context: Context, lease: Lease) -> bool:
    """Return whether nothing is to be done now about a lease that was due."""
    now = context.clock.now()
    with context.store.read() as transaction:
        return not transaction.work.is_due(lease.id, now)


def _journal(context: Context, lease_id: str) -> Sequence[JournalEntry]:
    with context.store.read() as transaction:
        return transaction.journal.list(lease_id)


def _line(entry: JournalEntry) -> str:
    parts = [f"{entry.at:%Y-%m-%d %H:%M:%S}", entry.event, entry.reservation_id, entry.reason]
    by = " ".join(each for each in (entry.actor, entry.request_id) if each)
    return "  ".join(each for each in parts if each) + (f"  ({by})" if by else "")
