"""The choice of a host for a new server: a small part of nova-scheduler.

The first host is used that is up and enabled, passes the filters, and has room in Placement. The filters are
BlazarFilter and one like AggregateInstanceExtraSpecsFilter, which admits servers of a reservation's flavor
only to hosts in the reservation's aggregate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from blazar.cloud.simulated.candidates import consume, find_candidate, request_of
from blazar.cloud.simulated.state import CloudState, is_visible
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.compute import Aggregate, Flavor, Hypervisor, Server

_RESERVATION = "aggregate_instance_extra_specs:reservation"

OWNER_KEY = "blazar:owner"
ZONE_PREFIX = "blazar_"
FREEPOOL = "freepool"


@dataclass(frozen=True, slots=True, kw_only=True)
class BootRequest:
    """A user's request to Nova.

    ``service_host`` forces a host, as administrators may; ``reservation_id`` is the scheduler hint
    ``reservation``.
    """

    name: str
    project_id: str
    flavor_id: str
    service_host: str | None = None
    reservation_id: str | None = None


def boot(state: CloudState, request: BootRequest) -> Server:
    """Return a new server, which is active at once.

    Raises:
        CloudNotFound: The forced host does not exist.
        CloudRefused: The flavor does not exist for this project.
        CloudConflict: No valid host was found.
    """
    flavor = _usable_flavor(state, request)
    needed = request_of(flavor)
    for hypervisor in _hypervisors(state, request, flavor):
        candidate = find_candidate(state, hypervisor.hypervisor_hostname, needed)
        if candidate is not None:
            server = _place(state, request, flavor, hypervisor.service_host)
            consume(state, server.id, needed, candidate)
            return server
    raise CloudConflict("no valid host was found")


def _usable_flavor(state: CloudState, request: BootRequest) -> Flavor:
    if not is_visible(state, request.flavor_id, request.project_id):
        raise CloudRefused(f"flavor {request.flavor_id} could not be found")
    return state.flavors[request.flavor_id]


def _place(state: CloudState, request: BootRequest, flavor: Flavor, service_host: str) -> Server:
    server = Server(
        id=state.new_id(),
        name=request.name,
        project_id=request.project_id,
        service_host=service_host,
        flavor_extra_specs=flavor.extra_specs,
    )
    state.servers[server.id] = server
    state.server_flavors[server.id] = flavor.id
    return server


def _hypervisors(state: CloudState, request: BootRequest, flavor: Flavor) -> Iterator[Hypervisor]:
    """Yield the hypervisors that a server may run on if they have room."""
    hypervisors = tuple(state.hypervisors.values())
    if request.service_host is None:
        for each in hypervisors:
            if each.is_up and each.is_enabled and _passes_filters(state, request, flavor, each.service_host):
                yield each
        return
    if not state.has_service_host(request.service_host):
        raise CloudNotFound(f"no compute host {request.service_host}")
    yield from (each for each in hypervisors if each.service_host == request.service_host)


def _passes_filters(state: CloudState, request: BootRequest, flavor: Flavor, service_host: str) -> bool:
    aggregates = [each for each in state.aggregates.values() if service_host in each.hosts]
    reservation_id = flavor.extra_specs.get(_RESERVATION)
    if reservation_id is not None and all(each.name != reservation_id for each in aggregates):
        return False
    return _passes_blazar_filter(request, reservation_id, [each for each in aggregates if _is_pool(each)])


def _passes_blazar_filter(request: BootRequest, reservation_id: str | None, pools: list[Aggregate]) -> bool:
    """Return the result of BlazarFilter if preemptible servers are not allowed.

    Args:
        request: The server.
        reservation_id: The reservation of its flavor; None if it has none.
        pools: The pools that the host is in.
    """
    hint = request.reservation_id
    if hint:
        is_open = any(each.name == hint and _is_open_to(each, request.project_id) for each in pools)
        return is_open or hint == reservation_id
    return reservation_id is not None or not pools


def _is_pool(aggregate: Aggregate) -> bool:
    return aggregate.name == FREEPOOL or (aggregate.availability_zone or "").startswith(ZONE_PREFIX)


def _is_open_to(pool: Aggregate, project_id: str) -> bool:
    return pool.metadata.get(OWNER_KEY) == project_id or bool(pool.metadata.get(project_id))
