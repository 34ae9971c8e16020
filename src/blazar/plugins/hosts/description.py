"""The description of a host in Nova and Placement, read at registration and at each refresh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from blazar.domain.health import HEALTHY, Diagnosis, Health
from blazar.domain.lease import ResourceId
from blazar.domain.providers import HostProvider
from blazar.plugins.hosts.aggregate_properties import aggregate_properties
from blazar.plugins.hosts.host import Host
from blazar.plugins.hosts.settings import HostSettings, MonitorSettings
from blazar.plugins.hosts.zones import displaced_hosts, is_of_reservation, pooled_hosts
from blazar.plugins.slots.names import provider_name
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Aggregate, Hypervisor
from blazar.ports.placement import Placement
from blazar.settings import Settings


def describe(
    cloud: Cloud,
    settings: Settings,
    hypervisor: Hypervisor,
    providers: tuple[HostProvider, ...],
    capabilities: Mapping[str, str],
    created_at: datetime,
) -> Host:
    """Return a host as it will be registered."""
    own, zone = settings.of(HostSettings), ""
    aggregates = cloud.aggregates.list_aggregates() if own.aggregate_properties else ()
    derived = aggregate_properties(aggregates, own, [hypervisor.service_host])[hypervisor.service_host]
    if own.az_aware:
        zone = cloud.hypervisors.list_availability_zones().get(hypervisor.service_host, "")
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
        diagnosis=diagnose(hypervisor) if settings.of(MonitorSettings).is_enabled else HEALTHY,
        capabilities=_with_changes(capabilities, derived),
        providers=providers,
        created_at=created_at,
    )


def diagnose(hypervisor: Hypervisor) -> Diagnosis:
    """Return the diagnosis of a hypervisor: down means failed, disabled alone does not."""
    service = f"its compute service {hypervisor.service_host}"
    if not hypervisor.is_up:
        return Diagnosis(health=Health.FAILED, problem=f"{service} is down")
    if not hypervisor.is_enabled:
        reason = f": {hypervisor.disabled_reason}" if hypervisor.disabled_reason else ""
        return Diagnosis(health=Health.DISABLED, problem=f"{service} is disabled{reason}")
    return HEALTHY


def read_providers(
    placement: Placement, hypervisor_hostname: str, root_uuid: str
) -> tuple[HostProvider, ...]:
    """Return a host's provider tree, root first; empty if the root does not exist.

    The provider that carries the host's reservations belongs to this service and is left out.
    """
    own = provider_name(hypervisor_hostname)
    return tuple(
        HostProvider(
            uuid=each.uuid,
            name=each.name,
            parent_uuid=each.parent_uuid,
            inventories=placement.get_inventories(each.uuid).by_class,
            traits=placement.list_traits(each.uuid),
        )
        for each in sorted(
            placement.list_tree(root_uuid), key=lambda each: (each.uuid != root_uuid, each.uuid)
        )
        if each.name != own
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudView:
    """The hypervisors of all hosts, with the zones and properties that follow from aggregates."""

    hypervisors: Mapping[str, Hypervisor]
    """By hypervisor host name."""
    zones: Mapping[str, str]
    """By service host. Hosts that are reserved or being moved are left out: their zone is not their own."""
    properties: Mapping[str, Mapping[str, str | None]]
    """The extra capabilities that follow from aggregates, by service host; None for one to be removed."""


def view_cloud(cloud: Cloud, settings: HostSettings) -> CloudView:
    """Return the current state of all hosts in Nova: three requests, more only if Nova paginates."""
    hypervisors = {each.hypervisor_hostname: each for each in cloud.hypervisors.list_hypervisors()}
    if not settings.az_aware and not settings.aggregate_properties:
        return CloudView(hypervisors=hypervisors, zones={}, properties={})
    aggregates = cloud.aggregates.list_aggregates()
    return CloudView(
        hypervisors=hypervisors,
        zones=_own_zones(cloud, settings, aggregates) if settings.az_aware else {},
        properties=aggregate_properties(
            aggregates, settings, [each.service_host for each in hypervisors.values()]
        ),
    )


def _own_zones(cloud: Cloud, settings: HostSettings, aggregates: Sequence[Aggregate]) -> Mapping[str, str]:
    """Return the zones of the hosts in the freepool, by service host."""
    pooled = pooled_hosts(aggregates, settings)
    away: set[str] = set()
    for each in aggregates:
        if is_of_reservation(each, settings):
            away |= each.hosts | displaced_hosts(each).keys()
    zones = {
        host: zone
        for host, zone in cloud.hypervisors.list_availability_zones().items()
        if not zone.startswith(settings.availability_zone_prefix)
    }
    # Hosts may move between these two requests; for a zone, the first response takes precedence.
    zones |= {
        host: each.availability_zone for each in aggregates if each.availability_zone for host in each.hosts
    }
    return {host: zones[host] for host in pooled - away if host in zones}


def redescribe(placement: Placement, host: Host, view: CloudView) -> Host:
    """Return a registered host updated from Nova and Placement.

    Facts that Nova and Placement no longer report stay unchanged. So does the name of the compute service,
    because active leases refer to it.
    """
    hypervisor = view.hypervisors.get(host.hypervisor_hostname)
    if hypervisor is None:
        return host
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
        capabilities=_with_changes(host.capabilities, view.properties.get(host.service_name, {})),
        providers=providers or host.providers,
    )


def _with_changes(capabilities: Mapping[str, str], changes: Mapping[str, str | None]) -> Mapping[str, str]:
    """Return capabilities with some values replaced; None removes one."""
    merged = {**capabilities, **changes}
    return {name: value for name, value in merged.items() if value is not None}
