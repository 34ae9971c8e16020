"""Hosts that belong to an availability zone of the operator's.

Nova lets a host be in one zone only, and a reservation's aggregate is one. So a host leaves the
aggregate of its own zone while it is reserved, and comes back afterwards. From which aggregate it came
is written on the reservation's aggregate before it leaves. Several aggregates may make up one zone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.ports.compute import Aggregate, Compute

_CAME_FROM_KEY = "blazar:came_from:"
"""Metadata of a reservation's aggregate: this, and a service host; the value is ids of aggregates."""


def find_zones(aggregates: Iterable[Aggregate], service_host: str) -> tuple[Aggregate, ...]:
    """Return the aggregates that give the host its availability zone: none, one, or several of one zone."""
    return tuple(each for each in aggregates if each.availability_zone and service_host in each.hosts)


def displaced_hosts(own: Aggregate) -> Mapping[str, tuple[int, ...]]:
    """Return the ids of the aggregates that hosts came from, by service host."""
    found = {}
    for key, value in own.metadata.items():
        ids = tuple(int(each) for each in value.split(",") if each.isdecimal())
        if key.startswith(_CAME_FROM_KEY) and ids:
            found[key.removeprefix(_CAME_FROM_KEY)] = ids
    return found


def leave_zone(compute: Compute, own: Aggregate, zones: Iterable[Aggregate], service_host: str) -> None:
    """Take a host out of the aggregates of its zone, so that it can enter the reservation's.

    What was written down before, when it had left some of them only, stays.
    """
    zone_ids = [each.id for each in zones]
    ids = sorted({*displaced_hosts(own).get(service_host, ()), *zone_ids})
    compute.set_aggregate_metadata(own.id, {f"{_CAME_FROM_KEY}{service_host}": ",".join(map(str, ids))})
    for aggregate_id in zone_ids:
        compute.remove_host(aggregate_id, service_host)


def return_to_zone(compute: Compute, own: Aggregate, service_host: str) -> None:
    """Put a host back into the aggregates that it came from, as far as they still exist.

    One that somebody has put into another zone meanwhile stays there.

    Raises:
        CloudConflict: Servers on the host, or another reservation that has it by now, forbid it.
    """
    for aggregate_id in displaced_hosts(own).get(service_host, ()):
        try:
            compute.add_host(aggregate_id, service_host)
        except CloudNotFound as error:
            # Where it came from is forgotten only if that is gone indeed.
            is_there = any(each.id == aggregate_id for each in compute.list_aggregates())
            if is_there and service_host in compute.list_availability_zones():
                raise CloudConflict(error.message) from error
        except CloudConflict:
            if not _is_settled(compute, own, aggregate_id, service_host):
                raise
    compute.set_aggregate_metadata(own.id, {f"{_CAME_FROM_KEY}{service_host}": None})


def _is_settled(compute: Compute, own: Aggregate, aggregate_id: int, service_host: str) -> bool:
    """Return whether the host is in that aggregate, or in another zone that is no reservation's."""
    aggregates = compute.list_aggregates()
    home = next((each.availability_zone for each in aggregates if each.id == aggregate_id), None)
    prefix = (own.availability_zone or "").removesuffix(own.name)
    return any(
        each.id == aggregate_id
        or (each.availability_zone != home and not (each.availability_zone or "").startswith(prefix))
        for each in find_zones(aggregates, service_host)
    )
