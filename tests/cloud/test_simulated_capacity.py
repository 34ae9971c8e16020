"""The allocations of servers in the simulated cloud, and hosts without enough room."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import pytest
from clocks import ManualClock

from blazar.cloud.simulated import HostShape, SimulatedCloud
from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.domain.providers import Inventory
from blazar.ports.compute import Flavor

PROJECT = "project"
SMALL = HostShape(vcpus=4, memory_mb=4096, local_gb=40)
UNITS = Inventory(total=2, max_unit=2)


@pytest.fixture
def cloud(clock: ManualClock) -> SimulatedCloud:
    """One small host without servers."""
    cloud = SimulatedCloud(clock)
    cloud.add_hypervisor("node", SMALL)
    return cloud


def make_flavor(
    cloud: SimulatedCloud,
    vcpus: int = 1,
    memory_mb: int = 1,
    disk_gb: int = 0,
    ephemeral_gb: int = 0,
    specs: Mapping[str, str] | None = None,
) -> None:
    """Create the public flavor ``f``."""
    cloud.flavors.create_flavor(
        Flavor(
            id="f",
            name="f",
            vcpus=vcpus,
            memory_mb=memory_mb,
            disk_gb=disk_gb,
            ephemeral_gb=ephemeral_gb,
            is_public=True,
            extra_specs=specs or {},
        )
    )


def boot(cloud: SimulatedCloud, service_host: str | None = None) -> str:
    """Return the id of a new server of the flavor ``f``."""
    return cloud.boot_server("server", PROJECT, flavor_id="f", service_host=service_host).id


def count_that_fit(cloud: SimulatedCloud) -> int:
    """Boot servers of the flavor ``f`` until there is no room, and return their number."""
    for count in range(100):
        try:
            boot(cloud)
        except CloudConflict:
            return count
    raise AssertionError("servers take nothing")


def generation(cloud: SimulatedCloud, name: str) -> int:
    provider = cloud.placement.find_provider(name)
    assert provider is not None
    return provider.generation


@pytest.mark.parametrize(
    ("vcpus", "memory_mb", "disk_gb", "ephemeral_gb", "count"),
    [
        (1, 1, 0, 0, 4),
        (3, 1, 0, 0, 1),
        (5, 1, 0, 0, 0),
        (1, 2048, 0, 0, 2),
        (1, 2049, 0, 0, 1),
        (1, 1, 15, 0, 2),
        (1, 1, 10, 11, 1),
    ],
)
def test_what_is_scarcest_says_how_many_servers_fit(
    cloud: SimulatedCloud, vcpus: int, memory_mb: int, disk_gb: int, ephemeral_gb: int, count: int
) -> None:
    make_flavor(cloud, vcpus, memory_mb, disk_gb, ephemeral_gb)

    assert count_that_fit(cloud) == count


def test_overcommit_and_what_is_kept_back_count(clock: ManualClock) -> None:
    cloud = SimulatedCloud(clock)
    ratios, reserved = {"VCPU": 2.5}, {"VCPU": 2}
    cloud.add_hypervisor("node", HostShape(vcpus=5, allocation_ratios=ratios, reserved=reserved))
    make_flavor(cloud)

    # (5 - 2) * 2.5, rounded down.
    assert count_that_fit(cloud) == 7


def test_a_full_host_is_passed_over(cloud: SimulatedCloud) -> None:
    cloud.add_hypervisor("second", SMALL)
    make_flavor(cloud, vcpus=4)

    hosts = [cloud.boot_server(name, PROJECT, flavor_id="f").service_host for name in ("one", "two")]

    assert hosts == ["node", "second"]
    with pytest.raises(CloudConflict):
        boot(cloud)


def test_a_forced_host_that_is_full_is_refused(cloud: SimulatedCloud) -> None:
    cloud.add_hypervisor("second", SMALL)
    make_flavor(cloud, vcpus=4)
    boot(cloud, "node")

    with pytest.raises(CloudConflict):
        boot(cloud, "node")

    assert len(cloud.servers.list_servers()) == 1


def test_a_server_gives_back_all_that_it_took_when_it_is_gone(clock: ManualClock) -> None:
    cloud = SimulatedCloud(clock, server_deletion_time=timedelta(seconds=10))
    cloud.add_hypervisor("node", SMALL)
    cloud.add_provider("node", "device", {"CUSTOM_GPU": Inventory(total=1)})
    make_flavor(cloud, vcpus=4, memory_mb=4096, disk_gb=40, specs={"resources:CUSTOM_GPU": "1"})
    server_id = boot(cloud)

    cloud.servers.delete_server(server_id)

    with pytest.raises(CloudConflict):
        boot(cloud)
    clock.advance(timedelta(seconds=10))
    boot(cloud)


def test_a_server_that_finds_no_room_takes_nothing(cloud: SimulatedCloud) -> None:
    make_flavor(cloud, vcpus=3, specs={"resources:CUSTOM_GPU": "1"})
    before = generation(cloud, "node")

    with pytest.raises(CloudConflict):
        boot(cloud)

    assert generation(cloud, "node") == before
    assert cloud.servers.list_servers() == ()
    cloud.add_provider("node", "device", {"CUSTOM_GPU": Inventory(total=1)})
    boot(cloud)


def test_a_host_without_a_disk_of_its_own_is_asked_for_none(clock: ManualClock) -> None:
    cloud = SimulatedCloud(clock)
    cloud.add_hypervisor("node", HostShape(vcpus=2, local_gb=0))
    make_flavor(cloud, disk_gb=10)

    assert count_that_fit(cloud) == 2


def test_a_disk_that_is_asked_for_by_name_must_be_there(clock: ManualClock) -> None:
    cloud = SimulatedCloud(clock)
    cloud.add_hypervisor("node", HostShape(local_gb=0))
    make_flavor(cloud, specs={"resources:DISK_GB": "1"})

    assert count_that_fit(cloud) == 0


def test_an_extra_spec_stands_for_the_size(cloud: SimulatedCloud) -> None:
    make_flavor(cloud, vcpus=4, specs={"resources:VCPU": "0", "resources:MEMORY_MB": "1024"})

    assert count_that_fit(cloud) == 4


@pytest.mark.parametrize("word", ["many", "-1", "1.5", ""])
def test_an_amount_that_makes_no_sense_is_passed_over(cloud: SimulatedCloud, word: str) -> None:
    make_flavor(cloud, vcpus=2, specs={"resources:VCPU": word, "resources:CUSTOM_GPU": word})

    assert count_that_fit(cloud) == 2


def test_dedicated_processors_are_a_class_of_their_own(clock: ManualClock) -> None:
    cloud = SimulatedCloud(clock)
    cloud.add_hypervisor("shared", HostShape(vcpus=99))
    cloud.add_hypervisor("pinned", HostShape(vcpus=1, other_inventories={"PCPU": Inventory(total=4)}))
    make_flavor(cloud, vcpus=2, specs={"hw:cpu_policy": "dedicated"})

    assert count_that_fit(cloud) == 2
    assert {each.service_host for each in cloud.servers.list_servers()} == {"pinned"}


def test_a_class_may_come_from_below_the_root(cloud: SimulatedCloud) -> None:
    cloud.add_provider("node", "first", {"VGPU": UNITS})
    cloud.add_provider("node", "second", {"VGPU": UNITS})
    make_flavor(cloud, specs={"resources:VGPU": "1"})

    assert count_that_fit(cloud) == 4


def test_one_server_takes_a_class_from_one_provider(cloud: SimulatedCloud) -> None:
    cloud.add_provider("node", "first", {"VGPU": UNITS})
    cloud.add_provider("node", "second", {"VGPU": UNITS})
    make_flavor(cloud, specs={"resources:VGPU": "3"})

    assert count_that_fit(cloud) == 0


def test_two_classes_may_come_from_two_providers(cloud: SimulatedCloud) -> None:
    cloud.add_provider("node", "first", {"VGPU": UNITS})
    cloud.add_provider("node", "second", {"FPGA": UNITS})
    make_flavor(cloud, specs={"resources:VGPU": "1", "resources:FPGA": "2"})
    before = [generation(cloud, name) for name in ("node", "first", "second")]

    assert count_that_fit(cloud) == 1
    assert [generation(cloud, name) for name in ("node", "first", "second")] == [n + 1 for n in before]


def test_another_hosts_providers_are_of_no_use(cloud: SimulatedCloud) -> None:
    cloud.add_hypervisor("second", SMALL)
    cloud.add_provider("second", "device", {"VGPU": UNITS})
    make_flavor(cloud, specs={"resources:VGPU": "1"})

    with pytest.raises(CloudConflict):
        boot(cloud, "node")
    boot(cloud, "second")


@pytest.mark.parametrize(
    ("inventory", "fitting"),
    [
        (Inventory(total=9, min_unit=2), {2, 3, 4}),
        (Inventory(total=9, max_unit=2), {1, 2}),
        (Inventory(total=9, step_size=2), {2, 4}),
    ],
)
def test_a_provider_gives_out_whole_units_only(
    clock: ManualClock, inventory: Inventory, fitting: set[int]
) -> None:
    found = set()
    for amount in (1, 2, 3, 4):
        cloud = SimulatedCloud(clock)
        cloud.add_hypervisor("node", SMALL)
        cloud.add_provider("node", "device", {"VGPU": inventory})
        make_flavor(cloud, specs={"resources:VGPU": str(amount)})
        if count_that_fit(cloud):
            found.add(amount)

    assert found == fitting


@pytest.mark.parametrize(("word", "host"), [("required", "fast"), ("forbidden", "node")])
def test_a_trait_says_which_hosts_will_do(cloud: SimulatedCloud, word: str, host: str) -> None:
    cloud.add_hypervisor("fast", SMALL, traits=["CUSTOM_FAST"])
    make_flavor(cloud, specs={"trait:CUSTOM_FAST": word})

    assert count_that_fit(cloud) == 4
    assert {each.service_host for each in cloud.servers.list_servers()} == {host}


def test_a_required_trait_of_a_device_is_enough(cloud: SimulatedCloud) -> None:
    cloud.add_provider("node", "plain", {"VGPU": UNITS})
    cloud.add_provider("node", "fast", {"VGPU": UNITS}, ["CUSTOM_FAST"])
    make_flavor(cloud, specs={"resources:VGPU": "1", "trait:CUSTOM_FAST": "required"})

    assert count_that_fit(cloud) == 2


def test_a_required_trait_of_a_device_that_is_not_used_is_not_enough(cloud: SimulatedCloud) -> None:
    cloud.add_provider("node", "fast", {"VGPU": UNITS}, ["CUSTOM_FAST"])
    make_flavor(cloud, specs={"trait:CUSTOM_FAST": "required"})

    assert count_that_fit(cloud) == 0


def test_a_device_with_a_forbidden_trait_is_left_alone(cloud: SimulatedCloud) -> None:
    cloud.add_provider("node", "slow", {"VGPU": UNITS}, ["CUSTOM_SLOW"])
    cloud.add_provider("node", "plain", {"VGPU": Inventory(total=1)})
    make_flavor(cloud, specs={"resources:VGPU": "1", "trait:CUSTOM_SLOW": "forbidden"})

    assert count_that_fit(cloud) == 1


def test_a_hosts_traits_are_replaced_as_a_whole(cloud: SimulatedCloud) -> None:
    root = cloud.placement.find_provider("node")
    assert root is not None
    cloud.set_traits("node", ["CUSTOM_ONE", "CUSTOM_TWO"])

    cloud.set_traits("node", ["CUSTOM_TWO", "CUSTOM_THREE"])

    assert cloud.placement.list_traits(root.uuid) == {"CUSTOM_TWO", "CUSTOM_THREE"}
    assert generation(cloud, "node") == root.generation + 2
    assert "VCPU" in cloud.placement.get_inventories(root.uuid).by_class
    with pytest.raises(CloudNotFound):
        cloud.set_traits("missing", [])


def test_a_new_provider_stands_below_its_host_with_all_that_it_has(cloud: SimulatedCloud) -> None:
    made = cloud.add_provider("node", "device", {"CUSTOM_GPU": UNITS}, ["CUSTOM_FAST"])

    root = cloud.placement.find_provider("node")
    assert root is not None
    assert (made.parent_uuid, made.root_uuid) == (root.uuid, root.uuid)
    assert cloud.placement.find_provider("device") == made
    assert dict(cloud.placement.get_inventories(made.uuid).by_class) == {"CUSTOM_GPU": UNITS}
    assert cloud.placement.list_traits(made.uuid) == {"CUSTOM_FAST"}
    assert "CUSTOM_GPU" in cloud.placement.list_resource_classes()


def test_a_provider_needs_a_host_and_a_name_of_its_own(cloud: SimulatedCloud) -> None:
    cloud.add_provider("node", "device", {})

    with pytest.raises(CloudConflict):
        cloud.add_provider("node", "device", {"CUSTOM_GPU": UNITS})
    with pytest.raises(CloudNotFound):
        cloud.add_provider("device", "other", {})

    assert "CUSTOM_GPU" not in cloud.placement.list_resource_classes()
