"""Handover of a host: add it to the reservation's aggregate, then remove it from the freepool.

Each step records the aggregate of Nova's answer, from which the result is observed.

Nova refuses the first step while the host has servers or is in another availability zone. The obstacle is
searched for only then, so that a host without servers costs two calls.
"""

from __future__ import annotations

from datetime import timedelta

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.plugins.contract import Assignment, Done, Outcome, Unusable, Waiting
from blazar.plugins.hosts.items import HostItem, HostsSeen
from blazar.plugins.hosts.preemption import Closing, close_host, closings, delete_servers, is_preemptible
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.spec import HostSpec
from blazar.plugins.hosts.zones import find_zones, is_of_reservation, leave_zone
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Aggregate, Server

RETRY = timedelta(seconds=2)


class Handover:
    """The steps; each makes one item."""

    def __init__(self, settings: HostSettings) -> None:
        self._settings = settings

    def make_aggregate(self, cloud: Cloud, assignment: Assignment[HostSpec], seen: HostsSeen) -> Outcome:
        """Create the reservation's aggregate, with its owner."""
        name = assignment.reservation_id
        zone = f"{self._settings.availability_zone_prefix}{name}"
        try:
            seen.own = cloud.aggregates.create_aggregate(
                name, zone, {self._settings.owner_key: assignment.project_id}
            )
        except CloudConflict:
            return Waiting(RETRY, "the aggregate was created concurrently")
        return Done()

    def set_owner(self, cloud: Cloud, assignment: Assignment[HostSpec], seen: HostsSeen) -> Outcome:
        """Set the owner in the aggregate's metadata, unless the aggregate was just created with it."""
        if seen.own is None:
            return Waiting(RETRY, "the aggregate does not exist yet")
        owner = {self._settings.owner_key: assignment.project_id}
        if not owner.items() <= seen.own.metadata.items():
            seen.own = cloud.aggregates.set_aggregate_metadata(seen.own.id, owner)
        return Done()

    def add_member(
        self, cloud: Cloud, assignment: Assignment[HostSpec], item: HostItem, seen: HostsSeen
    ) -> Outcome:
        """Add a host to the aggregate, or remove an obstacle to that."""
        if seen.own is None:
            return Waiting(RETRY, "the aggregate does not exist yet")
        host = item.service_host
        try:
            seen.own = cloud.aggregates.add_host(seen.own.id, host)
        except CloudNotFound:
            if host not in cloud.hypervisors.list_availability_zones():
                return Unusable(f"Nova no longer has host {host}", is_final=True)
            return Waiting(RETRY, "the aggregate was deleted concurrently")
        except CloudConflict as error:
            return self._clear(cloud, assignment, host, seen.own, error)
        return Done()

    def withdraw(self, cloud: Cloud, item: HostItem, seen: HostsSeen) -> Outcome:
        """Remove a host from the freepool."""
        if seen.freepool is not None:
            try:
                seen.freepool = cloud.aggregates.remove_host(seen.freepool.id, item.service_host)
            except CloudNotFound:
                return Done()
        return Done()

    def announce(
        self, cloud: Cloud, assignment: Assignment[HostSpec], item: HostItem, seen: HostsSeen
    ) -> Outcome:
        """Close a host shortly before the start, and notify its preemptible servers."""
        if seen.freepool is not None:
            servers = cloud.servers.list_servers(service_host=item.service_host)
            preemptible = [each for each in servers if is_preemptible(each)]
            close_host(cloud, seen.freepool, item.service_host, preemptible, self._closing(assignment))
        return Done()

    def _clear(
        self,
        cloud: Cloud,
        assignment: Assignment[HostSpec],
        host: str,
        own: Aggregate,
        refusal: CloudConflict,
    ) -> Outcome:
        """Find the obstacle for which Nova refuses a host, and remove it if possible."""
        aggregates = cloud.aggregates.list_aggregates()
        own = next((each for each in aggregates if each.id == own.id), own)
        if host in own.hosts:
            return Done()
        servers = cloud.servers.list_servers(service_host=host)
        if servers:
            freepool = next((each for each in aggregates if each.name == self._settings.freepool_name), None)
            return self._clear_servers(cloud, assignment, host, servers, freepool)
        zones = find_zones(aggregates, host)
        if not zones:
            return Waiting(RETRY, f"host {host} cannot be handed over yet: {refusal.message}")
        if is_of_reservation(zones[0], self._settings):
            return Unusable(f"host {host} is in the aggregate of another reservation, {zones[0].name}")
        leave_zone(cloud, own, zones, host)
        cloud.aggregates.add_host(own.id, host)
        return Done()

    def _clear_servers(
        self,
        cloud: Cloud,
        assignment: Assignment[HostSpec],
        host: str,
        servers: tuple[Server, ...],
        freepool: Aggregate | None,
    ) -> Outcome:
        staying = [each for each in servers if not each.is_deleting]
        if not staying:
            return Waiting(RETRY, f"the last servers on host {host} are being deleted")
        foreign = [each for each in staying if not is_preemptible(each)]
        if foreign:
            names = ", ".join(f"{each.id} (project {each.project_id})" for each in foreign)
            return Unusable(f"host {host} has servers that are neither preemptible nor ours: {names}")
        if freepool is None:
            return Waiting(
                RETRY, f"Nova has no aggregate named {self._settings.freepool_name} (the freepool)"
            )
        closing = closings(freepool).get(host)
        if closing is None or closing.reservation_id != assignment.reservation_id:
            closing = self._closing(assignment)
            close_host(cloud, freepool, host, staying, closing)
        return delete_servers(cloud, servers, closing.due, assignment.now)

    def _closing(self, assignment: Assignment[HostSpec]) -> Closing:
        due = max(assignment.window.start, assignment.now + self._settings.preemption_notice)
        return Closing(reservation_id=assignment.reservation_id, due=due)
