"""Wanted items of slot reservations, their names, and their observation."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plugin_cases import PROJECT, RESERVATION, SHAPE, SOURCE
from plugins.slot_env import CLASS, SlotEnv

from blazar.domain.lease import ResourceId
from blazar.domain.lifecycle import Phase
from blazar.domain.providers import Inventory
from blazar.plugins.slots.items import Kind, SlotItem

TYPES = ["virtual:instance", "flavor:instance"]


@pytest.fixture(params=TYPES)
def env(request: pytest.FixtureRequest) -> SlotEnv:
    return SlotEnv(request.param, affinity=None)


def test_before_anything_begins_only_the_group_is_wanted() -> None:
    with_group, without = SlotEnv(affinity=True), SlotEnv(affinity=None)

    assert [each.kind for each in with_group.wanted(Phase.AHEAD)] == [Kind.GROUP]
    assert without.wanted(Phase.AHEAD) == frozenset()
    assert {each.kind for each in without.wanted(Phase.PREPARING)} == {
        Kind.FLAVOR,
        Kind.SPECS,
        Kind.AGGREGATE,
        Kind.METADATA,
        Kind.CLASS,
    }


def test_at_the_start_come_the_slots_then_the_hosts_and_access_is_last(env: SlotEnv) -> None:
    added = env.wanted(Phase.RUNNING) - env.wanted(Phase.PREPARING)

    kinds = [each.kind for each in sorted(added, key=lambda each: each.rank)]

    assert kinds == [Kind.INVENTORY, Kind.INVENTORY, Kind.MEMBER, Kind.MEMBER, Kind.ACCESS]


def test_the_flavor_is_private_named_after_the_reservation_and_takes_a_slot() -> None:
    env = SlotEnv(affinity=None)
    env.reach(Phase.PREPARING)

    flavor = env.flavor
    assert flavor is not None
    assert (flavor.id, flavor.name) == (RESERVATION, f"reservation:{RESERVATION}")
    assert (flavor.vcpus, flavor.memory_mb, flavor.disk_gb, flavor.ephemeral_gb) == (2, 1024, 0, 0)
    assert not flavor.is_public
    assert flavor.extra_specs == {
        "aggregate_instance_extra_specs:reservation": RESERVATION,
        "resources:CUSTOM_RESERVATION_5B0C8F4E_61D7_4F0A_9C55_2D3A7BE01F10": "1",
    }


def test_the_flavor_of_a_flavor_is_like_it() -> None:
    env = SlotEnv("flavor:instance", affinity=None)
    env.reach(Phase.PREPARING)

    flavor = env.flavor
    assert flavor is not None
    specs = {key: flavor.extra_specs[key] for key in SOURCE.extra_specs}
    assert replace(flavor, extra_specs=specs) == replace(
        SOURCE, id=RESERVATION, name=f"reservation:{RESERVATION}", is_public=False
    )
    assert len(flavor.extra_specs) == len(SOURCE.extra_specs) + 2


def test_the_aggregate_has_no_zone_and_says_whose_it_is(env: SlotEnv) -> None:
    env.reach(Phase.PREPARING)

    assert env.aggregate.availability_zone is None
    assert env.aggregate.metadata == {
        "reservation": RESERVATION,
        "filter_tenant_id": PROJECT,
        "blazar:owner": PROJECT,
    }


@pytest.mark.parametrize(("affinity", "policy"), [(True, "affinity"), (False, "anti-affinity")])
def test_a_server_group_is_known_to_the_flavor_and_the_aggregate(affinity: bool, policy: str) -> None:
    env = SlotEnv(affinity=affinity)
    env.reach(Phase.PREPARING)

    (group,) = env.cloud.server_groups.list_server_groups()
    assert (group.name, group.policy, group.project_id) == (f"reservation:{RESERVATION}", policy, PROJECT)
    assert env.aggregate.metadata["affinity_id"] == group.id
    assert env.flavor is not None
    assert env.flavor.extra_specs["affinity_id"] == group.id


def test_hosts_have_their_slots_and_stay_in_the_freepool() -> None:
    env = SlotEnv(affinity=None)
    env.hold(host_0=3, host_1=1)
    env.reach(Phase.RUNNING)

    assert env.inventories("host-0") == {CLASS: Inventory(total=3, max_unit=1)}
    assert env.inventories("host-1") == {CLASS: Inventory(total=1, max_unit=1)}
    assert env.aggregate.hosts == {"host-0", "host-1"}
    assert env.aggregate.hosts <= env.aggregate_named("freepool").hosts
    assert env.cloud.flavors.list_flavor_access(RESERVATION) == {PROJECT}


def test_one_round_of_steps_is_enough_and_makes_no_call_twice(env: SlotEnv) -> None:
    before = env.cloud.calls
    env.reach(Phase.RUNNING)
    calls = env.cloud.calls - before

    assert env.seen(Phase.RUNNING).items == env.wanted(Phase.RUNNING)
    once = ("create_flavor", "set_flavor_extra_specs", "create_aggregate", "set_aggregate_metadata")
    assert [calls[f"compute.{name}"] for name in once] == [1, 1, 1, 1]
    assert calls["placement.create_resource_class"] == 1
    assert calls["placement.put_inventories"] == calls["compute.add_host"] == 2


@pytest.mark.parametrize("phase", [Phase.AHEAD, Phase.PREPARING])
def test_three_calls_are_enough_to_look_before_the_start(env: SlotEnv, phase: Phase) -> None:
    env.reach(Phase.PREPARING)
    before = env.cloud.calls

    env.seen(phase)

    assert sum((env.cloud.calls - before).values()) == 3


def test_one_call_more_looks_at_a_host_and_none_while_there_is_no_resource_class(env: SlotEnv) -> None:
    before = env.cloud.calls
    env.seen(Phase.RUNNING)
    assert sum((env.cloud.calls - before).values()) == 3
    env.reach(Phase.RUNNING)
    before = env.cloud.calls

    env.seen(Phase.RUNNING)

    assert sum((env.cloud.calls - before).values()) == 4 + len(env.assignment.resources)


def test_the_aggregates_id_is_noted_while_there_is_one(env: SlotEnv) -> None:
    assert env.seen(Phase.PREPARING).notes == {}
    env.reach(Phase.PREPARING)

    assert env.seen(Phase.PREPARING).notes == {"aggregate_id": env.aggregate.id}


def test_another_number_of_slots_is_another_item(env: SlotEnv) -> None:
    env.hold(host_0=3)
    env.reach(Phase.RUNNING)
    env.hold(host_0=2)

    changed = env.seen(Phase.RUNNING).items ^ env.wanted(Phase.RUNNING)

    assert {(each.kind, each.detail) for each in changed} == {(Kind.INVENTORY, "3"), (Kind.INVENTORY, "2")}


def test_slots_that_somebody_has_altered_are_another_item(env: SlotEnv) -> None:
    env.reach(Phase.RUNNING)
    provider = env.cloud.placement.find_provider("blazar_host-0.example")
    assert provider is not None
    present = env.cloud.placement.get_inventories(provider.uuid)
    altered = {key: replace(each, max_unit=2) for key, each in present.by_class.items()}
    env.cloud.placement.put_inventories(provider.uuid, replace(present, by_class=altered))

    assert env.seen(Phase.RUNNING).items != env.wanted(Phase.RUNNING)
    env.reach(Phase.RUNNING)
    assert env.seen(Phase.RUNNING).items == env.wanted(Phase.RUNNING)


def test_servers_are_looked_for_when_it_is_over_and_belong_to_their_hosts(env: SlotEnv) -> None:
    env.reach(Phase.RUNNING)
    servers = [env.boot("host-0"), env.boot("host-1")]

    seen = env.seen(Phase.OVER)

    ids = [each.id for each in env.assignment.resources]
    assert {SlotItem(Kind.SERVERS, each) for each in ids} <= seen.items
    assert {scope: [each.id for each in found] for scope, found in seen.servers.items()} == {
        scope: [server.id] for scope, server in zip(ids, servers, strict=True)
    }
    assert Kind.SERVERS not in {each.kind for each in env.seen(Phase.RUNNING).items}


def test_servers_on_hosts_that_it_does_not_hold_belong_to_the_reservation(env: SlotEnv) -> None:
    env.reach(Phase.RUNNING)
    env.boot("host-1")
    env.hold(host_0=1)

    assert SlotItem(Kind.SERVERS) in env.seen(Phase.OVER).items


def test_hosts_that_are_not_held_any_more_are_found_by_the_aggregate(env: SlotEnv) -> None:
    env.hold(host_0=1, host_1=1)
    env.reach(Phase.RUNNING)
    env.hold(host_0=1)

    for phase in (Phase.RUNNING, Phase.OVER):
        assert env.hosts_of(Kind.MEMBER, phase) == {"host-0", "host-1"}
        assert env.hosts_of(Kind.INVENTORY, phase) == {"host-0.example", "host-1.example"}
    stranger = next(each for each in env.seen(Phase.RUNNING).items if each.host == "host-1")
    assert stranger.scope not in {each.id for each in env.resources}


def test_a_reservation_provider_that_was_replaced_is_found_again(env: SlotEnv) -> None:
    env.reach(Phase.RUNNING)
    for name in ("blazar_host-0.example", "host-0.example"):
        provider = env.cloud.placement.find_provider(name)
        assert provider is not None
        env.cloud.placement.delete_provider(provider.uuid)

    assert env.hosts_of(Kind.INVENTORY) == {"host-1.example"}
    root = env.cloud.placement.create_provider("host-0.example", None)
    env.cloud.placement.create_provider("blazar_host-0.example", root.uuid)
    env.reach(Phase.RUNNING)
    assert env.hosts_of(Kind.INVENTORY) == {"host-0.example", "host-1.example"}


def test_several_hypervisors_of_one_compute_service_are_several_hosts() -> None:
    env = SlotEnv(affinity=None)
    twin = env.cloud.add_hypervisor("twin.example", SHAPE, service_host="host-0")
    first = env.assignment.resources[0]
    facts = {**first.facts, "hypervisor_hostname": twin.hypervisor_hostname}
    env.assignment = replace(
        env.assignment, resources=(first, replace(first, id=ResourceId(twin.id), facts=facts))
    )

    env.reach(Phase.RUNNING)

    assert env.seen(Phase.RUNNING).items == env.wanted(Phase.RUNNING)
