"""Extra capabilities of hosts that follow from Nova's host aggregates, such as the rack of a host.

Lessees can then group hosts by aggregates, have a reservation in one of them or spread over several, and
operators record racks in one place only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from blazar.domain.errors import InvalidParameter
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.zones import displaced_hosts
from blazar.ports.compute import Aggregate


def aggregate_properties(
    aggregates: Iterable[Aggregate], settings: HostSettings, service_host: str
) -> Mapping[str, str | None]:
    """Return the value of each aggregate property of a host; None for a property that the host does not have.

    The value is the name of the aggregate that matches the property's pattern; of several, the first by name.
    A host that left an aggregate because it is reserved still belongs to it. The freepool and the aggregates
    of reservations never count.
    """
    by_id = {each.id: each for each in aggregates}
    ids = {key for key, each in by_id.items() if service_host in each.hosts}
    for each in by_id.values():
        ids.update(displaced_hosts(each).get(service_host, ()))
    names = sorted(
        by_id[key].name for key in ids if key in by_id and not _is_of_service(by_id[key], settings)
    )
    return {
        name: next((each for each in names if fnmatchcase(each, pattern)), None)
        for name, pattern in settings.aggregate_properties.items()
    }


def check_not_from_aggregates(settings: HostSettings, names: Iterable[str]) -> None:
    """Raise InvalidParameter if a request sets a property that follows from aggregates."""
    for name in names:
        pattern = settings.aggregate_properties.get(name)
        if pattern is not None:
            raise InvalidParameter(
                name,
                f"is the name of the host's aggregate that matches {pattern}; change the aggregates in Nova,"
                " then run blazar-manage host refresh",
            )


def _is_of_service(aggregate: Aggregate, settings: HostSettings) -> bool:
    is_reservation = (aggregate.availability_zone or "").startswith(settings.availability_zone_prefix)
    return (
        is_reservation or aggregate.name == settings.freepool_name or settings.owner_key in aggregate.metadata
    )
