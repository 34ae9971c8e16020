"""The plan of an import, decided from the rows of both databases without I/O."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from blazar.domain.capacity import Share
from blazar.domain.interval import Interval
from blazar.domain.lease import (
    Allocation,
    EventStatus,
    EventType,
    Lease,
    LeaseId,
    LeaseStatus,
    Reservation,
    ReservationStatus,
    ResourceId,
)
from blazar.domain.lifecycle import with_status
from blazar.domain.plugin_resources import ResourceProperty
from blazar.importer.allocations import OldAllocations
from blazar.importer.details import DetailsReader, Wanted
from blazar.importer.floatingips import plan_floatingips
from blazar.importer.hosts import plan_hosts, plan_properties
from blazar.importer.leases import (
    Stage,
    note_status,
    plan_events,
    plan_reservation,
    settled,
    stage_of,
)
from blazar.importer.ledger import Fate, Kind, Ledger, Table
from blazar.importer.overbooking import Claim, KeptBookings
from blazar.importer.present import Present
from blazar.importer.usage_start import plan_usage_start
from blazar.plugins.floatingips.floatingip import FloatingIP
from blazar.plugins.hosts.host import Host
from blazar.ports.old_service import OldDatabase, OldEvent, OldLease, OldReservation

_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedLease:
    """A lease with its allocations; ``due_at`` is when its first reconcile pass is due, None for never."""

    lease: Lease
    allocations: tuple[Allocation, ...] = ()
    due_at: datetime | None = None
    old_status: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything to write, in this order."""

    properties: tuple[ResourceProperty, ...]
    hosts: tuple[Host, ...]
    floatingips: tuple[FloatingIP, ...]
    leases: tuple[PlannedLease, ...]
    """Better claims come first, so that leases written before an interruption have the better claims."""
    usage_start: datetime | None
    """The instant before which leases that have ended may be missing in reports of usage; None if none is."""
    ledger: Ledger


def make_plan(old: OldDatabase, present: Present, prepare_lead: timedelta) -> Plan:
    """Return the plan for importing a database of the existing service.

    Args:
        old: The existing database.
        present: The contents of this service's database.
        prepare_lead: How long before its start a lease is reconciled.
    """
    ledger = Ledger()
    if old.revision is None:
        ledger.find(Kind.NO_REVISION, "alembic_version", "is empty, or there is no such table")
    properties = plan_properties(old, present, ledger)
    hosts, kept_hosts = plan_hosts(old, present, ledger)
    floatingips, kept_floatingips = plan_floatingips(old, present, ledger)
    added = (*(each.id for each in hosts), *(each.id for each in floatingips))
    ids = {str(each): str(each) for each in (*present.hosts, *present.floatingips, *added)}
    allocations = OldAllocations(old, present, ledger, {**ids, **kept_hosts, **kept_floatingips})
    leases = _Leases(old, present, ledger, allocations).plan(hosts, prepare_lead)
    is_empty = not (hosts or floatingips or leases)
    return Plan(
        properties=properties,
        hosts=hosts,
        floatingips=floatingips,
        leases=leases,
        usage_start=plan_usage_start([each.lease for each in leases], present, is_empty=is_empty),
        ledger=ledger,
    )


@dataclass(slots=True, kw_only=True)
class _Draft:
    """A lease during planning."""

    old: OldLease
    stage: Stage
    lease: Lease
    wanted: Mapping[str, Wanted]
    allocations: list[Allocation]

    @property
    def rank(self) -> tuple[int, datetime, str]:
        """Return the rank among leases that claim the same resource; the lowest is best."""
        has_active = any(each.status is ReservationStatus.ACTIVE for each in self.lease.reservations)
        match self.stage:
            case Stage.RUNNING:
                place = 0 if has_active else 2
            case Stage.OVER:
                place = 1
            case Stage.DOOMED:
                place = 4
            case _:
                place = 3
        created_at = self.old.created_at or self.old.start
        return place, created_at, self.old.id

    @property
    def is_alive(self) -> bool:
        return self.stage in (Stage.RUNNING, Stage.AHEAD)


