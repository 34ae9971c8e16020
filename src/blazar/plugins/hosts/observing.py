"""Looking at Nova: what exists for a host reservation."""

from __future__ import annotations

from collections.abc import Iterator

from blazar.domain.lease import ResourceId
from blazar.domain.lifecycle import Phase
from blazar.plugins.contract import Assignment
from blazar.plugins.hosts.items import HostItem, HostsSeen, Kind
from blazar.plugins.hosts.preemption import closings, is_preemptible
from blazar.plugins.hosts.spec import HostSpec
from blazar.plugins.hosts.zones import displaced_hosts
from blazar.ports.compute import Aggregate, Compute
from blazar.settings import HostSettings


class Observation:
    """One look at one reservation."""

    def __init__(
        self, settings: HostSettings, compute: Compute, assignment: Assignment[HostSpec], phase: Phase
    ) -> None:
        self._settings = settings
        self._compute = compute
        self._reservation_id = assignment.reservation_id
        self._project_id = assignment.project_id
        self._phase = phase
        self._scopes = {str(each.facts["service_name"]): each.id for each in assignment.resources}

    def look(self) -> HostsSeen:
        """Return what exists."""
        aggregates = {each.name: each for each in self._compute.list_aggregates()}
        seen = HostsSeen(
            own=aggregates.get(self._reservation_id), freepool=aggregates.get(self._settings.freepool_name)
        )
        items = {*self._closed(seen), *self._unannounced(seen)}
        if seen.own is not None:
            items |= {*self._of_aggregate(seen.own, seen.freepool), *self._servers(seen.own, seen)}
        seen.items = frozenset(items)
        return seen

    def _scope(self, service_host: str) -> str:
        return self._scopes.get(service_host, service_host)

    def _is_to_keep(self, service_host: str) -> bool:
        return self._phase in (Phase.PREPARING, Phase.RUNNING) and service_host in self._scopes

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
        """Yield the hosts that were closed for this reservation and need it no longer."""
        for service_host, closing in closings(seen.freepool).items():
            is_ours = closing.reservation_id == self._reservation_id
            if is_ours and not self._is_on_its_way(service_host, seen):
                yield HostItem(Kind.CLOSED, self._scope(service_host), service_host)

    def _is_on_its_way(self, service_host: str, seen: HostsSeen) -> bool:
        """Return whether a server that comes now would be in the way of taking a host, or giving it back."""
        is_member = seen.own is not None and service_host in seen.own.hosts
        if self._is_to_keep(service_host):
            is_pooled = seen.freepool is not None and service_host in seen.freepool.hosts
            return is_pooled or not is_member
        return is_member or (seen.own is not None and service_host in displaced_hosts(seen.own))

    def _unannounced(self, seen: HostsSeen) -> Iterator[HostItem]:
        """Yield the hosts whose preemptible servers are to be told that a reservation begins soon."""
        if (
            self._phase is not Phase.PREPARING
            or not self._settings.preemption_notice
            or seen.freepool is None
        ):
            return
        closed = closings(seen.freepool)
        for service_host, scope in self._scopes.items():
            # A host that is not in the freepool is somebody's, and so are the servers there.
            if service_host not in seen.freepool.hosts or service_host in closed:
                continue
            servers = self._compute.list_servers(service_host=service_host)
            if any(is_preemptible(each) for each in servers):
                yield HostItem(Kind.UNANNOUNCED, scope, service_host)

    def _servers(self, own: Aggregate, seen: HostsSeen) -> Iterator[HostItem]:
        """Yield the servers that have to go with the reservation."""
        if self._phase is not Phase.OVER:
            return
        hosts: dict[str, ResourceId] = {
            host: scope for host, scope in self._scopes.items() if host in own.hosts
        }
        for service_host, scope in hosts.items():
            for server in self._compute.list_servers(service_host=service_host):
                if server.is_deleting:
                    seen.deleting_servers |= {server.id}
                yield HostItem(Kind.SERVER, scope, service_host, server.id)
