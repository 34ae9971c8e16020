"""What reservations of hosts leave behind: aggregates, and hosts that are nowhere or closed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.plugins.hosts.preemption import closings, open_host
from blazar.plugins.hosts.zones import displaced_hosts, return_to_zone
from blazar.plugins.slots.names import is_reservation_id
from blazar.reconcile.sweeping.kinds import Surroundings

if TYPE_CHECKING:
    from blazar.reconcile.sweeping.kinds import Kind

_logger = logging.getLogger(__name__)


class HostAggregates:
    """Aggregates with a reservation's own availability zone.

    One whose hosts still run servers cannot be emptied, and stays.
    """

    name: ClassVar[str] = "aggregate"

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        prefix = surroundings.context.settings.hosts.availability_zone_prefix
        self._marked = {
            each.name: each
            for each in surroundings.aggregates
            if is_reservation_id(each.name) and each.availability_zone == f"{prefix}{each.name}"
        }

    def candidates(self) -> Mapping[str, str | None]:
        """Return the aggregates, which are named after their reservations."""
        return {name: name for name in self._marked}

    def remove(self, name: str) -> bool:
        """Give an aggregate's hosts back, and delete it."""
        aggregate, compute = self._marked[name], self._surroundings.context.cloud.compute
        registered = {each.service_name for each in self._surroundings.registered_hosts()}
        for service_host in sorted(aggregate.hosts):
            if service_host in registered and not _return_host(self._surroundings, service_host):
                return False
            with suppress(CloudNotFound):
                compute.remove_host(aggregate.id, service_host)
        for service_host in displaced_hosts(aggregate):
            return_to_zone(compute, aggregate, service_host)
        compute.delete_aggregate(aggregate.id)
        return True


class ClosedHosts:
    """Hosts of the freepool that are closed to preemptible servers for a reservation."""

    name: ClassVar[str] = "closed"

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings

    def candidates(self) -> Mapping[str, str | None]:
        """Return the compute services of closed hosts."""
        closed = closings(self._surroundings.freepool)
        return {service_host: each.reservation_id for service_host, each in closed.items()}

    def remove(self, name: str) -> bool:
        """Open a host."""
        freepool = self._surroundings.freepool
        if freepool is not None:
            open_host(self._surroundings.context.cloud.compute, freepool, name)
        return freepool is not None


class StrayHosts:
    """Registered hosts that are neither in the freepool nor in a reservation's aggregate."""

    name: ClassVar[str] = "host"

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings

    def candidates(self) -> Mapping[str, str | None]:
        """Return the compute services of these hosts."""
        settings = self._surroundings.context.settings.hosts
        placed: set[str] = set()
        for each in self._surroundings.aggregates:
            zone = each.availability_zone or ""
            if each.name == settings.freepool_name or zone.startswith(settings.availability_zone_prefix):
                placed |= each.hosts
        registered = [each.service_name for each in self._surroundings.registered_hosts()]
        return {service_host: None for service_host in registered if service_host not in placed}

    def remove(self, name: str) -> bool:
        """Put a host into the freepool."""
        return _return_host(self._surroundings, name)


def _return_host(surroundings: Surroundings, service_host: str) -> bool:
    """Have a host in the freepool; return whether it is there."""
    freepool = surroundings.freepool
    if freepool is None:
        return False
    if service_host in freepool.hosts:
        return True
    try:
        surroundings.context.cloud.compute.add_host(freepool.id, service_host)
    except CloudConflict:
        return True
    except CloudNotFound:
        _logger.warning("registered host %s is unknown to Nova", service_host)
        return False
    return True


if TYPE_CHECKING:

    def _witnesses(*kinds: type[HostAggregates | ClosedHosts | StrayHosts]) -> tuple[type[Kind], ...]:
        return kinds
