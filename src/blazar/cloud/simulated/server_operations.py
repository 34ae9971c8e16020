"""Actions of users on the servers of the simulated cloud, beside booting them."""

from __future__ import annotations

from dataclasses import replace

from blazar.cloud.simulated.calls import Calls
from blazar.cloud.simulated.candidates import consume, find_candidate, request_of
from blazar.cloud.simulated.state import CloudState, UnconfirmedResize, known
from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.ports.compute import Server


class ServerOperations:
    """Actions on servers; they are not counted, take no time, and have no faults."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def resize_server(
        self, server_id: str, service_host: str, flavor_id: str | None = None, *, is_finished: bool = True
    ) -> Server:
        """Move a server to another host; until the resize is confirmed, it keeps its room on the former one.

        Args:
            server_id: The server.
            service_host: The host, which the scheduler's filters are assumed to accept.
            flavor_id: The new flavor; None for the present one, as in a cold migration.
            is_finished: Whether the resize can be confirmed or reverted already.

        Returns:
            The server on its new host.

        Raises:
            CloudNotFound: The server or the flavor does not exist.
            CloudConflict: The server has an unconfirmed resize, or the host has no room.
        """
        with self._calls.exclusive() as state:
            server = known(state.servers, server_id, "server")
            if server_id in state.resizes:
                raise CloudConflict(f"server {server_id} has a resize that was not confirmed")
            former_flavor_id = state.server_flavors[server_id]
            flavor = known(state.flavors, flavor_id or former_flavor_id, "flavor")
            needed = request_of(flavor)
            candidate = find_candidate(state, _hypervisor_of(state, service_host), needed)
            if candidate is None:
                raise CloudConflict("no valid host was found")
            resize = UnconfirmedResize(
                former_host=server.service_host,
                former_flavor_id=former_flavor_id,
                consumer_id=state.new_id(),
                is_finished=is_finished,
                at=self._calls.now(),
            )
            state.resizes[server_id] = resize
            _give(state, server_id, resize.consumer_id)
            consume(state, server_id, needed, candidate)
            return _place(state, server, service_host, flavor.id)

    def finish_resize(self, server_id: str) -> None:
        """Let a resize be confirmed or reverted from now on. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            resize = known(state.resizes, server_id, "resize of server")
            state.resizes[server_id] = replace(resize, is_finished=True)

    def revert_resize(self, server_id: str) -> Server:
        """Return a server to the host that it left, which no scheduler is asked about.

        Raises:
            CloudNotFound: The server does not exist.
            CloudConflict: It has no finished resize.
        """
        with self._calls.exclusive() as state:
            server = known(state.servers, server_id, "server")
            resize = state.resizes.get(server_id)
            if resize is None or not resize.is_finished:
                raise CloudConflict(f"server {server_id} has no finished resize")
            del state.resizes[server_id]
            state.consumptions = tuple(each for each in state.consumptions if each.consumer_id != server_id)
            _give(state, resize.consumer_id, server_id)
            return _place(state, server, resize.former_host, resize.former_flavor_id)


def _give(state: CloudState, consumer_id: str, other_id: str) -> None:
    """Move all allocations of a consumer to another one."""
    state.consumptions = tuple(
        replace(each, consumer_id=other_id) if each.consumer_id == consumer_id else each
        for each in state.consumptions
    )


def _place(state: CloudState, server: Server, service_host: str, flavor_id: str) -> Server:
    flavor = state.flavors.get(flavor_id)
    extra_specs = server.flavor_extra_specs if flavor is None else flavor.extra_specs
    placed = replace(server, service_host=service_host, flavor_extra_specs=extra_specs)
    state.servers[server.id] = placed
    state.server_flavors[server.id] = flavor_id
    return placed


def _hypervisor_of(state: CloudState, service_host: str) -> str:
    for each in state.hypervisors.values():
        if each.service_host == service_host:
            return each.hypervisor_hostname
    raise CloudNotFound(f"no compute host {service_host}")
