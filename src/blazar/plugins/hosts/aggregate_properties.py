"""Extra capabilities of hosts that follow from Nova's host aggregates, such as the rack of a host.

Lessees can then group hosts by aggregate, and place a reservation in one of them or spread it over several;
operators record racks in one place only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase

from blazar.domain.errors import InvalidParameter
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.zones import displaced_hosts, is_of_reservation
from blazar.ports.compute import Aggregate


def aggregate_properties(
    aggregates: Collection[Aggregate], settings: HostSettings, service_hosts: Iterable[str]
) -> Mapping[str, Mapping[str, str | None]]:
    """Return the value of each aggregate property of hosts, by service host; None for one without a value.

    The value is the name of the aggregate that matches the property's pattern; of several, the first by name.
    A host that left an aggregate because it is reserved still belongs to it. The freepool and the aggregates
    of reservations never count.
    """
    names_by_id = {each.id: each.name for each in aggregates if not _is_of_service(each, settings)}
    members: dict[str, set[int]] = defaultdict(set)
    for each in aggregates:
        for host in each.hosts:
            members[host].add(each.id)
        for host, ids in displaced_hosts(each).items():
            members[host].update(ids)
    found = {}
    for host in service_hosts:
        names = sorted(names_by_id[key] for key in members[host] & names_by_id.keys())
        found[host] = {
            name: next((each for each in names if fnmatchcase(each, pattern)), None)
            for name, pattern in settings.aggregate_properties.items()
        }
    return found


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
    return (
        is_of_reservation(aggregate, settings)
        or aggregate.name == settings.freepool_name
        or settings.owner_key in aggregate.metadata
    )
