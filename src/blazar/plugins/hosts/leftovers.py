"""Leftovers of host reservations: aggregates, hosts outside any aggregate, and closed hosts."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import ClassVar

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.domain.lease import ResourceId, is_canonical_id
from blazar.plugins.hosts.preemption import closings, open_host
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.store import HOST_STORE
from blazar.plugins.hosts.zones import displaced_hosts, return_to_zone
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.ports.compute import Aggregate

_logger = logging.getLogger(__name__)


class HostAggregates:
    """Aggregates with a reservation's own availability zone.

    An aggregate whose hosts still run servers cannot be emptied, and stays.
    """

    name: ClassVar[str] = "aggregate"

    def __init__(self, sweep: Sweep, settings: HostSettings) -> None:
        self._sweep = sweep
        self._settings = settings
        self._marked: Mapping[str, Aggregate] = {}

    def candidates(self) -> Mapping[str, str | None]:
        """Return the aggregates, which are named after their reservations."""
        prefix = self._settings.availability_zone_prefix
        self._marked = {
            each.name: each
            for each in self._sweep.aggregates()
            if is_canonical_id(each.name) and each.availability_zone == f"{prefix}{each.name}"
        }
        return {name: name for name in self._marked}

    def remove(self, name: str) -> bool:
        """Return an aggregate's hosts to the freepool, and delete the aggregate.

        A host that still runs servers keeps its place, and is in no freepool.

        Raises:
            CloudConflict: Some host still runs servers.
        """
        aggregate, cloud = self._marked[name], self._sweep.cloud
        registered = _registered_hosts(self._sweep)
        for service_host in sorted(aggregate.hosts):
            if service_host in registered and not _return_host(self._sweep, self._settings, service_host):
                return False
            try:
                with suppress(CloudNotFound):
                    cloud.aggregates.remove_host(aggregate.id, service_host)
            except CloudConflict:
                self._take_back(service_host)
                raise
        for service_host in displaced_hosts(aggregate):
            return_to_zone(cloud, aggregate, service_host)
        cloud.aggregates.delete_aggregate(aggregate.id)
        return True

    def _take_back(self, service_host: str) -> None:
        """Remove a host from the freepool: it must not be in another aggregate at the same time."""
        freepool = _find_freepool(self._sweep, self._settings)
        if freepool is not None:
            with suppress(CloudNotFound):
                self._sweep.cloud.aggregates.remove_host(freepool.id, service_host)


class ClosedHosts:
    """Hosts of the freepool that are closed to preemptible servers for a reservation."""

    name: ClassVar[str] = "closed"

    def __init__(self, sweep: Sweep, settings: HostSettings) -> None:
        self._sweep = sweep
        self._settings = settings

    def candidates(self) -> Mapping[str, str | None]:
        """Return the compute services of closed hosts."""
        closed = closings(_find_freepool(self._sweep, self._settings))
        return {service_host: each.reservation_id for service_host, each in closed.items()}

    def remove(self, name: str) -> bool:
        """Reopen a host."""
        freepool = _find_freepool(self._sweep, self._settings)
        if freepool is not None:
            open_host(self._sweep.cloud, freepool, name)
        return freepool is not None


class StrayHosts:
    """Registered hosts that are neither in the freepool nor in a reservation's aggregate."""

    name: ClassVar[str] = "host"

    def __init__(self, sweep: Sweep, settings: HostSettings) -> None:
        self._sweep = sweep
        self._settings = settings

    def candidates(self) -> Mapping[str, str | None]:
        """Return the compute services of these hosts."""
        settings = self._settings
        placed: set[str] = set()
        for each in self._sweep.aggregates():
            zone = each.availability_zone or ""
            if each.name == settings.freepool_name or zone.startswith(settings.availability_zone_prefix):
                placed |= each.hosts
        registered = _registered_hosts(self._sweep, self._sweep.outside_pool())
        return {service_host: None for service_host in sorted(registered) if service_host not in placed}

    def remove(self, name: str) -> bool:
        """Put a host into the freepool."""
        return _return_host(self._sweep, self._settings, name)


def _registered_hosts(sweep: Sweep, excluded: Collection[ResourceId] = ()) -> frozenset[str]:
    """Return the compute services of the hosts that are registered now."""
    with sweep.store.read() as transaction:
        hosts = transaction.of(HOST_STORE).list()
    return frozenset(each.service_name for each in hosts if each.id not in excluded)


def _find_freepool(sweep: Sweep, settings: HostSettings) -> Aggregate | None:
    return next((each for each in sweep.aggregates() if each.name == settings.freepool_name), None)


def _return_host(sweep: Sweep, settings: HostSettings, service_host: str) -> bool:
    """Add a host to the freepool if needed; return whether it is there."""
    freepool = _find_freepool(sweep, settings)
    if freepool is None:
        return False
    if service_host in freepool.hosts:
        return True
    try:
        sweep.cloud.aggregates.add_host(freepool.id, service_host)
    except CloudConflict:
        return True
    except CloudNotFound:
        _logger.warning("registered host is unknown to Nova: host=%s", service_host)
        return False
    return True


def host_leftovers(sweep: Sweep, settings: HostSettings) -> tuple[LeftoverKind, ...]:
    """Return the kinds in the order in which their leftovers are removed."""
    return (HostAggregates(sweep, settings), ClosedHosts(sweep, settings), StrayHosts(sweep, settings))
