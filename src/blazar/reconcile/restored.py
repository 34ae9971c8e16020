"""Preparation of a database that was restored from a backup, before the managers start.

The cloud was not restored with the database. So it may have objects of leases that are not in the database,
lack objects of leases that were ended meanwhile, and have other objects of leases that were extended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from blazar.booking.context import Context
from blazar.domain.lease import EventStatus, EventType, Lease
from blazar.ports.journal import JournalEntry
from blazar.reconcile.periodic.tasks import DISCOVER, SWEEP
from blazar.reconcile.sweep import find_owners


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The differences between a restored database and the cloud that need a decision."""

    unknown: Mapping[str, Sequence[str]]
    """Objects of leases made after the backup, by reservation; the database does not know these."""
    ending: tuple[Lease, ...]
    """Leases whose end has passed and that have objects in the cloud: managers end them at once."""
    leases: int
    """The number of leases that have not ended."""


def compare_restored(context: Context) -> Restored:
    """Return the differences; change nothing. Raises CloudUnavailable."""
    # The cloud first, as in a sweep.
    owners = find_owners(context)
    with context.store.read() as transaction:
        leases = transaction.leases.list()
    return _compare(context, owners.items(), leases)


def complete_restore(context: Context, actor: str) -> Restored:
    """Make the database usable with a cloud that was not restored with it; return the differences.

    No number that was issued after the backup is issued again: clients and processes that kept answers,
    generations or claims notice that they are outdated. Every lease is compared with the cloud as soon as a
    manager starts, whatever the time of its next event, and the sweep and the discovery run.

    Raises:
        CloudUnavailable: A cloud service does not respond; nothing was changed.
    """
    found, now = compare_restored(context), context.clock.now()
    with context.store.begin() as transaction:
        transaction.resources.renew_generations(now)
        transaction.work.renew_claims()
        # An object that a sweep found before the backup may just have been in the making then.
        transaction.findings.note(SWEEP, [], now)
        pending = [each.id for each in transaction.leases.list() if not _is_over(each)]
        transaction.work.schedule([*pending, SWEEP, DISCOVER], now)
        entry = JournalEntry(at=now, lease_id=None, event="database.restored", actor=actor)
        transaction.journal.append([entry])
        transaction.commit()
    context.waker.wake()
    return found


def _compare(context: Context, owners: Iterable[tuple[str, str]], leases: Sequence[Lease]) -> Restored:
    objects: dict[str, list[str]] = defaultdict(list)
    for key, reservation_id in owners:
        objects[reservation_id].append(key)
    known = {each.id for lease in leases for each in lease.reservations}
    living = [each for each in leases if not _is_over(each)]
    now = context.clock.now()
    return Restored(
        unknown={owner: sorted(objects[owner]) for owner in sorted(objects.keys() - known)},
        ending=tuple(
            lease
            for lease in living
            if lease.end <= now and any(each.id in objects for each in lease.reservations)
        ),
        leases=len(living),
    )


def _is_over(lease: Lease) -> bool:
    is_ended = not lease.is_deleting and lease.get_event_status(EventType.END) is EventStatus.DONE
    return is_ended and not any(each.is_deployed for each in lease.reservations)
