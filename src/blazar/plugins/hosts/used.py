"""Servers on reserved hosts, for plugins whose reservations are used with servers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from blazar.domain.lease import ReservationId, ResourceId
from blazar.plugins.contract import AllocatedResource, Assignment
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Server


def count_servers(
    cloud: Cloud,
    assignments: Sequence[Assignment[Any]],
    key_of: Callable[[Server], object] = lambda server: None,
    key_for: Callable[[ReservationId], object] = lambda reservation_id: None,
) -> Mapping[ReservationId, Mapping[ResourceId, int]]:
    """Return the number of servers of each reservation by host, from one list of all servers.

    Servers that are being deleted no longer count. A host that an earlier reservation still holds has none.

    Args:
        cloud: The cloud.
        assignments: The reservations with their hosts.
        key_of: Returns what a server shares with its reservation, in addition to the host.
        key_for: Returns this key for a reservation.
    """
    if not assignments:
        return {}
    servers = Counter(
        (each.service_host, key_of(each)) for each in cloud.servers.list_servers() if not each.is_deleting
    )

    def count(resource: AllocatedResource, reservation_id: ReservationId) -> int:
        if resource.is_awaited:
            return 0
        return servers[str(resource.facts.get("service_name", "")), key_for(reservation_id)]

    return {
        each.reservation_id: {one.id: count(one, each.reservation_id) for one in each.resources}
        for each in assignments
    }
