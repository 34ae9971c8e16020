"""Wanted items of slot reservations, their names, and their observation."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plugin_cases import PROJECT, RESERVATION, SHAPE, SOURCE
from plugins.slot_stage import CLASS, SlotStage

from blazar.domain.lease import ResourceId
from blazar.domain.lifecycle import Phase
from blazar.domain.providers import Inventory
from blazar.plugins.slots.items import Kind, SlotItem

TYPES = ["virtual:instance", "flavor:instance"]


@pytest.fixture(params=TYPES)
def stage(request: pytest.FixtureRequest) -> SlotStage:
    return SlotStage(request.param, affinity=None)


def test_before_anything_begins_only_the_group_is_wanted() -> None:
    with_group, without = SlotStage(affinity=True), SlotStage(affinity=None)

    assert [each.kind for each in with_group.wanted(Phase.AHEAD)] == [Kind.GROUP]
    assert without.wanted(Phase.AHEAD) == frozenset()
    assert {each.kind for each in without.wanted(Phase.PREPARING)} == {
        Kind.FLAVOR,
        Kind.SPECS,
        Kind.AGGREGATE,
        Kind.METADATA,
        Kind.CLASS,
    }


def test_at_the_start_come_the_slots_then_the_hosts_and_access_is_last(stage: SlotStage) -> None:
    added = stage.wanted(Phase.RUNNING) - stage.wanted(Phase.PREPARING)

    kinds = [each.kind for each in sorted(added, key=lambda each: each.rank)]

    assert kinds == [Kind.INVENTORY, Kind.INVENTORY, Kind.MEMBER, Kind.MEMBER, Kind.ACCESS]


def test_the_flavor_is_private_named_after_the_reservation_and_takes_a_slot() -> None:
    stage = SlotStage(affinity=None)
    stage.reach(Phase.PREPARING)

    flavor = stage.flavor
    assert flavor is not None
    assert (flavor.id, flavor.name) == (RESERVATION, f"reservation:{RESERVATION}")
    assert (flavor.vcpus, flavor.memory_mb, flavor.disk_gb, flavor.ephemeral_gb) == (2, 1024, 0, 0)
    assert not flavor.is_public
    assert flavor.extra_specs == {
        "aggregate_instance_extra_specs:reservation": RESERVATION,
        "resources:CUSTOM_RESERVATION_5B0C8F4E_61D7_4F0A_9C55_2D3A7BE01F10": "1",
    }


def test_the_flavor_of_a_flavor_is_like_it() -> None:
    stage = SlotStage("flavor:instance", affinity=None)
    stage.reach(Phase.PREPARING)

    flavor = stage.flavor
    assert flavor is not None
    specs = {key: flavor.extra_specs[key] for key in SOURCE.extra_specs}
    assert replace(flavor, extra_specs=specs) == replace(
        SOURCE, id=RESERVATION, name=f"reservation:{RESERVATION}", is_public=False
    )
    assert len(flavor.extra_specs) == len(SOURCE.extra_specs) + 2


def test_the_aggregate_has_no_zone_and_says_whose_it_is(stage: SlotStage) -> None:
    stage.reach(Phase.PREPARING)

    assert stage.aggregate.availability_zone is None
    assert stage.aggregate.metadata == {
        "reservation": RESERVATION,
        "filter_tenant_id": PROJECT,
        "blazar:owner": PROJECT,
    }


@pytest.mark.parametrize(("affinity", "policy"), [(True, "affinity"), (False, "anti-affinity")])
def test_a_server_group_is_known_to_the_flavor_and_the_aggregate(affinity: bool, policy: str) -> None:
    stage = SlotStage(affinity=affinity)
    stage.reach(Phase.PREPARING)

    (group,) = stage.cloud.compute.list_server_groups()
    assert (group.name, group.policy, group.project_id) == (f"reservation:{RESERVATION}", policy, PROJECT)
    assert stage.aggregate.metadata["affinity_id"] == group.id
    assert stage.flavor is not None
    assert stage.flavor.extra_specs["affinity_id"] == group.id


def test_hosts_have_their_slots_and_stay_in_the_freepool() -> None:
    stage = SlotStage(affinity=None)
    stage.hold(host_0=3, host_1=1)
    stage.reach(Phase.RUNNING)

    assert stage.inventories("host-0") == {CLASS: Inventory(total=3, max_unit=1)}
    assert stage.inventories("host-1") == {CLASS: Inventory(total=1, max_unit=1)}
    assert stage.aggregate.hosts == {"host-0", "host-1"}
    assert stage.aggregate.hosts <= stage.aggregate_named("freepool").hosts
    assert stage.cloud.compute.list_flavor_access(RESERVATION) == {PROJECT}


def test_one_round_of_steps_is_enough_and_makes_no_call_twice(stage: SlotStage) -> None:
    before = stage.cloud.calls
    stage.reach(Phase.RUNNING)
    calls = stage.cloud.calls - before

    assert stage.seen(Phase.RUNNING).items == stage.wanted(Phase.RUNNING)
    once = ("create_flavor", "set_flavor_extra_specs", "create_aggregate", "set_aggregate_metadata")
    assert [calls[f"compute.{name}"] for name in once] == [1, 1, 1, 1]
    assert calls["placement.create_resource_class"] == 1
    assert calls["placement.put_inventories"] == calls["compute.add_host"] == 2


@pytest.mark.parametrize("phase", [Phase.AHEAD, Phase.PREPARING])
def test_three_calls_are_enough_to_look_before_the_start(stage: SlotStage, phase: Phase) -> None:
    stage.reach(Phase.PREPARING)
    before = stage.cloud.calls

    stage.seen(phase)

    assert sum((stage.cloud.calls - before).values()) == 3


def test_one_call_more_looks_at_a_host_and_none_while_there_is_no_resource_class(stage: SlotStage) -> None:
    before = stage.cloud.calls
    stage.seen(Phase.RUNNING)
    assert sum((stage.cloud.calls - before).values()) == 3
    stage.reach(Phase.RUNNING)
    before = stage.cloud.calls

    stage.seen(Phase.RUNNING)

    assert sum((stage.cloud.calls - before).values()) == 4 + len(stage.assignment.resources)


def test_the_aggregates_id_is_noted_while_there_is_one(stage: SlotStage) -> None:
    assert stage.seen(Phase.PREPARING).notes == {}
    stage.reach(Phase.PREPARING)

    assert stage.seen(Phase.PREPARING).notes == {"aggregate_id": stage.aggregate.id}


def test_another_number_of_slots_is_another_item(stage: SlotStage) -> None:
    stage.hold(host_0=3)
    stage.reach(Phase.RUNNING)
    stage.hold(host_0=2)

    changed = stage.seen(Phase.RUNNING).items ^ stage.wanted(Phase.RUNNING)

    assert {(each.kind, each.detail) for each in changed} == {(Kind.INVENTORY, "3"), (Kind.INVENTORY, "2")}


def test_slots_that_somebody_has_altered_are_another_item(stage: SlotStage) -> None:
    stage.reach(Phase.RUNNING)
    provider = stage.cloud.placement.find_provider("blazar_host-0.example")
    assert provider is not None
    present = stage.cloud.placement.get_inventories(provider.uuid)
    altered = {key: replace(each, max_unit=2) for key, each in present.by_class.items()}
    stage.cloud.placement.put_inventories(provider.uuid, replace(present, by_class=altered))

    assert stage.seen(Phase.RUNNING).items != stage.wanted(Phase.RUNNING)
    stage.reach(Phase.RUNNING)
    assert stage.seen(Phase.RUNNING).items == stage.wanted(Phase.RUNNING)


def test_servers_are_looked_for_when_it_is_over_and_belong_to_their_hosts(stage: SlotStage) -> None:
    stage.reach(Phase.RUNNING)
    servers = [stage.boot("host-0"), stage.boot("host-1")]

    seen = stage.seen(Phase.OVER)

    ids = [each.id for each in stage.assignment.resources]
    assert {SlotItem(Kind.SERVERS, each) for each in ids} <= seen.items
    assert {scope: [each.id for each in found] for scope, found in seen.servers.items()} == {
        scope: [server.id] for scope, server in zip(ids, servers, strict=True)
    }
    assert Kind.SERVERS not in {each.kind for each in stage.seen(Phase.RUNNING).items}


def test_servers_on_hosts_that_it_does_not_hold_belong_to_the_reservation(stage: SlotStage) -> None:
    stage.reach(Phase.RUNNING)
    stage.boot("host-1")
    stage.hold(host_0=1)

    assert SlotItem(Kind.SERVERS) in stage.seen(Phase.OVER).items


def test_hosts_that_are_not_held_any_more_are_found_by_the_aggregate(stage: SlotStage) -> None:
    stage.hold(host_0=1, host_1=1)
    stage.reach(Phase.RUNNING)
    stage.hold(host_0=1)

    for phase in (Phase.RUNNING, Phase.OVER):
        assert stage.hosts_of(Kind.MEMBER, phase) == {"host-0", "host-1"}
        assert stage.hosts_of(Kind.INVENTORY, phase) == {"host-0.example", "host-1.example"}
    stranger = next(each for each in stage.seen(Phase.RUNNING).items if each.host == "host-1")
    assert stranger.scope not in {each.id for each in stage.resources}


def test_a_reservation_provider_that_was_replaced_is_found_again(stage: SlotStage) -> None:
    stage.reach(Phase.RUNNING)
    for name in ("blazar_host-0.example", "host-0.example"):
        provider = stage.cloud.placement.find_provider(name)
        assert provider is not None
        stage.cloud.placement.delete_provider(provider.uuid)

    assert stage.hosts_of(Kind.INVENTORY) == {"host-1.example"}
    root = stage.cloud.placement.create_provider("host-0.example", None)
    stage.cloud.placement.create_provider("blazar_host-0.example", root.uuid)
    stage.reach(Phase.RUNNING)
    assert stage.hosts_of(Kind.INVENTORY) == {"host-0.example", "host-1.example"}


def test_several_hypervisors_of_one_compute_service_are_several_hosts() -> None:
    stage = SlotStage(affinity=None)
    twin = stage.cloud.add_hypervisor("twin.example", SHAPE, service_host="host-0")
    first = stage.assignment.resources[0]
    facts = {**first.facts, "hypervisor_hostname": twin.hypervisor_hostname}
    stage.assignment = replace(
        stage.assignment, resources=(first, replace(first, id=ResourceId(twin.id), facts=facts))
    )

    stage.reach(Phase.RUNNING)

    assert stage.seen(Phase.RUNNING).items == stage.wanted(Phase.RUNNING)
