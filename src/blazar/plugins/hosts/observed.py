"""Observation of a host reservation in Nova."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial

from blazar.domain.circuit_breaker import CircuitBreaker
from blazar.domain.errors import CloudUnavailable
from blazar.domain.lifecycle import Phase
from blazar.plugins.contract import Assignment
from blazar.plugins.hosts.items import HostItem, HostsSeen, Kind
from blazar.plugins.hosts.preemption import closings, is_preemptible
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.spec import HostSpec
from blazar.plugins.hosts.zones import displaced_hosts
from blazar.plugins.resizes import find_resizes
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Aggregate, Server


class Observation:
    """One observation of one reservation."""

    def __init__(
        self, settings: HostSettings, cloud: Cloud, assignment: Assignment[HostSpec], phase: Phase
    ) -> None:
        self._settings = settings
        self._cloud = cloud
        self._reservation_id = assignment.reservation_id
        self._project_id = assignment.project_id
        self._assignment = assignment
        self._phase = phase
        self._scopes = {str(each.facts["service_name"]): each.id for each in assignment.resources}

    def look(self) -> HostsSeen:
        """Return the items that exist."""
        names = (self._reservation_id, self._settings.freepool_name)
        aggregates = {each.name: each for each in self._cloud.aggregates.list_aggregates(names)}
        seen = HostsSeen(
            own=aggregates.get(self._reservation_id), freepool=aggregates.get(self._settings.freepool_name)
        )
        items = {*self._in_aggregates(seen), *self._unannounced(seen)}
        if seen.own is not None:
            items.update(self._servers(seen.own, seen))
        seen.items = frozenset(items)
        return seen

    def look_at_answers(self, seen: HostsSeen) -> HostsSeen | None:
        """Return the items that exist by the aggregates in *seen*, or None if more has to be read."""
        if self._phase is Phase.OVER or self._may_notify:
            return None
        return replace(seen, items=frozenset(self._in_aggregates(seen)))

    @property
    def _may_notify(self) -> bool:
        """Return whether preemptible servers are notified of the coming reservation."""
        return self._phase is Phase.PREPARING and bool(self._settings.preemption_notice)

    def _scope(self, service_host: str) -> str:
        return self._scopes.get(service_host, service_host)

    def _is_to_keep(self, service_host: str) -> bool:
        return self._phase in (Phase.PREPARING, Phase.RUNNING) and service_host in self._scopes

    def _in_aggregates(self, seen: HostsSeen) -> Iterator[HostItem]:
        yield from self._closed(seen)
        if seen.own is not None:
            yield from self._of_aggregate(seen.own, seen.freepool)

    def _of_aggregate(self, own: Aggregate, freepool: Aggregate | None) -> Iterator[HostItem]:
        yield HostItem(Kind.AGGREGATE)
        if own.metadata.get(self._settings.owner_key) == self._project_id:
            yield HostItem(Kind.OWNER)
        for service_host in own.hosts:
            yield HostItem(Kind.MEMBER, self._scope(service_host), service_host)
            if freepool is None or service_host not in freepool.hosts:
                yield HostItem(Kind.WITHDRAWN, self._scope(service_host), service_host)
        for service_host in displaced_hosts(own):
            if not self._is_to_keep(service_host):
                yield HostItem(Kind.DISPLACED, self._scope(service_host), service_host)

    def _closed(self, seen: HostsSeen) -> Iterator[HostItem]:
        """Yield the hosts that were closed for this reservation and no longer need to be."""
        for service_host, closing in closings(seen.freepool).items():
            is_ours = closing.reservation_id == self._reservation_id
            if is_ours and not self._is_on_its_way(service_host, seen):
                yield HostItem(Kind.CLOSED, self._scope(service_host), service_host)

    def _is_on_its_way(self, service_host: str, seen: HostsSeen) -> bool:
        """Return whether a server that arrived now would delay the handover or the release of a host."""
        is_member = seen.own is not None and service_host in seen.own.hosts
        if self._is_to_keep(service_host):
            is_pooled = seen.freepool is not None and service_host in seen.freepool.hosts
            return is_pooled or not is_member
        return is_member or (seen.own is not None and service_host in displaced_hosts(seen.own))

    def _unannounced(self, seen: HostsSeen) -> Iterator[HostItem]:
        """Yield the hosts whose preemptible servers must be notified of the coming reservation."""
        if not self._may_notify or seen.freepool is None:
            return
        # A host outside the freepool is reserved, and its servers belong to that lessee.
        open_hosts = (self._scopes.keys() & seen.freepool.hosts) - closings(seen.freepool).keys()
        for service_host, servers in self._servers_on(open_hosts):
            if servers is None or any(is_preemptible(each) for each in servers):
                yield HostItem(Kind.UNANNOUNCED, self._scope(service_host), service_host)

    def _servers(self, own: Aggregate, seen: HostsSeen) -> Iterator[HostItem]:
        """Yield the servers that must be deleted with the reservation."""
        if self._phase is not Phase.OVER:
            return
        for service_host, servers in self._servers_in(own, self._scopes.keys() & own.hosts):
            if servers is None:
                yield HostItem(Kind.SERVER, self._scope(service_host), service_host)
            for server in servers or ():
                seen.servers[server.id] = server
                if server.is_deleting:
                    seen.deleting_servers |= {server.id}
                yield HostItem(Kind.SERVER, self._scope(service_host), service_host, server.id)
        if not seen.servers:
            yield from self._resizes(own, seen)

    def _resizes(self, own: Aggregate, seen: HostsSeen) -> Iterator[HostItem]:
        """Yield the resizes away from hosts that are about to be released; one request."""
        for each in find_resizes(self._cloud, self._assignment, self._scopes.keys() & own.hosts):
            seen.resizes[each.server_id] = each
            yield HostItem(Kind.RESIZE, self._scope(each.former_host), each.former_host, each.server_id)

    def _servers_in(
        self, own: Aggregate, service_hosts: Collection[str]
    ) -> Iterable[tuple[str, tuple[Server, ...] | None]]:
        """Return the servers by host, or None if Nova did not answer; one request for all hosts of a zone.

        A server in another zone, which Nova's rules exclude, would be missing. Then Nova does not let the
        host leave the zone, and its servers are read.
        """
        if own.availability_zone is None or len(service_hosts) <= 1:
            return self._servers_on(service_hosts)
        found: dict[str, list[Server]] = {each: [] for each in sorted(service_hosts)}
        try:
            servers = self._cloud.servers.list_servers(zone=own.availability_zone)
        except CloudUnavailable:
            return [(each, None) for each in found]
        for each in servers:
            if each.service_host in found:
                found[each.service_host].append(each)
        return [(service_host, tuple(there)) for service_host, there in found.items()]

    def _servers_on(self, service_hosts: Iterable[str]) -> Iterator[tuple[str, tuple[Server, ...] | None]]:
        """Yield the servers by host, or None if Nova did not answer; one request for each host."""
        hosts, breaker = sorted(service_hosts), CircuitBreaker()
        looks = [partial(self._cloud.servers.list_servers, service_host=each) for each in hosts]
        found = self._cloud.executor.run([partial(breaker.call, each) for each in looks])
        for service_host, servers in zip(hosts, found, strict=True):
            yield service_host, None if isinstance(servers, CloudUnavailable) else servers
