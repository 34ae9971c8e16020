"""The allocations of the existing service: each reservation's resources, and the fate of each row."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from blazar.domain.lease import Reservation, ResourceId
from blazar.importer.details import FLAVORS, INSTANCES
from blazar.importer.ledger import Fate, Kind, Ledger, Table
from blazar.importer.present import Present
from blazar.ports.old_service import OldAllocation, OldDatabase

_OF_SLOTS = frozenset({INSTANCES, FLAVORS})


class OldAllocations:
    """Allocation rows by reservation, without rows that belong to nothing."""

    def __init__(
        self, old: OldDatabase, present: Present, ledger: Ledger, resource_ids: Mapping[str, str]
    ) -> None:
        """Sort the rows by reservation.

        Args:
            old: The existing database.
            present: The contents of this service's database.
            ledger: Records the fates of the rows.
            resource_ids: The ids here of hosts and floating IPs, by their ids there. They differ if one is
                registered there under two ids, since only one of these is imported.
        """
        self._ledger = ledger
        self._rows: dict[str, list[tuple[Table, str]]] = defaultdict(list)
        self._floatingips = {each.id for each in old.floatingips} | set(present.floatingips)
        lease_ids = {each.id: each.lease_id for each in old.reservations}
        tables = (
            (Table.HOST_ALLOCATIONS, old.host_allocations),
            (Table.FLOATINGIP_ALLOCATIONS, old.floatingip_allocations),
        )
        for table, rows in tables:
            for each in rows:
                resource_id = resource_ids.get(each.resource_id or "")
                if each.reservation_id in lease_ids and resource_id is not None:
                    self._rows[each.reservation_id].append((table, resource_id))
                    self._note_moved(each, resource_id, lease_ids[each.reservation_id])
                else:
                    subject = f"{table.removesuffix('s')} {each.id}"
                    reason = f"of {each.resource_id} for reservation {each.reservation_id}"
                    ledger.leave_out(table, Kind.LOOSE_ALLOCATION, subject, reason)

    def _note_moved(self, old: OldAllocation, resource_id: str, lease_id: str | None) -> None:
        """Record an allocation that counts for a resource with another id."""
        if old.resource_id == resource_id:
            return
        subject = f"{self.name(ResourceId(old.resource_id or ''))} of reservation {old.reservation_id}"
        reason = f"is also {self.name(ResourceId(resource_id))}, for which it counts here"
        self._ledger.find(Kind.MOVED_ALLOCATION, subject, reason, lease_id=lease_id)

    def name(self, resource_id: ResourceId) -> str:
        """Return the name of a resource in the report."""
        return f"{'floating IP' if resource_id in self._floatingips else 'host'} {resource_id}"

    def resources_of(self, reservation_id: str) -> tuple[str, ...]:
        """Return the ids of the resources that a reservation holds, once for each row."""
        return tuple(resource_id for _, resource_id in self._rows[reservation_id])

    def count(self, reservation_id: str, fate: Fate) -> None:
        """Record the fate of all rows of a reservation."""
        for table, _ in self._rows[reservation_id]:
            self._ledger.count(table, fate)

    def count_resource(self, resource_id: ResourceId, fate: Fate, rows: int) -> None:
        """Record the fate of a number of rows of a resource."""
        is_floatingip = resource_id in self._floatingips
        table = Table.FLOATINGIP_ALLOCATIONS if is_floatingip else Table.HOST_ALLOCATIONS
        self._ledger.count(table, fate, rows)

    def held_by(self, reservation: Reservation) -> Mapping[ResourceId, int]:
        """Return a reservation's resources: for slots the number on each host, otherwise 1."""
        is_of_slots = reservation.resource_type in _OF_SLOTS
        held: Counter[ResourceId] = Counter()
        for table, resource_id in self._rows[reservation.id]:
            if resource_id in held and not is_of_slots:
                subject = f"{self.name(ResourceId(resource_id))} of reservation {reservation.id}"
                self._ledger.leave_out(table, Kind.DOUBLE_ALLOCATION, subject, "exists more than once")
                continue
            held[ResourceId(resource_id)] += 1
        return held

    def let_go(self, reservation: Reservation, lease_id: str) -> None:
        """Record that a finished reservation holds nothing; hosts should have been released there already."""
        for table, resource_id in self._rows[reservation.id]:
            self._ledger.count(table, Fate.OVER)
            if table is Table.HOST_ALLOCATIONS:
                subject = f"{self.name(ResourceId(resource_id))} of reservation {reservation.id}"
                reason = f"reservation of lease {lease_id} is {reservation.status}"
                self._ledger.find(Kind.GHOST, subject, reason, lease_id=lease_id)
