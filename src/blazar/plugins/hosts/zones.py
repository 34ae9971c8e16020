"""Hosts that belong to an operator's availability zone.

Nova allows a host in one zone only, and a reservation's aggregate is a zone. Therefore a host leaves the
aggregates of its own zone while it is reserved, and returns afterwards. Their ids are recorded in the
metadata of the reservation's aggregate before the host leaves them. Several aggregates may form one zone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.plugins.hosts.settings import HostSettings
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Aggregate

_CAME_FROM_KEY = "blazar:came_from:"
"""Prefix of a metadata key of a reservation's aggregate, before a service host; the value is ids."""


def pooled_hosts(aggregates: Iterable[Aggregate], settings: HostSettings) -> frozenset[str]:
    """Return the service hosts in the freepool; none if there is no freepool."""
    return next((each.hosts for each in aggregates if each.name == settings.freepool_name), frozenset())


def is_of_reservation(aggregate: Aggregate, settings: HostSettings) -> bool:
    """Return whether an aggregate is the availability zone of a reservation."""
    return (aggregate.availability_zone or "").startswith(settings.availability_zone_prefix)


def find_zones(aggregates: Iterable[Aggregate], service_host: str) -> tuple[Aggregate, ...]:
    """Return the aggregates that define the host's availability zone: none, one, or several of one zone."""
    return tuple(each for each in aggregates if each.availability_zone and service_host in each.hosts)


def displaced_hosts(own: Aggregate) -> Mapping[str, tuple[int, ...]]:
    """Return the ids of the aggregates that hosts came from, by service host."""
    found = {}
    for key, value in own.metadata.items():
        ids = tuple(int(each) for each in value.split(",") if each.isdecimal())
        if key.startswith(_CAME_FROM_KEY) and ids:
            found[key.removeprefix(_CAME_FROM_KEY)] = ids
    return found


def leave_zone(cloud: Cloud, own: Aggregate, zones: Iterable[Aggregate], service_host: str) -> None:
    """Remove a host from the aggregates of its zone, so that it can enter the reservation's aggregate.

    Ids recorded earlier, when the host had left only some of them, are kept.
    """
    zone_ids = [each.id for each in zones]
    ids = sorted({*displaced_hosts(own).get(service_host, ()), *zone_ids})
    cloud.aggregates.set_aggregate_metadata(
        own.id, {f"{_CAME_FROM_KEY}{service_host}": ",".join(map(str, ids))}
    )
    for aggregate_id in zone_ids:
        cloud.aggregates.remove_host(aggregate_id, service_host)


def return_to_zone(cloud: Cloud, own: Aggregate, service_host: str) -> None:
    """Return a host to the aggregates that it came from, if they still exist.

    A host that was moved to another zone in the meantime stays there.

    Raises:
        CloudConflict: The host has servers, or is in the aggregate of another reservation.
    """
    for aggregate_id in displaced_hosts(own).get(service_host, ()):
        try:
            cloud.aggregates.add_host(aggregate_id, service_host)
        except CloudNotFound as error:
            # Delete the record only if the aggregate or the host no longer exists.
            is_there = any(each.id == aggregate_id for each in cloud.aggregates.list_aggregates())
            if is_there and service_host in cloud.hypervisors.list_availability_zones():
                raise CloudConflict(error.message) from error
        except CloudConflict:
            if not _is_settled(cloud, own, aggregate_id, service_host):
                raise
    cloud.aggregates.set_aggregate_metadata(own.id, {f"{_CAME_FROM_KEY}{service_host}": None})


def _is_settled(cloud: Cloud, own: Aggregate, aggregate_id: int, service_host: str) -> bool:
    """Return whether the host is in that aggregate, or in another zone that is not a reservation's."""
    aggregates = cloud.aggregates.list_aggregates()
    home = next((each.availability_zone for each in aggregates if each.id == aggregate_id), None)
    prefix = (own.availability_zone or "").removesuffix(own.name)
    return any(
        each.id == aggregate_id
        or (each.availability_zone != home and not (each.availability_zone or "").startswith(prefix))
        for each in find_zones(aggregates, service_host)
    )