class _Leases:
    """Converts rows to planned leases."""

    def __init__(
        self, old: OldDatabase, present: Present, ledger: Ledger, allocations: OldAllocations
    ) -> None:
        self._old = old
        self._present = present
        self._ledger = ledger
        self._allocations = allocations
        self._details = DetailsReader(old, ledger)
        self._reservations: dict[str, list[OldReservation]] = defaultdict(list)
        self._events: dict[str, list[OldEvent]] = defaultdict(list)

    def plan(self, hosts: Sequence[Host], prepare_lead: timedelta) -> tuple[PlannedLease, ...]:
        """Return all leases to write."""
        self._sort_children()
        drafts = [draft for each in self._old.leases if (draft := self._draft(each)) is not None]
        self._details.leave_out_the_rest()
        drafts.sort(key=lambda each: each.rank)
        known = (*self._present.hosts.values(), *hosts)
        bookings = KeptBookings(self._present.bookings, {each.id: each.providers for each in known})
        for each in drafts:
            self._book(each, bookings)
        return tuple(self._planned(each, prepare_lead) for each in drafts)

    def _sort_children(self) -> None:
        lease_ids = {each.id for each in self._old.leases}
        for each in sorted(self._old.reservations, key=lambda each: (str(each.created_at), each.id)):
            if each.lease_id in lease_ids:
                self._reservations[each.lease_id or ""].append(each)
            else:
                subject, reason = f"reservation {each.id}", f"lease {each.lease_id} does not exist"
                self._ledger.leave_out(Table.RESERVATIONS, Kind.NO_LEASE, subject, reason)
                self._details.count(each, Fate.LEFT_OUT)
                self._allocations.count(each.id, Fate.LEFT_OUT)
        for event in self._old.events:
            if event.lease_id in lease_ids:
                self._events[event.lease_id or ""].append(event)
            else:
                reason = f"{event.event_type}, without a lease"
                self._ledger.leave_out(Table.EVENTS, Kind.ODD_EVENT, f"event {event.id}", reason)

    def _draft(self, old: OldLease) -> _Draft | None:
        """Return a lease without allocations; None if it must not be imported."""
        present = self._present.leases.get(old.id)
        if present is not None:
            self._pass_over(old, Fate.HERE)
            self._compare(old, present)
            return None
        if old.id in self._present.imported_before:
            self._pass_over(old, Fate.LEFT_OUT)
            self._ledger.find(Kind.GONE_HERE, f"lease {old.id}", "was deleted here")
            return None
        problem = self._present.refused.get(f"lease {old.id}")
        if problem is not None:
            self._pass_over(old, Fate.LEFT_OUT)
            self._ledger.find(Kind.BAD_ID, f"lease {old.id}", problem)
            return None
        stage = stage_of(old, self._present.now)
        self._ledger.count(Table.LEASES, Fate.IMPORTED)
        note_status(old, stage, self._ledger)
        if not old.trust_id:
            self._ledger.find(Kind.NO_TRUST, f"lease {old.id}", "trust_id is empty")
        events = plan_events(old, self._events[old.id], self._present.now, self._ledger)
        start = next(each.status for each in events if each.event_type is EventType.START)
        reservations, wanted = self._take_reservations(old, stage, start)
        lease = Lease(
            id=LeaseId(old.id),
            name=(old.name or "")[:_LONGEST_NAME],
            user_id=old.user_id,
            project_id=old.project_id,
            start=old.start,
            end=old.end,
            status=LeaseStatus.PENDING,
            is_deleting=stage is Stage.DOOMED,
            reservations=reservations,
            events=settled(events, stage, reservations),
            created_at=old.created_at,
            updated_at=old.updated_at,
        )
        return _Draft(old=old, stage=stage, lease=with_status(lease), wanted=wanted, allocations=[])

    def _take_reservations(
        self, old: OldLease, stage: Stage, start: EventStatus
    ) -> tuple[tuple[Reservation, ...], Mapping[str, Wanted]]:
        taken, wanted = [], {}
        for each in self._reservations[old.id]:
            self._ledger.count(Table.RESERVATIONS, Fate.IMPORTED)
            wanted[each.id] = self._details.read(each, self._allocations.resources_of(each.id))
            reservation = plan_reservation(each, stage, start, wanted[each.id])
            if stage is Stage.HISTORY and each.status != ReservationStatus.DELETED:
                reason = f"lease {old.id} is TERMINATED, and the reservation {each.status}"
                self._ledger.find(Kind.HALF_OVER, f"reservation {each.id}", reason, lease_id=old.id)
            taken.append(reservation)
        return tuple(taken), wanted

    def _pass_over(self, old: OldLease, fate: Fate) -> None:
        self._ledger.count(Table.LEASES, fate)
        self._ledger.count(Table.EVENTS, fate, len(self._events[old.id]))
        for each in self._reservations[old.id]:
            self._ledger.count(Table.RESERVATIONS, fate)
            self._details.count(each, fate)
            self._allocations.count(each.id, fate)

    def _compare(self, old: OldLease, present: Lease) -> None:
        changed = [
            f"{name} is {there} there and {value} here"
            for name, there, value in (
                ("name", (old.name or "")[:_LONGEST_NAME], present.name),
                ("project_id", old.project_id, present.project_id),
                ("start_date", f"{old.start:%Y-%m-%d %H:%M}", f"{present.start:%Y-%m-%d %H:%M}"),
                ("end_date", f"{old.end:%Y-%m-%d %H:%M}", f"{present.end:%Y-%m-%d %H:%M}"),
            )
            if there != value
        ]
        if changed:
            self._ledger.find(Kind.DIFFERS, f"lease {old.id}", "; ".join(changed))

    def _book(self, draft: _Draft, bookings: KeptBookings) -> None:
        """Allocate the resources that a lease held, as far as it can keep them."""
        if draft.stage is Stage.HISTORY:
            for each in draft.lease.reservations:
                self._allocations.let_go(each, draft.lease.id)
            return
        if draft.lease.end <= draft.lease.start:
            when = f"{draft.lease.start:%Y-%m-%d %H:%M} to {draft.lease.end:%Y-%m-%d %H:%M}"
            self._ledger.find(Kind.SENSELESS_WINDOW, f"lease {draft.lease.id}", when, lease_id=draft.lease.id)
            for each in draft.lease.reservations:
                self._allocations.count(each.id, Fate.OVER)
            return
        kept = tuple(self._book_reservation(draft, each, bookings) for each in draft.lease.reservations)
        draft.lease = replace(draft.lease, reservations=kept)

    def _book_reservation(
        self, draft: _Draft, reservation: Reservation, bookings: KeptBookings
    ) -> Reservation:
        if reservation.status in (ReservationStatus.DELETED, ReservationStatus.ERROR):
            self._allocations.let_go(reservation, draft.lease.id)
            return reservation
        wanted = draft.wanted[reservation.id]
        held = 0
        for resource_id, slots in self._allocations.held_by(reservation).items():
            share = Share(slots=slots, demand=wanted.demand) if wanted.demand else None
            claim = Claim(
                resource_id=resource_id,
                window=Interval(draft.lease.start, draft.lease.end),
                share=share,
                holder=f"lease {draft.lease.id}",
                has_begun=reservation.status is ReservationStatus.ACTIVE or not draft.is_alive,
                is_together=wanted.is_together,
            )
            held += self._decide(draft, reservation, claim, bookings)
        return self._with_flag(draft, reservation, wanted, held)

    def _decide(self, draft: _Draft, reservation: Reservation, claim: Claim, bookings: KeptBookings) -> int:
        """Keep as much of a claim as possible; return the number of resources or slots kept."""
        verdict = bookings.take(claim)
        if verdict.reason:
            kind = Kind.OVERBOOKED if verdict.is_overbooked else Kind.TWICE
            subject = f"{self._allocations.name(claim.resource_id)} of reservation {reservation.id}"
            self._ledger.find(kind, subject, verdict.reason, lease_id=draft.lease.id)
        asked = claim.share.slots if claim.share else 1
        share = verdict.kept if isinstance(verdict.kept, Share) else None
        kept = share.slots if share else int(verdict.kept is True)
        self._allocations.count_resource(claim.resource_id, Fate.IMPORTED, kept)
        self._allocations.count_resource(claim.resource_id, Fate.LEFT_OUT, asked - kept)
        if not kept:
            return 0
        draft.allocations.append(
            Allocation(
                resource_id=claim.resource_id,
                reservation_id=reservation.id,
                window=claim.window,
                share=share,
            )
        )
        return kept

    def _with_flag(self, draft: _Draft, reservation: Reservation, wanted: Wanted, held: int) -> Reservation:
        if held >= wanted.least or not draft.is_alive:
            return reservation
        reason = f"{held} of {wanted.least}"
        subject = f"reservation {reservation.id}"
        self._ledger.find(Kind.SHORT, subject, reason, lease_id=draft.lease.id)
        return replace(reservation, missing_resources=True)

    def _planned(self, draft: _Draft, prepare_lead: timedelta) -> PlannedLease:
        now, due_at = self._present.now, None
        if draft.stage is Stage.AHEAD and not draft.lease.is_degraded:
            # Items that exist in the cloud already are not changed until then.
            due_at = max(now, draft.lease.start - prepare_lead)
        elif draft.stage is not Stage.HISTORY:
            due_at = now
        return PlannedLease(
            lease=draft.lease,
            allocations=tuple(draft.allocations),
            due_at=due_at,
            old_status=draft.old.status or "",
        )


def statuses(plan: Plan) -> Mapping[tuple[str, str], int]:
    """Return the number of leases by their statuses there and here."""
    return Counter((each.old_status, each.lease.status.value) for each in plan.leases)


def held_resources(leases: Sequence[PlannedLease]) -> frozenset[ResourceId]:
    """Return the resources of these leases' allocations."""
    return frozenset(each.resource_id for lease in leases for each in lease.allocations)
