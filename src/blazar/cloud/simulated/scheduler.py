"""Where a new server goes, and what it takes from Placement: a small part of nova-scheduler.

A flavor with extra specs ``resources:CUSTOM_…`` takes that much of the classes from one provider with
room. A plain flavor takes nothing, so hosts are never full for it, and only the rules of BlazarFilter
narrow the choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from blazar.cloud.simulated.placement import bump_generation
from blazar.cloud.simulated.state import CloudState, Consumption, is_visible, known
from blazar.domain.errors import CloudConflict, CloudRefused
from blazar.ports.compute import Aggregate, Flavor, Server

_RESOURCES = "resources:CUSTOM_"
_RESERVATION = "aggregate_instance_extra_specs:reservation"

OWNER_KEY = "blazar:owner"
ZONE_PREFIX = "blazar_"
FREEPOOL = "freepool"


@dataclass(frozen=True, slots=True, kw_only=True)
class BootRequest:
    """What a user asks Nova for.

    ``service_host`` forces a host, as an administrator may; ``reservation_id`` is the scheduler hint
    ``reservation``.
    """

    name: str
    project_id: str
    flavor_id: str
    service_host: str | None = None
    reservation_id: str | None = None


def boot(state: CloudState, request: BootRequest) -> Server:
    """Return a new server, which runs at once.

    Raises:
        CloudNotFound: The forced host does not exist.
        CloudRefused: There is no such flavor for this project.
        CloudConflict: No valid host was found.
    """
    flavor = _usable_flavor(state, request)
    wanted = _custom_resources(flavor)
    for service_host in _hosts(state, request, flavor):
        provider_uuid = _provider_with_room(state, service_host, wanted)
        if wanted and provider_uuid is None:
            continue
        server = Server(
            id=state.new_id(),
            name=request.name,
            project_id=request.project_id,
            service_host=service_host,
            flavor_extra_specs=flavor.extra_specs,
        )
        state.servers[server.id] = server
        state.server_flavors[server.id] = flavor.id
        if provider_uuid is not None:
            _consume(state, server.id, provider_uuid, wanted)
        return server
    raise CloudConflict("no valid host was found")


def _usable_flavor(state: CloudState, request: BootRequest) -> Flavor:
    if not is_visible(state, request.flavor_id, request.project_id):
        raise CloudRefused(f"flavor {request.flavor_id} could not be found")
    return state.flavors[request.flavor_id]


def _custom_resources(flavor: Flavor) -> Mapping[str, int]:
    return {
        key.removeprefix("resources:"): int(amount)
        for key, amount in flavor.extra_specs.items()
        if key.startswith(_RESOURCES)
    }


def _hosts(state: CloudState, request: BootRequest, flavor: Flavor) -> Iterator[str]:
    if request.service_host is not None:
        hosts = {each.service_host: each.service_host for each in state.hypervisors.values()}
        yield known(hosts, request.service_host, "compute host")
        return
    for hypervisor in state.hypervisors.values():
        usable = hypervisor.is_up and hypervisor.is_enabled
        if usable and _passes_filter(state, request, flavor, hypervisor.service_host):
            yield hypervisor.service_host


def _passes_filter(state: CloudState, request: BootRequest, flavor: Flavor, service_host: str) -> bool:
    pools = [each for each in state.aggregates.values() if service_host in each.hosts and _is_pool(each)]
    if request.reservation_id:
        hinted = [each for each in pools if each.name == request.reservation_id]
        return bool(hinted) and _is_open_to(hinted[0], request.project_id)
    return _RESERVATION in flavor.extra_specs or not pools


def _is_pool(aggregate: Aggregate) -> bool:
    return aggregate.name == FREEPOOL or (aggregate.availability_zone or "").startswith(ZONE_PREFIX)


def _is_open_to(pool: Aggregate, project_id: str) -> bool:
    return pool.metadata.get(OWNER_KEY) == project_id or bool(pool.metadata.get(project_id))


def _provider_with_room(state: CloudState, service_host: str, wanted: Mapping[str, int]) -> str | None:
    """Return a provider in the tree of this host that has room for everything wanted."""
    roots = {
        each.hypervisor_hostname for each in state.hypervisors.values() if each.service_host == service_host
    }
    for provider in state.providers.values():
        if state.providers[provider.root_uuid].name not in roots:
            continue
        if all(_has_room(state, provider.uuid, name, amount) for name, amount in wanted.items()):
            return provider.uuid
    return None


def _has_room(state: CloudState, provider_uuid: str, resource_class: str, amount: int) -> bool:
    inventory = state.inventories[provider_uuid].get(resource_class)
    if inventory is None or not inventory.min_unit <= amount <= inventory.max_unit:
        return False
    capacity = (inventory.total - inventory.reserved) * inventory.allocation_ratio
    fits_step = amount % inventory.step_size == 0
    return fits_step and state.used(provider_uuid, resource_class) + amount <= capacity


def _consume(state: CloudState, server_id: str, provider_uuid: str, wanted: Mapping[str, int]) -> None:
    state.consumptions += tuple(
        Consumption(consumer_id=server_id, provider_uuid=provider_uuid, resource_class=name, amount=amount)
        for name, amount in wanted.items()
    )
    if wanted:
        bump_generation(state, provider_uuid)
