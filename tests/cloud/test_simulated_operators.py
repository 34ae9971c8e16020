"""Operators and users of the simulated cloud: changes of hosts, and the scheduling of servers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from clocks import ManualClock

from blazar.cloud.simulated import HostShape, SimulatedCloud
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.domain.providers import Inventory
from blazar.ports.compute import Aggregate, Flavor, Server
from blazar.ports.placement import Inventories

OWNER = "project"


@pytest.fixture
def reserved(simulated: SimulatedCloud) -> Aggregate:
    """A running host reservation of OWNER on node-2; node-1 is unreserved."""
    made = simulated.aggregates.create_aggregate("reservation", "blazar_reservation", {"blazar:owner": OWNER})
    simulated.aggregates.add_host(made.id, "node-2")
    return made


def boot_slot(cloud: SimulatedCloud, project_id: str = OWNER, service_host: str | None = None) -> Server:
    return cloud.boot_server("server", project_id, flavor_id="slots", service_host=service_host)


def make_slots(cloud: SimulatedCloud, **totals: int) -> None:
    """Reserve so many slots per host (``node_1=2``), for OWNER."""
    specs = {"resources:CUSTOM_SLOT": "1", "aggregate_instance_extra_specs:reservation": "slots"}
    cloud.flavors.create_flavor(
        Flavor(id="slots", name="slots", vcpus=1, memory_mb=1, disk_gb=0, extra_specs=specs)
    )
    cloud.flavors.add_flavor_access("slots", OWNER)
    cloud.placement.create_resource_class("CUSTOM_SLOT")
    aggregate = cloud.aggregates.create_aggregate("slots", None, {"reservation": "slots"})
    for node, total in totals.items():
        host = node.replace("_", "-")
        cloud.aggregates.add_host(aggregate.id, host)
        root = cloud.placement.find_provider(host)
        assert root is not None
        child = cloud.placement.create_provider(f"blazar_{host}", root.uuid)
        slots = {"CUSTOM_SLOT": Inventory(total=total, max_unit=1)}
        cloud.placement.put_inventories(child.uuid, Inventories(generation=0, by_class=slots))


def test_a_hypervisor_brings_its_provider_with_it(clock: ManualClock) -> None:
    cloud = SimulatedCloud(clock)
    shape = HostShape(
        vcpus=8,
        memory_mb=4096,
        local_gb=0,
        allocation_ratios={"VCPU": 16.0},
        reserved={"MEMORY_MB": 512},
        other_inventories={"PCPU": Inventory(total=4)},
    )

    made = cloud.add_hypervisor("node", shape, service_host="service", traits=["HW_CPU_X86_AVX"])

    assert (made.vcpus, made.memory_mb, made.local_gb) == (8, 4096, 0)
    provider = cloud.placement.find_provider("node")
    assert provider is not None
    assert cloud.placement.list_traits(provider.uuid) == {"HW_CPU_X86_AVX"}
    assert dict(cloud.placement.get_inventories(provider.uuid).by_class) == {
        "VCPU": Inventory(total=8, max_unit=8, allocation_ratio=16.0),
        "MEMORY_MB": Inventory(total=4096, reserved=512, max_unit=4096),
        "PCPU": Inventory(total=4),
    }


def test_hosts_of_one_zone_share_an_aggregate(clock: ManualClock) -> None:
    cloud = SimulatedCloud(clock)

    cloud.add_hypervisor("one", availability_zone="az1")
    cloud.add_hypervisor("two", availability_zone="az1")
    cloud.add_hypervisor("three")

    (aggregate,) = cloud.aggregates.list_aggregates()
    assert aggregate.availability_zone == "az1"
    assert aggregate.hosts == {"one", "two"}
    assert cloud.hypervisors.list_availability_zones()["two"] == "az1"
    assert cloud.hypervisors.list_availability_zones()["three"] == "nova"


def test_several_hypervisors_may_have_one_service(clock: ManualClock) -> None:
    cloud = SimulatedCloud(clock)

    for name in ("metal-1", "metal-2"):
        cloud.add_hypervisor(name, service_host="ironic", availability_zone="az1")

    assert {each.service_host for each in cloud.hypervisors.list_hypervisors()} == {"ironic"}


def test_a_hypervisor_name_is_given_once(simulated: SimulatedCloud) -> None:
    simulated.placement.create_provider("taken", None)

    with pytest.raises(CloudConflict):
        simulated.add_hypervisor("node-1")
    with pytest.raises(CloudConflict):
        simulated.add_hypervisor("taken")

    assert len(simulated.hypervisors.list_hypervisors()) == 2


def test_a_host_breaks_and_is_mended(simulated: SimulatedCloud) -> None:
    broken = simulated.set_host_state("node-1", is_up=False)
    disabled = simulated.set_host_state("node-1", is_enabled=False)
    mended = simulated.set_host_state("node-1", is_up=True, is_enabled=True)

    assert (broken.is_up, broken.is_enabled) == (False, True)
    assert (disabled.is_up, disabled.is_enabled) == (False, False)
    assert simulated.hypervisors.find_hypervisor("node-1") == mended
    with pytest.raises(CloudNotFound):
        simulated.set_host_state("missing", is_up=True)


def test_a_removed_hypervisor_leaves_nothing(simulated: SimulatedCloud) -> None:
    freepool = simulated.add_aggregate("freepool")
    simulated.aggregates.add_host(freepool.id, "node-1")
    make_slots(simulated, node_1=1)

    simulated.remove_hypervisor("node-1")

    assert simulated.hypervisors.find_hypervisor("node-1") is None
    assert simulated.placement.find_provider("node-1") is None
    assert simulated.placement.find_provider("blazar_node-1") is None
    assert [each.hosts for each in simulated.aggregates.list_aggregates()] == [frozenset(), frozenset()]
    assert simulated.hypervisors.list_availability_zones().get("node-1") is None


def test_a_hypervisor_with_servers_is_not_removed(simulated: SimulatedCloud) -> None:
    simulated.boot_server("server", OWNER, service_host="node-1")

    with pytest.raises(CloudConflict):
        simulated.remove_hypervisor("node-1")


def test_a_cloud_is_empty_until_something_is_put_into_it(clock: ManualClock) -> None:
    cloud = SimulatedCloud(clock)
    before = cloud.is_empty

    cloud.add_network("public")

    assert (before, cloud.is_empty) == (True, False)


def test_the_same_calls_give_the_same_ids(clock: ManualClock) -> None:
    first, second = (SimulatedCloud(clock).add_hypervisor("node-1") for _ in range(2))

    assert first == second


def test_a_floating_ip_is_made_in_external_networks_only(simulated: SimulatedCloud) -> None:
    inner = simulated.add_network("inner", is_external=False)
    subnet = simulated.add_subnet(inner.id, "10.0.0.0/24")

    with pytest.raises(CloudRefused):
        simulated.networks.create_floating_ip(inner.id, subnet.id, "10.0.0.9", OWNER)


def test_an_address_that_is_none_is_refused(simulated: SimulatedCloud) -> None:
    network = simulated.add_network("public")
    subnet = simulated.add_subnet(network.id, "203.0.113.0/24")

    with pytest.raises(CloudRefused):
        simulated.networks.create_floating_ip(network.id, subnet.id, "203.0.113.256", OWNER)
    with pytest.raises(CloudRefused):
        simulated.networks.create_floating_ip(network.id, subnet.id, "2001:db8::1", OWNER)


def test_a_subnet_of_another_network_is_not_found(simulated: SimulatedCloud) -> None:
    one, two = (simulated.add_network(name) for name in ("one", "two"))
    subnet = simulated.add_subnet(one.id, "203.0.113.0/24")

    with pytest.raises(CloudNotFound):
        simulated.networks.create_floating_ip(two.id, subnet.id, "203.0.113.9", OWNER)


def test_the_zone_of_an_aggregate_is_not_changed_by_metadata(simulated: SimulatedCloud) -> None:
    made = simulated.add_aggregate("a", "zone")

    with pytest.raises(CloudRefused):
        simulated.aggregates.set_aggregate_metadata(made.id, {"availability_zone": "other"})


def test_a_server_goes_where_it_is_forced_to(simulated: SimulatedCloud) -> None:
    assert simulated.boot_server("server", OWNER, service_host="node-2").service_host == "node-2"
    with pytest.raises(CloudNotFound):
        simulated.boot_server("server", OWNER, service_host="missing")


def test_a_plain_server_avoids_pools(simulated: SimulatedCloud, reserved: Aggregate) -> None:
    assert simulated.boot_server("server", OWNER).service_host == "node-1"

    freepool = simulated.add_aggregate("freepool")
    simulated.aggregates.add_host(freepool.id, "node-1")

    with pytest.raises(CloudConflict):
        simulated.boot_server("server", OWNER)


def test_a_plain_server_avoids_hosts_that_are_down_or_disabled(simulated: SimulatedCloud) -> None:
    simulated.set_host_state("node-1", is_up=False)

    assert simulated.boot_server("server", OWNER).service_host == "node-2"

    simulated.set_host_state("node-2", is_enabled=False)
    with pytest.raises(CloudConflict):
        simulated.boot_server("server", OWNER)


def test_the_hint_of_a_reservation_leads_its_owner_to_its_hosts(
    simulated: SimulatedCloud, reserved: Aggregate
) -> None:
    server = simulated.boot_server("server", OWNER, reservation_id="reservation")

    assert server.service_host == "node-2"
    with pytest.raises(CloudConflict):
        simulated.boot_server("server", "stranger", reservation_id="reservation")
    with pytest.raises(CloudConflict):
        simulated.boot_server("server", OWNER, reservation_id="another")


def test_a_project_named_in_the_metadata_may_use_a_reservation(
    simulated: SimulatedCloud, reserved: Aggregate
) -> None:
    simulated.aggregates.set_aggregate_metadata(reserved.id, {"friend": "1"})

    assert simulated.boot_server("server", "friend", reservation_id="reservation").service_host == "node-2"


def test_reserved_slots_are_filled_and_then_there_is_no_room(simulated: SimulatedCloud) -> None:
    make_slots(simulated, node_1=1, node_2=2)

    hosts = [boot_slot(simulated).service_host for _ in range(3)]

    assert hosts == ["node-1", "node-2", "node-2"]
    with pytest.raises(CloudConflict):
        boot_slot(simulated)


def test_a_slot_is_free_again_when_its_server_is_gone(simulated: SimulatedCloud) -> None:
    make_slots(simulated, node_1=1)
    server = boot_slot(simulated)

    simulated.servers.delete_server(server.id)

    assert boot_slot(simulated).service_host == "node-1"


def test_a_forced_host_needs_room_too(simulated: SimulatedCloud) -> None:
    make_slots(simulated, node_1=1)

    with pytest.raises(CloudConflict):
        boot_slot(simulated, service_host="node-2")


def test_a_reservations_flavor_needs_a_host_of_its_aggregate(simulated: SimulatedCloud) -> None:
    make_slots(simulated, node_1=1, node_2=1)
    (aggregate,) = simulated.aggregates.list_aggregates()
    freepool = simulated.add_aggregate("freepool")
    simulated.aggregates.add_host(freepool.id, "node-2")

    simulated.aggregates.remove_host(aggregate.id, "node-1")

    assert boot_slot(simulated).service_host == "node-2"
    with pytest.raises(CloudConflict):
        boot_slot(simulated)
    assert boot_slot(simulated, service_host="node-1").service_host == "node-1"


def test_a_hint_goes_with_the_flavor_of_the_reservation_that_it_names(
    simulated: SimulatedCloud, reserved: Aggregate
) -> None:
    make_slots(simulated, node_1=1)

    def boot(hint: str) -> str:
        made = simulated.boot_server("server", OWNER, flavor_id="slots", reservation_id=hint)
        return made.service_host

    for hint in ("reservation", "another"):
        with pytest.raises(CloudConflict):
            boot(hint)
    assert boot("slots") == "node-1"


def test_a_private_flavor_is_for_projects_with_access(simulated: SimulatedCloud) -> None:
    make_slots(simulated, node_1=1)

    with pytest.raises(CloudRefused):
        boot_slot(simulated, project_id="stranger")
    with pytest.raises(CloudRefused):
        simulated.boot_server("server", OWNER, flavor_id="missing")


def test_networks_and_subnets_change_and_go(simulated: SimulatedCloud) -> None:
    networks = simulated.networks
    public, other = (simulated.add_network(name) for name in ("public", "other"))
    subnets = [simulated.add_subnet(public.id, cidr) for cidr in ("203.0.113.0/24", "198.51.100.0/24")]
    kept = simulated.add_subnet(other.id, "192.0.2.0/24")

    changed = simulated.set_allocation_pools(subnets[0].id, (("203.0.113.5", "203.0.113.9"),))
    simulated.set_network_external(public.id, False)
    assert networks.list_subnets(public.id) == (changed, subnets[1])
    assert networks.find_network(public.id) == replace(public, is_external=False)

    simulated.remove_subnet(subnets[1].id)
    assert networks.list_subnets(public.id) == (changed,)
    simulated.remove_network(public.id)
    assert networks.find_network(public.id) is None
    assert networks.list_subnets(public.id) == ()
    assert networks.list_subnets(other.id) == (kept,)
    for act in (simulated.remove_network, simulated.remove_subnet):
        with pytest.raises(CloudNotFound):
            act("nothing")
