"""What Nova and Placement say of a host: at registration, and again and again afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from blazar.booking.context import Context
from blazar.domain.health import SOUND, Diagnosis, Health
from blazar.domain.hosts import Host
from blazar.domain.lease import ResourceId
from blazar.domain.providers import HostInventory, HostProvider
from blazar.plugins.hosts.zones import displaced_hosts
from blazar.plugins.slots.names import provider_name
from blazar.ports.compute import Hypervisor
from blazar.ports.placement import Placement

_AMOUNTS = tuple(each.name for each in fields(HostInventory))


def describe(
    context: Context,
    hypervisor: Hypervisor,
    providers: tuple[HostProvider, ...],
    capabilities: Mapping[str, str],
) -> Host:
    """Return a host as it is to be registered."""
    zone = ""
    if context.settings.hosts.az_aware:
        zone = context.cloud.compute.list_availability_zones().get(hypervisor.service_host, "")
    return Host(
        id=ResourceId(hypervisor.id),
        hypervisor_hostname=hypervisor.hypervisor_hostname,
        service_name=hypervisor.service_host,
        hypervisor_type=hypervisor.hypervisor_type,
        hypervisor_version=hypervisor.hypervisor_version,
        vcpus=hypervisor.vcpus,
        memory_mb=hypervisor.memory_mb,
        local_gb=hypervisor.local_gb,
        cpu_info=hypervisor.cpu_info,
        availability_zone=zone,
        diagnosis=diagnose(hypervisor) if context.settings.monitor.is_enabled else SOUND,
        capabilities=capabilities,
        providers=providers,
        created_at=context.clock.now(),
    )


def diagnose(hypervisor: Hypervisor) -> Diagnosis:
    """Return what a hypervisor's state means: down is failure, and disabled alone is not."""
    service = f"its compute service {hypervisor.service_host}"
    if not hypervisor.is_up:
        return Diagnosis(health=Health.FAILED, problem=f"{service} is down")
    if not hypervisor.is_enabled:
        reason = f": {hypervisor.disabled_reason}" if hypervisor.disabled_reason else ""
        return Diagnosis(health=Health.DISABLED, problem=f"{service} is disabled{reason}")
    return SOUND


def read_providers(
    placement: Placement, hypervisor_hostname: str, root_uuid: str
) -> tuple[HostProvider, ...]:
    """Return a host's tree of providers, the root first; empty if there is no such root.

    The provider that carries its reservations is ours, and no part of what the host has.
    """
    own = provider_name(hypervisor_hostname)
    return tuple(
        HostProvider(
            uuid=each.uuid,
            name=each.name,
            parent_uuid=each.parent_uuid,
            inventories={
                name: HostInventory(**{key: getattr(inventory, key) for key in _AMOUNTS})
                for name, inventory in placement.get_inventories(each.uuid).by_class.items()
            },
            traits=placement.list_traits(each.uuid),
        )
        for each in sorted(
            placement.list_tree(root_uuid), key=lambda each: (each.uuid != root_uuid, each.uuid)
        )
        if each.name != own
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudView:
    """What is known of all hosts at once: their hypervisors, and the zones of those that are at home."""

    hypervisors: Mapping[str, Hypervisor]
    """By their host names."""
    zones: Mapping[str, str]
    """By service host; those that are reserved, or on the way, are left out, since they are elsewhere."""


def look_at_cloud(context: Context) -> CloudView:
    """Return what Nova says now: three requests, and more only where it pages."""
    compute, settings = context.cloud.compute, context.settings.hosts
    hypervisors = {each.hypervisor_hostname: each for each in compute.list_hypervisors()}
    if not settings.az_aware:
        return CloudView(hypervisors=hypervisors, zones={})
    aggregates = compute.list_aggregates()
    pooled = next((each.hosts for each in aggregates if each.name == settings.freepool_name), frozenset())
    away: set[str] = set()
    for each in aggregates:
        if (each.availability_zone or "").startswith(settings.availability_zone_prefix):
            away |= each.hosts | displaced_hosts(each).keys()
    zones = {
        host: zone
        for host, zone in compute.list_availability_zones().items()
        if not zone.startswith(settings.availability_zone_prefix)
    }
    # Hosts are handed over between these two requests, so what the first one says of a zone counts.
    zones |= {
        host: each.availability_zone for each in aggregates if each.availability_zone for host in each.hosts
    }
    return CloudView(
        hypervisors=hypervisors,
        zones={host: zones[host] for host in pooled - away if host in zones},
    )


def redescribe(context: Context, host: Host, view: CloudView) -> Host:
    """Return a registered host as Nova and Placement have it now.

    What they do not know any more stays as it was. So does the name of the compute service: leases
    under way refer to it.
    """
    hypervisor = view.hypervisors.get(host.hypervisor_hostname)
    if hypervisor is None:
        return host
    placement = context.cloud.placement
    providers: tuple[HostProvider, ...] = ()
    if host.providers:
        providers = read_providers(placement, host.hypervisor_hostname, host.providers[0].uuid)
    if not providers:
        root = placement.find_provider(host.hypervisor_hostname)
        providers = read_providers(placement, host.hypervisor_hostname, root.uuid) if root else ()
    return replace(
        host,
        hypervisor_type=hypervisor.hypervisor_type,
        hypervisor_version=hypervisor.hypervisor_version,
        vcpus=hypervisor.vcpus,
        memory_mb=hypervisor.memory_mb,
        local_gb=hypervisor.local_gb,
        cpu_info=hypervisor.cpu_info,
        availability_zone=view.zones.get(host.service_name, host.availability_zone),
        providers=providers or host.providers,
    )
