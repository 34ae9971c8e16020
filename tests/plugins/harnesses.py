"""Harnesses of the service's own plugins for the contract suite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from plugin_cases import CASES, NETWORK, SHAPE, SOURCE

from blazar.booking.context import Plugin
from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.manager.service import ManagerService
from blazar.plugins.contract import JsonObject
from blazar.plugins.flavors.plugin import Flavors
from blazar.plugins.floatingips.plugin import FloatingIPs
from blazar.plugins.hosts.plugin import Hosts
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.instances.plugin import Instances
from blazar.plugins.networks.plugin import Networks
from blazar.plugins.slots.names import provider_name
from blazar.plugins.storage_nodes.plugin import StorageNodes
from blazar.plugins.volumes.plugin import Volumes
from blazar.plugins.volumes.settings import VolumeSettings
from blazar.ports.compute import Flavor, Lessee
from blazar.ports.segments import Segment
from blazar_plugin_testing import CloudEnv, Harness
from blazar_plugin_testing.service_env import LESSEE

HOSTS = tuple(f"host-{number}" for number in range(4))
ADDRESSES = tuple(f"203.0.113.{200 + number}" for number in range(4))
VLANS = tuple(range(201, 205))
POOLS = tuple(f"block{number}@fast{number}#ssd" for number in range(3))
STRANGE_ID = "11111111-2222-4333-8444-555555555555"
"""An id in the form of a reservation id."""


class CloudHarness(Harness):
    """A harness for plugins that work on the simulated cloud."""

    def snapshot(self, env: CloudEnv) -> object:
        cloud, networks = env.cloud, env.cloud.networks
        aggregates = [
            (each.name, each.availability_zone, sorted(each.hosts), sorted(each.metadata.items()))
            for each in cloud.aggregates.list_aggregates()
        ]
        return {
            "aggregates": sorted(aggregates, key=str),
            "flavors": sorted((each.id, each.name) for each in cloud.flavors.list_flavors()),
            "groups": sorted(each.name for each in cloud.server_groups.list_server_groups()),
            "classes": sorted(env.cloud.placement.list_resource_classes()),
            "inventories": list(_inventories(env.cloud)),
            "networks": sorted(
                (each.name, each.project_id, str(each.segment), sorted(each.tags))
                for each in cloud.segments.list_networks()
            ),
            "types": sorted(_volume_types(cloud)),
            "addresses": sorted(
                (each.address, each.project_id, sorted(each.tags)) for each in networks.list_floating_ips()
            ),
        }


def _volume_types(cloud: SimulatedCloud) -> Iterator[tuple[str, list[str], list[int]]]:
    storage = cloud.block_storage
    for each in storage.list_types():
        sizes = [volume.size for volume in storage.list_volumes(each.id)]
        yield each.name, sorted(storage.list_type_access(each.id)), sizes


def _inventories(cloud: SimulatedCloud) -> Iterator[tuple[str, str, int]]:
    for name in HOSTS:
        provider = cloud.placement.find_provider(provider_name(name))
        if provider is not None:
            for key, each in cloud.placement.get_inventories(provider.uuid).by_class.items():
                yield name, key, each.total


class HostsHarness(CloudHarness):
    """``physical:host``: four hosts."""

    body: ClassVar[JsonObject] = CASES["physical:host"].body
    changes: ClassVar[JsonObject] = {"max": 3}
    everything: ClassVar[JsonObject] = {"min": 4, "max": 4}
    less: ClassVar[JsonObject | None] = {"min": 1, "max": 1}
    refused: ClassVar[tuple[tuple[str, JsonObject], ...]] = (
        ("min", {"min": 0}),
        ("max", {"max": "many"}),
        ("min", {"min": 3}),
        ("hypervisor_properties", {"hypervisor_properties": "("}),
        ("resource_properties", {"resource_properties": '["==", "$no_such_property", "1"]'}),
        ("before_end", {"before_end": "party"}),
    )

    def set_up(self, env: CloudEnv) -> None:
        env.cloud.add_aggregate("freepool")
        for name in HOSTS:
            env.cloud.add_hypervisor(name, SHAPE)

    def register(self, service: ManagerService) -> None:
        for name in HOSTS:
            service.create_host(LESSEE, {"name": name})

    def make_plugin(self, env: CloudEnv) -> Plugin:
        return Hosts(HostSettings())

    def put_strangers(self, env: CloudEnv) -> None:
        env.cloud.add_aggregate(STRANGE_ID, "foreign zone")
        aggregate = env.cloud.add_aggregate("blazar_foreign", "blazar_zone")
        env.cloud.aggregates.set_aggregate_metadata(aggregate.id, {"blazar:owner": "foreign"})


class SlotsHarness(HostsHarness):
    """The common part of both slot types: the hosts, and a flavor."""

    def set_up(self, env: CloudEnv) -> None:
        super().set_up(env)
        env.cloud.flavors.create_flavor(SOURCE)

    def put_strangers(self, env: CloudEnv) -> None:
        super().put_strangers(env)
        flavor = Flavor(id=STRANGE_ID, name="foreign", vcpus=1, memory_mb=1, disk_gb=0)
        env.cloud.flavors.create_flavor(flavor)
        env.cloud.compute_for(Lessee(project_id="x")).create_server_group("reservation:mine", "affinity")
        env.cloud.placement.create_resource_class("CUSTOM_RESERVATION_OF_SOMEBODY")


class InstancesHarness(SlotsHarness):
    """``virtual:instance``: room for sixteen slots."""

    body: ClassVar[JsonObject] = CASES["virtual:instance"].body
    changes: ClassVar[JsonObject] = {"amount": "5"}
    everything: ClassVar[JsonObject] = {"amount": 16}
    less: ClassVar[JsonObject | None] = {"amount": 3}
    refused: ClassVar[tuple[tuple[str, JsonObject], ...]] = (
        ("vcpus", {"vcpus": -1}),
        ("memory_mb", {"memory_mb": "much"}),
        ("amount", {"amount": 0}),
        ("affinity", {"affinity": "maybe"}),
        ("resource_properties", {"resource_properties": "("}),
    )

    def make_plugin(self, env: CloudEnv) -> Plugin:
        return Instances(HostSettings())


class FlavorsHarness(SlotsHarness):
    """``flavor:instance``: room for sixteen slots, or for four on different hosts."""

    body: ClassVar[JsonObject] = CASES["flavor:instance"].body
    changes: ClassVar[JsonObject] = {"affinity": True}
    everything: ClassVar[JsonObject] = {"amount": 16, "affinity": None}
    less: ClassVar[JsonObject | None] = {"amount": 1}
    refused: ClassVar[tuple[tuple[str, JsonObject], ...]] = (
        ("flavor_id", {"flavor_id": "none"}),
        ("amount", {"amount": []}),
        ("affinity", {"affinity": "maybe"}),
    )

    def make_plugin(self, env: CloudEnv) -> Plugin:
        return Flavors(HostSettings())


class FloatingIPsHarness(CloudHarness):
    """``virtual:floatingip``: four addresses."""

    body: ClassVar[JsonObject] = {"network_id": NETWORK, "amount": "2", "required_floatingips": []}
    changes: ClassVar[JsonObject] = {"amount": 3}
    everything: ClassVar[JsonObject] = {"amount": 4}
    less: ClassVar[JsonObject | None] = {"amount": 1}
    refused: ClassVar[tuple[tuple[str, JsonObject], ...]] = (
        ("network_id", {"network_id": "none"}),
        ("amount", {"amount": -1}),
        ("required_floatingips", {"required_floatingips": ["here"]}),
        ("required_floatingips", {"required_floatingips": ["203.0.113.99"]}),
    )

    def set_up(self, env: CloudEnv) -> None:
        network = env.cloud.add_network("public")
        assert network.id == NETWORK
        pools = (("203.0.113.10", "203.0.113.99"),)
        env.cloud.add_subnet(network.id, "203.0.113.0/24", gateway_ip="203.0.113.1", allocation_pools=pools)

    def register(self, service: ManagerService) -> None:
        for address in ADDRESSES:
            service.create_floatingip(
                LESSEE, {"floating_network_id": NETWORK, "floating_ip_address": address}
            )

    def make_plugin(self, env: CloudEnv) -> Plugin:
        return FloatingIPs()

    def put_strangers(self, env: CloudEnv) -> None:
        (subnet,) = env.cloud.networks.list_subnets(NETWORK)
        for address, tags in (("203.0.113.20", {"blazar"}), ("203.0.113.21", {"reservation:mine", "blazar"})):
            found = env.cloud.networks.create_floating_ip(NETWORK, subnet.id, address, "stranger")
            env.cloud.networks.set_floating_ip_tags(found.id, frozenset(tags))


class VolumesHarness(CloudHarness):
    """``virtual:volume``: three pools of 100 GiB."""

    body: ClassVar[JsonObject] = CASES["virtual:volume"].body
    changes: ClassVar[JsonObject] = {"gibibytes": "30"}
    everything: ClassVar[JsonObject] = {"gibibytes": 100, "amount": 3}
    less: ClassVar[JsonObject | None] = {"gibibytes": 10, "amount": 1}
    refused: ClassVar[tuple[tuple[str, JsonObject], ...]] = (
        ("gibibytes", {"gibibytes": 0}),
        ("gibibytes", {"gibibytes": "huge"}),
        ("gibibytes", {"gibibytes": 2**31}),
        ("amount", {"amount": -1}),
        ("affinity", {"affinity": "maybe"}),
        ("resource_properties", {"resource_properties": "("}),
        ("resource_properties", {"resource_properties": '["==", "$no_such_property", "1"]'}),
        ("volume_name", {"volume_name": "a\u0000b"}),
        ("end_action", {"end_action": "burn"}),
        ("end_action", {"end_action": "retain"}),
        ("end_action", {"end_action": "freeze"}),
    )

    def set_up(self, env: CloudEnv) -> None:
        for name in POOLS:
            env.cloud.add_storage_pool(name, 100, capabilities={"media": "ssd"})

    def register(self, service: ManagerService) -> None:
        for name in POOLS:
            service.create_resource(LESSEE, "storage-pool", {"name": name})

    def make_plugin(self, env: CloudEnv) -> Plugin:
        return Volumes(VolumeSettings())

    def put_strangers(self, env: CloudEnv) -> None:
        cloud = env.cloud
        cloud.add_storage_pool("block9@other#shared", 100)
        specs = {"volume_backend_name": "other"}
        cloud.add_volume_type(f"reservation:{STRANGE_ID}:12345678", specs)
        cloud.block_storage.create_type("reservation:mine", "", specs)
        cloud.create_volume("stranger", 5, f"reservation:{STRANGE_ID}:12345678")


class StorageNodesHarness(VolumesHarness):
    """``physical:storage``: the same pools."""

    body: ClassVar[JsonObject] = CASES["physical:storage"].body
    changes: ClassVar[JsonObject] = {"max": 3}
    everything: ClassVar[JsonObject] = {"min": 3, "max": 3}
    less: ClassVar[JsonObject | None] = {"min": 1, "max": 1}
    refused: ClassVar[tuple[tuple[str, JsonObject], ...]] = (
        ("min", {"min": 0}),
        ("max", {"max": "many"}),
        ("max", {"max": 2**31}),
        ("min", {"min": 3}),
        ("resource_properties", {"resource_properties": "("}),
        ("resource_properties", {"resource_properties": '["==", "$no_such_property", "1"]'}),
        ("volume_name", {"volume_name": "a\u0000b"}),
        ("before_end", {"before_end": "party"}),
        ("end_action", {"end_action": "burn"}),
        ("end_action", {"end_action": "retain"}),
        ("end_action", {"end_action": "freeze"}),
    )

    def make_plugin(self, env: CloudEnv) -> Plugin:
        return StorageNodes(VolumeSettings())


class NetworksHarness(CloudHarness):
    """``network``: four VLANs."""

    body: ClassVar[JsonObject] = CASES["network"].body
    changes: ClassVar[JsonObject] = {"amount": "3"}
    everything: ClassVar[JsonObject] = {"amount": 4}
    less: ClassVar[JsonObject | None] = {"amount": 1}
    refused: ClassVar[tuple[tuple[str, JsonObject], ...]] = (
        ("amount", {"amount": 0}),
        ("amount", {"amount": "many"}),
        ("amount", {"amount": 2**31}),
        ("network_name", {"network_name": "a\u0000b"}),
        ("network_name", {"network_name": "x" * 201}),
        ("network_description", {"network_description": 7}),
        ("network_properties", {"network_properties": "("}),
        ("resource_properties", {"resource_properties": '["==", "$no_such_property", "1"]'}),
        ("before_end", {"before_end": "snapshot"}),
    )

    def set_up(self, env: CloudEnv) -> None:
        env.cloud.add_physical_network("physnet1")
        env.cloud.add_segment_range("vlan", "physnet1", 100, 110)

    def register(self, service: ManagerService) -> None:
        body = {"network_type": "vlan", "physical_network": "physnet1", "fabric": "a"}
        service.create_resources(LESSEE, "network", {**body, "segment_id": f"{VLANS[0]}-{VLANS[-1]}"})

    def make_plugin(self, env: CloudEnv) -> Plugin:
        return Networks()

    def put_strangers(self, env: CloudEnv) -> None:
        segments = env.cloud.segments
        for number, tags in ((120, {"blazar"}), (121, {f"reservation:{STRANGE_ID}", "blazar"})):
            segment = Segment(network_type="vlan", physical_network="physnet1", segment_id=number)
            made = segments.create_network(segment, name="strange", project_id="stranger")
            segments.set_network_tags(made.id, frozenset(tags))
