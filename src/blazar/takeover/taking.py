"""Taking over: reading what is there and here, having it decided, and writing it in bounded transactions.

It may be interrupted anywhere and begun again: what is here already is left alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from blazar.booking.context import Context
from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId
from blazar.ports.old_service import CannotTakeOver, OldDatabase, OldService
from blazar.ports.store import JournalEntry, Transaction
from blazar.takeover.details import KNOWN_TYPES
from blazar.takeover.here import IMPORT, Here, Promise
from blazar.takeover.ledger import Finding
from blazar.takeover.plan import Plan, PlannedLease, held_resources, make_plan

BATCH = 500
"""So many leases, hosts or floating IPs are written in one transaction."""

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What was, or would be, taken over."""

    plan: Plan
    revision: str | None
    at: datetime
    is_dry_run: bool


def take_over(context: Context, service: OldService, actor: str, *, is_dry_run: bool = False) -> Result:
    """Bring what a database of the existing service holds into ours.

    Args:
        context: The context. No manager should run: it would take for left over in the cloud what is not
            here yet.
        service: The database; it is only read.
        actor: Who does it, for the journal.
        is_dry_run: Write nothing.

    Raises:
        CannotTakeOver: It is not what it should be, or a plugin is not loaded. Nothing was written.
        ConcurrentUpdate: Somebody changed our database meanwhile; what was written stays. Do it again.
    """
    old = service.read()
    _check_plugins(context, old)
    here = read_here(context)
    plan = make_plan(old, here, context.settings.leases.prepare_lead)
    if not is_dry_run:
        _Writer(context, plan, actor, here.now).write()
    return Result(plan=plan, revision=old.revision, at=here.now, is_dry_run=is_dry_run)


def read_here(context: Context) -> Here:
    """Return what is in our database."""
    now = context.clock.now()
    with context.store.read() as transaction:
        hosts, providers = transaction.hosts.list(), transaction.hosts.list_providers()
        floatingips = transaction.floatingips.list()
        return Here(
            now=now,
            leases={each.id: each for each in transaction.leases.list()},
            hosts={each.id: replace(each, providers=providers.get(each.id, ())) for each in hosts},
            floatingips={each.id: each for each in floatingips},
            properties=transaction.hosts.all_properties(),
            promises=_read_promises(
                transaction, [*(each.id for each in hosts), *(each.id for each in floatingips)]
            ),
            imported_before=frozenset(
                each.lease_id or each.reason for each in transaction.journal.list_event(IMPORT)
            ),
        )


def _read_promises(
    transaction: Transaction, resource_ids: Sequence[ResourceId]
) -> Mapping[ResourceId, tuple[Promise, ...]]:
    """Return who holds what here; also what is only being cleaned, because nobody else can have it."""
    found: dict[ResourceId, list[Promise]] = defaultdict(list)
    for each in transaction.availability.bookings(resource_ids):
        window = each.window
        if each.released_at is not None and each.released_at > window.end:
            window = Interval(window.start, each.released_at)
        holder = f"reservation {each.reservation_id or 'that is gone'} of this service"
        found[each.resource_id].append(Promise(window=window, share=each.share, holder=holder))
    return {key: tuple(each) for key, each in found.items()}


def _check_plugins(context: Context, old: OldDatabase) -> None:
    """Raise CannotTakeOver for a type that we know, and that the configuration does not name."""
    needed = {each.resource_type for each in old.reservations} & KNOWN_TYPES
    lacking = sorted(each for each in needed if each and each not in context.plugins)
    if lacking:
        raise CannotTakeOver(
            f"[manager] plugins: there are reservations of {', '.join(lacking)}, but no plugin of that"
        )


def _batches(items: Sequence[ItemT]) -> Iterator[Sequence[ItemT]]:
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]


@dataclass(slots=True)
class _Writer:
    """Writes a plan, in its order."""

    context: Context
    plan: Plan
    actor: str
    at: datetime

    def write(self) -> None:
        """Write everything. Raises ConcurrentUpdate."""
        self._write_resources()
        findings: dict[str | None, list[Finding]] = defaultdict(list)
        for each in self.plan.ledger.findings:
            findings[each.lease_id].append(each)
        generations = self._read_generations()
        for leases in _batches(self.plan.leases):
            held = held_resources(leases)
            with self.context.store.begin() as transaction:
                transaction.allocations.claim({key: generations[key] for key in held})
                transaction.leases.insert_many([each.lease for each in leases])
                transaction.allocations.insert([one for each in leases for one in each.allocations])
                transaction.work.plan({each.lease.id: each.due_at for each in leases if each.due_at})
                entries = [one for each in leases for one in self._entries(each, findings[each.lease.id])]
                transaction.journal.append(entries)
                transaction.commit()
            generations |= {key: generations[key] + 1 for key in held}

    def _write_resources(self) -> None:
        with self.context.store.begin() as transaction:
            transaction.hosts.insert_properties(self.plan.properties)
            transaction.commit()
        for hosts in _batches(self.plan.hosts):
            with self.context.store.begin() as transaction:
                transaction.hosts.insert_many(hosts)
                transaction.journal.append([self._resource_entry(f"host {each.id}") for each in hosts])
                transaction.commit()
        for floatingips in _batches(self.plan.floatingips):
            with self.context.store.begin() as transaction:
                transaction.floatingips.insert_many(floatingips)
                entries = [self._resource_entry(f"floating IP {each.id}") for each in floatingips]
                transaction.journal.append(entries)
                transaction.commit()

    def _read_generations(self) -> dict[ResourceId, int]:
        with self.context.store.read() as transaction:
            return {
                **transaction.availability.all_generations("host"),
                **transaction.availability.all_generations("floatingip"),
            }

    def _resource_entry(self, name: str) -> JournalEntry:
        return JournalEntry(at=self.at, lease_id=None, event=IMPORT, reason=name, actor=self.actor)

    def _entries(self, planned: PlannedLease, findings: Sequence[Finding]) -> Iterator[JournalEntry]:
        """Yield what the journal of a lease begins with: that it was imported, and what was found."""
        lease = planned.lease
        reason = f"{planned.old_status} -> {lease.status}"
        yield JournalEntry(at=self.at, lease_id=lease.id, event=IMPORT, reason=reason, actor=self.actor)
        for each in findings:
            reason = f"{each.kind.title}: {each.subject}: {each.reason}"
            yield JournalEntry(
                at=self.at, lease_id=lease.id, event=f"{IMPORT}.finding", reason=reason, actor=self.actor
            )
