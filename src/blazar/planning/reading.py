"""Reading the hosts of the cloud, registered or not, from Nova, Placement and the service's own records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial

from blazar.booking.context import Context
from blazar.domain.errors import InvalidParameter
from blazar.domain.providers import Inventory
from blazar.planning.hosts import UNKNOWN, PlannedHost, Pool, kind_of
from blazar.plugins.hosts.description import diagnose
from blazar.plugins.hosts.host import Host
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.store import HOST_STORE
from blazar.plugins.hosts.zones import pooled_hosts
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Aggregate, Hypervisor, Server

DEFAULT_RACK = "rack"
"""The property that names the rack unless the operator names another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """The names of the properties for the rack and the type of a host."""

    rack_property: str | None = None
    """An extra capability of registered hosts, or a metadata key of aggregates; None for the default."""
    rack_aggregates: str | None = None
    """A pattern of the names of aggregates that are racks, such as ``rack-*``."""
    kind_property: str | None = None
    """An extra capability that names the host type; None for the sizes of the host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudHosts:
    """The hosts of the cloud and the aggregates that they are in."""

    hosts: tuple[PlannedHost, ...]
    """In the order of their names."""
    registered: Mapping[str, Host]
    """By hypervisor host name."""
    hypervisors: Mapping[str, Hypervisor]
    """Of all hosts, by hypervisor host name."""
    zones: Mapping[str, str]
    """Availability zones by service host, also those of reservations."""
    servers: tuple[Server, ...]
    aggregates: tuple[Aggregate, ...]


def read_hosts(context: Context, grouping: Grouping) -> CloudHosts:
    """Return all hosts; several calls of Placement are made for each host that is not registered.

    Raises:
        InvalidParameter: No host and no aggregate has a named property, or no aggregate fits the pattern.
        CloudError: Nova or Placement cannot be read.
    """
    with context.store.read() as transaction:
        providers = transaction.of(HOST_STORE).list_providers()
        registered = {
            each.hypervisor_hostname: replace(each, providers=providers.get(each.id, ()))
            for each in transaction.of(HOST_STORE).list()
        }
    cloud = context.cloud
    found = _Found(context, grouping, registered, cloud.aggregates.list_aggregates())
    hypervisors = {each.hypervisor_hostname: each for each in cloud.hypervisors.list_hypervisors()}
    others = [each for name, each in sorted(hypervisors.items()) if name not in registered]
    amounts = cloud.executor.run([partial(_read_amounts, cloud, each.hypervisor_hostname) for each in others])
    hosts = [
        *(found.registered_host(each, hypervisors.get(name)) for name, each in registered.items()),
        *(found.other_host(each, *has) for each, has in zip(others, amounts, strict=True)),
    ]
    return CloudHosts(
        hosts=tuple(sorted(hosts, key=lambda each: each.name)),
        registered=registered,
        hypervisors=hypervisors,
        zones=found.zones,
        servers=found.servers,
        aggregates=found.aggregates,
    )


def _read_amounts(cloud: Cloud, name: str) -> tuple[Mapping[str, Inventory], Mapping[str, int]]:
    """Return the inventories and the used amounts of the root provider of a host."""
    provider = cloud.placement.find_provider(name)
    if provider is None:
        return {}, {}
    return cloud.placement.get_inventories(provider.uuid).by_class, cloud.placement.get_usages(provider.uuid)


class _Found:
    """The data of the cloud from which each host is made."""

    def __init__(
        self,
        context: Context,
        grouping: Grouping,
        registered: Mapping[str, Host],
        aggregates: tuple[Aggregate, ...],
    ) -> None:
        self.aggregates = aggregates
        settings = context.settings.of(HostSettings)
        self._prefix = settings.availability_zone_prefix
        self._pooled = pooled_hosts(aggregates, settings)
        self.zones = context.cloud.hypervisors.list_availability_zones()
        self.servers = context.cloud.servers.list_servers()
        self._servers_on = Counter(each.service_host for each in self.servers)
        self._racks = _racks(grouping, registered.values(), aggregates)
        self._grouping = grouping
        _check(grouping, registered.values(), aggregates)

    def registered_host(self, host: Host, hypervisor: Hypervisor | None) -> PlannedHost:
        """Return a registered host; Nova may no longer know it."""
        problem = "Nova does not know it" if hypervisor is None else diagnose(hypervisor).problem
        kind = host.capabilities.get(self._grouping.kind_property or "")
        return PlannedHost(
            name=host.hypervisor_hostname,
            service_host=host.service_name,
            zone=host.availability_zone or self._zone(host.service_name),
            rack=host.capabilities.get(self._rack_property) or self._racks.get(host.service_name) or UNKNOWN,
            kind=kind or kind_of(host.vcpus, host.memory_mb, host.local_gb),
            pool=Pool.RESERVABLE,
            resource_id=host.id,
            problem=problem or host.diagnosis.problem,
            inventories=host.providers[0].inventories if host.providers else {},
            servers=self._servers_on[host.service_name],
        )

    def other_host(
        self, hypervisor: Hypervisor, inventories: Mapping[str, Inventory], used: Mapping[str, int]
    ) -> PlannedHost:
        """Return a host that is not registered."""
        is_pooled = hypervisor.service_host in self._pooled
        problem = "in the freepool, but not registered" if is_pooled else diagnose(hypervisor).problem
        return PlannedHost(
            name=hypervisor.hypervisor_hostname,
            service_host=hypervisor.service_host,
            zone=self._zone(hypervisor.service_host),
            rack=self._racks.get(hypervisor.service_host, UNKNOWN),
            kind=kind_of(hypervisor.vcpus, hypervisor.memory_mb, hypervisor.local_gb),
            pool=Pool.RESERVABLE if is_pooled else Pool.GENERAL,
            problem=problem,
            inventories=inventories,
            used=used,
            servers=self._servers_on[hypervisor.service_host],
        )

    @property
    def _rack_property(self) -> str:
        return self._grouping.rack_property or DEFAULT_RACK

    def _zone(self, service_host: str) -> str:
        zone = self.zones.get(service_host, "")
        return UNKNOWN if not zone or zone.startswith(self._prefix) else zone


def _racks(grouping: Grouping, hosts: Iterable[Host], aggregates: Sequence[Aggregate]) -> Mapping[str, str]:
    """Return the racks of service hosts as far as aggregates name them."""
    pattern, key = grouping.rack_aggregates, grouping.rack_property or DEFAULT_RACK
    found: dict[str, str] = {}
    for each in aggregates:
        if pattern is not None and fnmatchcase(each.name, pattern):
            rack = each.name
        elif key in each.metadata:
            rack = each.metadata[key]
        else:
            continue
        for host in each.hosts:
            found.setdefault(host, rack)
    return found


def _check(grouping: Grouping, hosts: Iterable[Host], aggregates: Sequence[Aggregate]) -> None:
    hosts = list(hosts)
    named = {key for each in hosts for key in each.capabilities}
    with_metadata = named | {key for each in aggregates for key in each.metadata}
    if grouping.rack_property is not None and grouping.rack_property not in with_metadata:
        raise InvalidParameter(
            "--rack",
            f"no host has an extra capability and no aggregate a metadata key {grouping.rack_property}",
        )
    if grouping.kind_property is not None and grouping.kind_property not in named:
        raise InvalidParameter("--host-type", f"no host has an extra capability {grouping.kind_property}")
    pattern = grouping.rack_aggregates
    if pattern is not None and not any(fnmatchcase(each.name, pattern) for each in aggregates):
        raise InvalidParameter("--rack-aggregates", f"no aggregate has a name like {pattern}")
