"""The state file: a new process finds the state of a killed one."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import timedelta
from pathlib import Path

import pytest
from clocks import ManualClock

from blazar.cloud.simulated import (
    FaultKind,
    FaultRule,
    FaultScript,
    HostShape,
    SimulatedCloud,
    SimulatedCrash,
)
from blazar.cloud.simulated.codec import decode, encode, load
from blazar.cloud.simulated.state import CloudState
from blazar.domain.errors import CloudConflict, CloudUnavailable
from blazar.domain.providers import Inventory
from blazar.ports.compute import Flavor, Lessee
from blazar.ports.placement import Inventories
from blazar.ports.segments import Route, Segment

DELETION_TIME = timedelta(seconds=10)


@pytest.fixture
def state_file(tmp_path: Path) -> Path:
    return tmp_path / "cloud.json"


def open_cloud(clock: ManualClock, state_file: Path, faults: FaultScript | None = None) -> SimulatedCloud:
    return SimulatedCloud(clock, server_deletion_time=DELETION_TIME, state_file=state_file, faults=faults)


def fill(cloud: SimulatedCloud) -> None:
    """Create at least one object of each kind."""
    cloud.add_hypervisor("node-1", HostShape(vcpus=8), availability_zone="az1", traits=["HW_CPU_X86_AVX"])
    freepool = cloud.add_aggregate("freepool")
    placement, networks = cloud.placement, cloud.networks
    cloud.aggregates.set_aggregate_metadata(freepool.id, {"key": "value"})
    cloud.aggregates.add_host(freepool.id, "node-1")
    cloud.compute_for(Lessee(project_id="project")).create_server_group("group", "affinity")
    root = placement.find_provider("node-1")
    assert root is not None
    child = placement.create_provider("blazar_node-1", root.uuid)
    placement.create_resource_class("CUSTOM_A")
    units = Inventory(total=2, max_unit=1)
    placement.put_inventories(child.uuid, Inventories(generation=0, by_class={"CUSTOM_A": units}))
    specs = {"resources:CUSTOM_A": "1", "aggregate_instance_extra_specs:reservation": "r"}
    cloud.flavors.create_flavor(Flavor(id="r", name="r", vcpus=1, memory_mb=1, disk_gb=0, extra_specs=specs))
    cloud.flavors.add_flavor_access("r", "project")
    cloud.aggregates.add_host(cloud.aggregates.create_aggregate("r", None, {"reservation": "r"}).id, "node-1")
    server = cloud.boot_server("kept", "project", flavor_id="r")
    cloud.images.create_image(server.id, "image", {"key": "value"})
    cloud.servers.delete_server(cloud.boot_server("going", "project", service_host="node-1").id)
    cloud.add_hypervisor("node-2", HostShape(vcpus=8))
    cloud.resize_server(cloud.boot_server("moving", "project", service_host="node-1").id, "node-2")
    cloud.add_project("project", "physics")
    cloud.add_user("user", "user@example.org")
    cloud.add_trust("user", "project")
    network = cloud.add_network("public")
    subnet = cloud.add_subnet(
        network.id,
        "2001:db8::/64",
        gateway_ip="2001:db8::1",
        allocation_pools=(("2001:db8::2", "2001:db8::9"),),
    )
    floating_ip = networks.create_floating_ip(network.id, subnet.id, "2001:db8::ff", "project")
    networks.set_floating_ip_tags(floating_ip.id, frozenset({"b", "a"}))
    cloud.forward_port(floating_ip.id)
    fill_segments(cloud)
    fill_storage(cloud, server.id)


def fill_segments(cloud: SimulatedCloud) -> None:
    cloud.add_physical_network("physnet1")
    cloud.add_segment_range("vlan", "physnet1", 100, 110)
    cloud.set_network_quota("project", 10)
    segment = Segment(network_type="vlan", physical_network="physnet1", segment_id=201)
    made = cloud.segments.create_network(segment, name="lab", project_id="project")
    cloud.segments.set_network_tags(made.id, frozenset({"b", "a"}))
    parent, child = (cloud.add_port(made.id, "project").id for _ in range(2))
    cloud.add_trunk(parent, frozenset({child}))
    cloud.add_router(made.id, "project", (Route(destination="192.0.2.0/24", nexthop="10.0.0.9"),))


def fill_storage(cloud: SimulatedCloud, server_id: str) -> None:
    cloud.add_storage_pool("block@fast#ssd", 10, capabilities={"media": "ssd"})
    made = cloud.block_storage.create_type("t", "text", {"pool_name": "ssd"})
    cloud.block_storage.add_type_access(made.id, "project")
    cloud.block_storage.set_quotas("project", {"t": 9})
    cloud.block_storage.deletion_time = DELETION_TIME
    kept, given, going, moving, gone = (cloud.create_volume("project", 1, "t").id for _ in range(5))
    cloud.snapshot_volume(kept)
    group = cloud.group_volumes("group", frozenset({made.id}), (kept,))
    cloud.snapshot_group(group.id)
    cloud.attach_volume(kept, server_id, is_root=True)
    detached = cloud.create_volume("project", 1, "t").id
    cloud.attach_volume(detached, server_id)
    cloud.servers.detachment_time = timedelta(minutes=1)
    cloud.servers.detach_volume(server_id, detached)
    cloud.suspend_server(server_id)
    cloud.stop_server(server_id)
    cloud.begin_transfer(given)
    cloud.block_storage.delete_volume(going)
    cloud.serve_project("project")
    copied = cloud.create_volume("project", 1, "t").id
    cloud.block_storage.copy_time = timedelta(minutes=1)
    cloud.storage_in("project").create_backup(copied, "backup", "text")
    cloud.add_storage_pool("block@slow#disk", 10)
    cloud.block_storage.retype_volume(gone, cloud.add_volume_type("ordinary", {"pool_name": "disk"}).id)
    cloud.block_storage.move_time = timedelta(minutes=1)
    cloud.block_storage.retype_volume(moving, made.id)


def test_everything_is_there_again(clock: ManualClock, state_file: Path) -> None:
    first = open_cloud(clock, state_file)
    fill(first)

    second = open_cloud(clock, state_file)

    assert second.hypervisors.list_hypervisors() == first.hypervisors.list_hypervisors()
    assert second.aggregates.list_aggregates() == first.aggregates.list_aggregates()
    assert second.servers.list_servers() == first.servers.list_servers()
    assert second.images.list_images({}) == first.images.list_images({})
    assert second.flavors.find_flavor("r") == first.flavors.find_flavor("r")
    assert second.networks.list_floating_ips() == first.networks.list_floating_ips()
    assert second.block_storage.list_types() == first.block_storage.list_types()
    assert second.block_storage.list_pools() == first.block_storage.list_pools()
    volume_type = second.block_storage.list_types()[0]
    volumes = second.block_storage.list_volumes(volume_type.id)
    assert volumes == first.block_storage.list_volumes(volume_type.id)
    assert [each.status for each in volumes] == [
        "in-use",
        "awaiting-transfer",
        "deleting",
        "retyping",
        "detaching",
        "backing-up",
    ]
    assert second.boot_server("second", "project", flavor_id="r").service_host == "node-1"
    with pytest.raises(CloudConflict):
        second.boot_server("third", "project", flavor_id="r")


def test_no_table_is_left_out_of_the_file(clock: ManualClock, state_file: Path) -> None:
    fill(open_cloud(clock, state_file))

    kept = load(state_file)

    assert [each.name for each in fields(CloudState) if not getattr(kept, each.name)] == []
    assert decode(encode(kept)) == kept


def test_rules_hold_across_a_restart(clock: ManualClock, state_file: Path) -> None:
    open_cloud(clock, state_file).aggregates.create_aggregate("a", None, {})

    cloud = open_cloud(clock, state_file)

    with pytest.raises(CloudConflict):
        cloud.aggregates.create_aggregate("a", None, {})
    (first,) = cloud.aggregates.list_aggregates()
    assert cloud.aggregates.create_aggregate("b", None, {}).id > first.id


def test_a_deletion_goes_on_while_nobody_runs(clock: ManualClock, state_file: Path) -> None:
    first = open_cloud(clock, state_file)
    fill(first)

    clock.advance(DELETION_TIME)
    second = open_cloud(clock, state_file)

    assert [each.name for each in second.servers.list_servers()] == ["kept", "moving"]


def test_an_effect_is_kept_before_a_crash_and_a_lost_reply(clock: ManualClock, state_file: Path) -> None:
    faults = FaultScript(
        [FaultRule(kind=FaultKind.CRASH, nth=1), FaultRule(kind=FaultKind.LOSE_REPLY, nth=2)]
    )
    first = open_cloud(clock, state_file, faults)
    with pytest.raises(SimulatedCrash):
        first.aggregates.create_aggregate("a", None, {})
    with pytest.raises(CloudUnavailable):
        first.aggregates.create_aggregate("b", None, {})

    second = open_cloud(clock, state_file)

    assert [each.name for each in second.aggregates.list_aggregates()] == ["a", "b"]


def test_a_half_written_file_is_ignored(clock: ManualClock, state_file: Path) -> None:
    open_cloud(clock, state_file).add_aggregate("freepool")
    half_written = state_file.with_name(state_file.name + ".new")
    half_written.write_text('{"version": 1, "aggregates": [{"id"')

    cloud = open_cloud(clock, state_file)
    cloud.add_aggregate("other")

    names = [each.name for each in open_cloud(clock, state_file).aggregates.list_aggregates()]
    assert names == ["freepool", "other"]
    assert not half_written.exists()


def test_reading_does_not_write(clock: ManualClock, state_file: Path) -> None:
    cloud = open_cloud(clock, state_file)

    cloud.aggregates.list_aggregates()

    assert cloud.is_empty
    assert not state_file.exists()


def test_a_refused_call_leaves_the_file_as_it_was(clock: ManualClock, state_file: Path) -> None:
    cloud = open_cloud(clock, state_file)
    cloud.add_hypervisor("node-1", availability_zone="az1")
    before = state_file.read_text()

    with pytest.raises(CloudConflict):
        cloud.add_hypervisor("node-2", service_host="node-1", availability_zone="az2")

    cloud.aggregates.list_aggregates()
    assert state_file.read_text() == before
    assert [each.hypervisor_hostname for each in cloud.hypervisors.list_hypervisors()] == ["node-1"]


def test_changes_that_belong_together_are_saved_once(clock: ManualClock, state_file: Path) -> None:
    cloud = open_cloud(clock, state_file)

    with cloud.saved_once():
        cloud.add_hypervisor("node-1")
        cloud.add_hypervisor("node-2")
        assert not state_file.exists()

    assert len(open_cloud(clock, state_file).hypervisors.list_hypervisors()) == 2
    cloud.add_hypervisor("node-3")
    assert len(open_cloud(clock, state_file).hypervisors.list_hypervisors()) == 3


def test_a_cloud_that_cannot_be_saved_is_unavailable(clock: ManualClock, tmp_path: Path) -> None:
    cloud = open_cloud(clock, tmp_path / "missing" / "cloud.json")

    with pytest.raises(CloudUnavailable):
        cloud.aggregates.create_aggregate("a", None, {})


@pytest.mark.parametrize(
    "text",
    ["", "no JSON", "[]", "{}", '{"version": 2}', '{"version": 1}', json.dumps({"version": 1, "serial": 1})],
)
def test_a_file_of_another_kind_is_refused_by_name(clock: ManualClock, state_file: Path, text: str) -> None:
    state_file.write_text(text)

    with pytest.raises(ValueError, match=r"cloud\.json"):
        open_cloud(clock, state_file)
