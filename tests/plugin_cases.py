"""A valid request for each of the service's own plugins, and its resources in a simulated cloud."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from clocks import EPOCH, ManualClock

from blazar.booking.context import Plugin
from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.cloud.simulated.shape import HostShape
from blazar.domain.availability import Resource
from blazar.domain.capacity import Demand, Share
from blazar.domain.interval import Interval
from blazar.domain.lease import LeaseId, ResourceId
from blazar.domain.providers import HostProvider, Inventory
from blazar.domain.requirements import Fact
from blazar.plugins.contract import AllocatedResource, Assignment
from blazar.plugins.flavors.plugin import make_plugin as make_flavors
from blazar.plugins.floatingips.floatingip import FloatingIP
from blazar.plugins.floatingips.plugin import make_plugin as make_floatingips
from blazar.plugins.hosts.plugin import make_plugin as make_hosts
from blazar.plugins.instances.plugin import make_plugin as make_instances
from blazar.plugins.networks.plugin import make_plugin as make_networks
from blazar.plugins.networks.segments import describe_segment
from blazar.plugins.storage_nodes.plugin import make_plugin as make_storage_nodes
from blazar.plugins.volumes.plugin import make_plugin as make_volumes
from blazar.plugins.volumes.pools import GIBIBYTES, describe_pool
from blazar.ports.compute import Flavor, Lessee, LesseeCompute
from blazar.ports.segments import Segment
from blazar.settings import Settings
from blazar_plugin_testing.plugin_env import RESERVATION as RESERVATION
from blazar_plugin_testing.plugin_env import complete_spec

PROJECT = "project"
SHAPE = HostShape(vcpus=8, memory_mb=16_384, local_gb=200)
"""Of every host in :func:`new_cloud`."""
SOURCE = Flavor(
    id="source",
    name="source",
    vcpus=2,
    memory_mb=1024,
    disk_gb=10,
    ephemeral_gb=5,
    is_public=True,
    extra_specs={"trait:HW_CPU_X86_AVX2": "forbidden", "quota:cpu_shares": "10"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginCase:
    """One plugin: how it is made, a body that it accepts, and its resources."""

    make: Callable[[Settings, object], Plugin]
    body: Mapping[str, object]
    furnish: Callable[[SimulatedCloud], tuple[Resource, ...]]
    share: Share | None = None
    """What a reservation holds of each of its resources."""


def lessee_of(cloud: SimulatedCloud) -> LesseeCompute:
    """Return the cloud as the project sees it whose reservations these are."""
    return cloud.compute_for(Lessee(project_id=PROJECT))


def spec_of(plugin: Plugin, case: PluginCase, lessee: LesseeCompute, **keys: object) -> Any:
    """Return the spec of a reservation for which a request has done all that it does; *keys* replace some."""
    return complete_spec(plugin, plugin.parse({**case.body, **keys}), lessee)


def assignment_of(
    plugin: Plugin, case: PluginCase, resources: tuple[Resource, ...], spec: Any = None
) -> Assignment[Any]:
    """Return a reservation of the first two resources; by default, as it was asked for."""
    return Assignment(
        lease_id=LeaseId("lease"),
        reservation_id=RESERVATION,
        project_id=PROJECT,
        window=Interval(EPOCH, EPOCH + timedelta(hours=1)),
        now=EPOCH,
        has_begun=True,
        spec=plugin.parse(case.body) if spec is None else spec,
        resources=tuple(
            AllocatedResource(id=each.id, share=case.share, facts=each.facts) for each in resources[:2]
        ),
    )


def _furnish_hosts(cloud: SimulatedCloud, domain: str = "") -> tuple[Resource, ...]:
    """Add four hosts; the names of their hypervisors are those of their compute services in a domain."""
    freepool = cloud.add_aggregate("freepool")
    found = []
    for number in range(4):
        hypervisor = cloud.add_hypervisor(f"host-{number}{domain}", SHAPE, service_host=f"host-{number}")
        cloud.aggregates.add_host(freepool.id, hypervisor.service_host)
        facts: dict[str, Fact] = {
            "hypervisor_hostname": hypervisor.hypervisor_hostname,
            "service_name": hypervisor.service_host,
            "vcpus": hypervisor.vcpus,
        }
        found.append(
            Resource(
                id=ResourceId(hypervisor.id),
                generation=0,
                is_reservable=True,
                facts=facts,
                size=(1,),
                providers=(_root_provider(cloud, hypervisor.hypervisor_hostname),),
            )
        )
    return tuple(found)


def _furnish_slots(cloud: SimulatedCloud) -> tuple[Resource, ...]:
    """Add four hosts, and the flavor that slots can be like."""
    cloud.flavors.create_flavor(SOURCE)
    return _furnish_hosts(cloud, ".example")


def _root_provider(cloud: SimulatedCloud, name: str) -> HostProvider:
    provider = cloud.placement.find_provider(name)
    assert provider is not None
    inventories = cloud.placement.get_inventories(provider.uuid).by_class
    return HostProvider(
        uuid=provider.uuid,
        name=name,
        inventories={key: Inventory(total=each.total) for key, each in inventories.items()},
    )


def _furnish_floatingips(cloud: SimulatedCloud) -> tuple[Resource, ...]:
    """Add an external network, of which four addresses can be reserved."""
    network = cloud.add_network("public")
    pools = (("203.0.113.10", "203.0.113.99"),)
    subnet = cloud.add_subnet(network.id, "203.0.113.0/24", gateway_ip="203.0.113.1", allocation_pools=pools)
    return tuple(
        FloatingIP(
            id=ResourceId(f"fip-{number}"),
            network_id=network.id,
            subnet_id=subnet.id,
            address=f"203.0.113.{200 + number}",
        ).as_resource()
        for number in range(4)
    )


def _furnish_pools(cloud: SimulatedCloud) -> tuple[Resource, ...]:
    """Add three storage pools."""
    return tuple(
        describe_pool(
            cloud.add_storage_pool(f"block@fast{number}#ssd", 100), 100, {"media": "ssd"}
        ).as_resource()
        for number in range(3)
    )


def _furnish_segments(cloud: SimulatedCloud) -> tuple[Resource, ...]:
    """Add a physical network, of which three VLANs can be reserved."""
    cloud.add_physical_network("physnet1")
    segments = [
        Segment(network_type="vlan", physical_network="physnet1", segment_id=each) for each in (201, 202, 203)
    ]
    return tuple(describe_segment(each, {"fabric": "a"}).as_resource() for each in segments)


def _network_of(cloud: SimulatedCloud) -> str:
    """Return the id of the first network that a cloud is given; ids follow from the order of calls."""
    return cloud.add_network("public").id


def new_cloud() -> SimulatedCloud:
    """Return an empty simulated cloud."""
    return SimulatedCloud(ManualClock())


NETWORK = _network_of(new_cloud())
"""The external network of the floating IPs."""

CASES = {
    "physical:host": PluginCase(
        make=make_hosts,
        body={
            "min": 2,
            "max": "2",
            "hypervisor_properties": '[">=", "$vcpus", "1"]',
            "resource_properties": "",
            "before_end": "snapshot",
        },
        furnish=_furnish_hosts,
    ),
    "virtual:instance": PluginCase(
        make=make_instances,
        body={
            "vcpus": "2",
            "memory_mb": 1024,
            "disk_gb": 0,
            "amount": 6,
            "affinity": None,
            "resource_properties": '[">=", "$vcpus", "1"]',
        },
        furnish=_furnish_slots,
        share=Share(slots=3, demand=Demand.of({"VCPU": 2, "MEMORY_MB": 1024})),
    ),
    "flavor:instance": PluginCase(
        make=make_flavors,
        body={
            "flavor_id": SOURCE.id,
            "amount": 2,
            "affinity": "False",
            "resource_properties": '[">=", "$vcpus", "1"]',
        },
        furnish=_furnish_slots,
        share=Share(slots=1, demand=Demand.of({"VCPU": 2, "MEMORY_MB": 1024, "DISK_GB": 15})),
    ),
    "virtual:floatingip": PluginCase(
        make=make_floatingips,
        body={"network_id": NETWORK, "amount": "2", "required_floatingips": ["203.0.113.201"]},
        furnish=_furnish_floatingips,
    ),
    "virtual:volume": PluginCase(
        make=make_volumes,
        body={
            "gibibytes": "20",
            "amount": 2,
            "affinity": "False",
            "resource_properties": '["==", "$media", "ssd"]',
            "volume_name": "scratch",
        },
        furnish=_furnish_pools,
        share=Share(slots=1, demand=Demand.of({GIBIBYTES: 20})),
    ),
    "physical:storage": PluginCase(
        make=make_storage_nodes,
        body={
            "min": "1",
            "max": 2,
            "resource_properties": '["==", "$media", "ssd"]',
            "volume_name": "scratch",
        },
        furnish=_furnish_pools,
    ),
    "network": PluginCase(
        make=make_networks,
        body={
            "amount": "2",
            "network_name": "lab",
            "network_description": "of a course",
            "network_properties": '["==", "$network_type", "vlan"]',
            "resource_properties": '["==", "$fabric", "a"]',
            "before_end": "default",
        },
        furnish=_furnish_segments,
    ),
}
