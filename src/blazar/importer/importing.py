"""Import an installation: read both databases, plan, and write in bounded transactions.

The import can be interrupted at any point and run again: existing objects are not changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from blazar.booking.context import Context
from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId
from blazar.domain.portions import in_portions
from blazar.importer.details import KNOWN_TYPES
from blazar.importer.ids import CloudObjects, refused_rows
from blazar.importer.ledger import Finding
from blazar.importer.plan import Plan, PlannedLease, held_resources, make_plan
from blazar.importer.present import IMPORT, Booking, Present
from blazar.plugins.floatingips.store import FLOATING_IP_STORE
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.journal import JournalEntry
from blazar.ports.old_service import CannotImport, OldDatabase, OldService
from blazar.ports.store import Transaction

BATCH = 500
"""The number of leases, hosts or floating IPs written in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of an import or of a dry run."""

    plan: Plan
    revision: str | None
    at: datetime
    is_dry_run: bool


def import_database(context: Context, service: OldService, actor: str, *, is_dry_run: bool = False) -> Result:
    """Import a database of the existing service into this service's database.

    Args:
        context: The context. No manager should run: it would treat objects in the cloud as leftovers while
            their leases are not imported yet.
        service: The existing database; it is only read.
        actor: The name of the actor, for the journal.
        is_dry_run: Write nothing.

    Raises:
        CannotImport: The database is not as expected, or a plugin is not loaded. Nothing was written.
        CloudError: The cloud could not be read. Nothing was written.
        ConcurrentUpdate: Another process changed this service's database meanwhile. What was written
            stays; run the import again.
    """
    old = service.read()
    _check_plugins(context, old)
    present = read_present(context)
    present = replace(present, refused=refused_rows(old, present, _read_cloud_objects(context, old)))
    plan = make_plan(old, present, context.settings.leases.prepare_lead)
    if not is_dry_run:
        _Writer(context, plan, actor, present.now).write()
    return Result(plan=plan, revision=old.revision, at=present.now, is_dry_run=is_dry_run)


def _read_cloud_objects(context: Context, old: OldDatabase) -> CloudObjects:
    """Return the relevant objects in the cloud. Raises CloudError if it cannot be read."""
    if not old.reservations:
        return CloudObjects()
    cloud = context.cloud
    return CloudObjects(
        aggregates=cloud.aggregates.list_aggregates(),
        flavors=cloud.flavors.list_flavors(),
        server_groups=cloud.server_groups.list_server_groups(),
        owner_key=context.settings.of(HostSettings).owner_key,
    )


def read_present(context: Context) -> Present:
    """Return the contents of this service's database."""
    now = context.clock.now()
    with context.store.read() as transaction:
        imported = transaction.journal.list_event(IMPORT)
        hosts, providers = transaction.of(HOST_STORE).list(), transaction.of(HOST_STORE).list_providers()
        floatingips = transaction.of(FLOATING_IP_STORE).list()
        return Present(
            now=now,
            leases={each.id: each for each in transaction.leases.list()},
            hosts={each.id: replace(each, providers=providers.get(each.id, ())) for each in hosts},
            floatingips={each.id: each for each in floatingips},
            properties=transaction.of(HOST_STORE).all_properties(),
            bookings=_read_bookings(
                transaction, [*(each.id for each in hosts), *(each.id for each in floatingips)]
            ),
            imported_before=frozenset(each.lease_id or each.reason for each in imported),
            first_import=min((each.at for each in imported), default=None),
            usage_start=transaction.usage.complete_since(),
        )


def _read_bookings(
    transaction: Transaction, resource_ids: Sequence[ResourceId]
) -> Mapping[ResourceId, tuple[Booking, ...]]:
    """Return the holders of resources here, including resources that are only being cleaned."""
    found: dict[ResourceId, list[Booking]] = defaultdict(list)
    for each in transaction.availability.bookings(resource_ids):
        window = each.window
        if each.released_at is not None and each.released_at > window.end:
            window = Interval(window.start, each.released_at)
        holder = f"reservation {each.reservation_id or 'that is gone'} of this service"
        found[each.resource_id].append(Booking(window=window, share=each.share, holder=holder))
    return {key: tuple(each) for key, each in found.items()}


def _check_plugins(context: Context, old: OldDatabase) -> None:
    """Raise CannotImport if reservations have a known type without a configured plugin."""
    needed = {each.resource_type for each in old.reservations} & KNOWN_TYPES
    lacking = sorted(each for each in needed if each and each not in context.plugins)
    if lacking:
        raise CannotImport(
            f"[manager] plugins: there are reservations of {', '.join(lacking)}, but no plugin for that"
        )


@dataclass(slots=True)
class _Writer:
    """Writes a plan in its order."""

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
        for leases in in_portions(self.plan.leases, BATCH):
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
            transaction.of(HOST_STORE).insert_properties(self.plan.properties)
            if self.plan.usage_start is not None:
                transaction.usage.start_at(self.plan.usage_start)
            transaction.commit()
        for hosts in in_portions(self.plan.hosts, BATCH):
            with self.context.store.begin() as transaction:
                transaction.of(HOST_STORE).insert_many(hosts)
                transaction.journal.append([self._resource_entry(f"host {each.id}") for each in hosts])
                transaction.commit()
        for floatingips in in_portions(self.plan.floatingips, BATCH):
            with self.context.store.begin() as transaction:
                transaction.of(FLOATING_IP_STORE).insert_many(floatingips)
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
        """Yield the first journal entries of a lease: its import, and the findings about it."""
        lease = planned.lease
        reason = f"{planned.old_status} -> {lease.status}"
        yield JournalEntry(at=self.at, lease_id=lease.id, event=IMPORT, reason=reason, actor=self.actor)
        for each in findings:
            reason = f"{each.kind.title}: {each.subject}: {each.reason}"
            yield JournalEntry(
                at=self.at, lease_id=lease.id, event=f"{IMPORT}.finding", reason=reason, actor=self.actor
            )
