"""Removal of the items of slot reservations, also if they are in use or forgotten."""

from __future__ import annotations

from datetime import timedelta

import pytest
from plugin_cases import PROJECT, RESERVATION
from plugins.slot_env import CLASS, SlotEnv

from blazar.domain.errors import CloudConflict
from blazar.domain.lifecycle import Phase
from blazar.domain.providers import Inventory
from blazar.plugins.contract import Done, Waiting
from blazar.plugins.slots.items import Kind
from blazar.ports.placement import Inventories

TAKEN_BACK_FIRST = [
    Kind.ACCESS,
    Kind.SERVERS,
    Kind.MEMBER,
    Kind.INVENTORY,
    Kind.CLASS,
    Kind.METADATA,
    Kind.AGGREGATE,
    Kind.SPECS,
    Kind.FLAVOR,
    Kind.GROUP,
]


@pytest.fixture
def env() -> SlotEnv:
    """A running reservation of three slots on each of two hosts, with a server group."""
    env = SlotEnv(affinity=True)
    env.reach(Phase.RUNNING)
    return env


def end(env: SlotEnv) -> None:
    """Take the steps of the end until nothing is left, while time passes."""
    for _ in range(10):
        if not env.seen(Phase.OVER).items:
            return
        env.reach(Phase.OVER)
        env.clock.advance(timedelta(seconds=3))
    raise AssertionError(env.seen(Phase.OVER).items)


def is_gone(env: SlotEnv) -> bool:
    cloud, placement = env.cloud, env.cloud.placement
    return not (
        env.flavor
        or cloud.server_groups.list_server_groups()
        or cloud.servers.list_servers(flavor_id=RESERVATION)
        or any(each.name == RESERVATION for each in cloud.aggregates.list_aggregates())
        or CLASS in placement.list_resource_classes()
        or CLASS in env.inventories("host-0")
    )


def test_things_are_taken_back_in_the_opposite_order(env: SlotEnv) -> None:
    env.boot()

    kinds = [each.kind for each in sorted(env.seen(Phase.OVER).items, key=lambda each: -each.rank)]

    assert list(dict.fromkeys(kinds)) == TAKEN_BACK_FIRST


def test_when_it_is_over_nothing_is_left_and_hosts_are_where_they_were(env: SlotEnv) -> None:
    env.boot()
    env.boot()

    end(env)

    assert is_gone(env)
    assert env.aggregate_named("freepool").hosts >= {"host-0", "host-1"}
    assert env.inventories("host-0") == {}


def test_a_server_loses_its_room_only_when_it_is_gone(env: SlotEnv) -> None:
    server = env.boot("host-0")
    assert env.remove(Kind.ACCESS) == Done()

    outcome = env.remove(Kind.SERVERS)

    assert isinstance(outcome, Waiting)
    assert server.id in outcome.reason
    assert isinstance(env.remove(Kind.INVENTORY), Waiting)
    env.clock.advance(timedelta(seconds=6))
    assert env.remove(Kind.INVENTORY) == Done()


def test_all_servers_of_a_host_are_deleted_at_once_and_none_twice(env: SlotEnv) -> None:
    servers = {env.boot("host-0").id for _ in range(3)}
    other = env.boot("host-1")

    for _ in range(2):
        assert isinstance(env.remove(Kind.SERVERS), Waiting)

    deleting = {each.id for each in env.cloud.servers.list_servers() if each.is_deleting}
    assert deleting == servers
    assert env.cloud.calls["compute.delete_server"] == 3
    assert other.id not in deleting


def test_only_servers_of_the_reservation_are_deleted(env: SlotEnv) -> None:
    foreign = env.cloud.boot_server("foreign", "stranger", service_host="host-0")
    env.boot("host-0")

    end(env)

    assert [each.id for each in env.cloud.servers.list_servers()] == [foreign.id]


def test_slots_in_use_by_something_that_is_no_server_are_waited_for(env: SlotEnv) -> None:
    env.fail("placement.delete_inventory", CloudConflict, times=3)

    outcome = env.remove(Kind.INVENTORY)

    assert isinstance(outcome, Waiting)
    assert "slots on host host-0.example are still in use" in outcome.reason
    assert env.cloud.calls["placement.delete_inventory"] == 3


def test_a_conflict_with_somebody_else_is_not_waited_for(env: SlotEnv) -> None:
    env.fail("placement.delete_inventory", CloudConflict, times=2)

    assert env.remove(Kind.INVENTORY) == Done()


def test_servers_of_a_flavor_that_was_made_again_are_found_by_the_slots_they_use(env: SlotEnv) -> None:
    """Nova lists servers by the present flavor, not by a deleted one with the same name."""
    env.boot("host-0")
    env.cloud.flavors.delete_flavor(RESERVATION)
    env.reach(Phase.RUNNING)

    end(env)

    assert is_gone(env)
    assert env.cloud.servers.list_servers() == ()


@pytest.mark.parametrize("kind", [Kind.CLASS, Kind.AGGREGATE])
def test_what_is_in_use_is_waited_for(env: SlotEnv, kind: Kind) -> None:
    outcome = env.remove(kind)

    assert isinstance(outcome, Waiting)
    assert kind in env.kinds


class TestHostsThatAreGivenUp:
    def test_they_leave_while_the_others_stay(self, env: SlotEnv) -> None:
        env.boot("host-0")
        env.hold(host_0=1)

        env.reach(Phase.RUNNING)

        assert env.seen(Phase.RUNNING).items == env.wanted(Phase.RUNNING)
        assert env.inventories("host-1") == {}
        assert env.inventories("host-0")[CLASS].total == 1
        assert env.aggregate.hosts == {"host-0"}

    def test_one_with_a_server_stays_in_the_aggregate_and_the_server_is_left_alone(
        self, env: SlotEnv
    ) -> None:
        server = env.boot("host-1")
        env.hold(host_0=1)

        outcomes = env.reach(Phase.RUNNING)

        assert [each.reason for each in outcomes if isinstance(each, Waiting)] == [
            "slots on host host-1.example are still in use"
        ] * 2
        assert env.aggregate.hosts == {"host-0", "host-1"}
        assert [each.is_deleting for each in env.cloud.servers.list_servers()] == [False]
        env.cloud.servers.delete_server(server.id)
        env.clock.advance(timedelta(seconds=6))
        env.reach(Phase.RUNNING)
        assert env.seen(Phase.RUNNING).items == env.wanted(Phase.RUNNING)

    def test_they_are_taken_back_at_the_end_too(self, env: SlotEnv) -> None:
        env.boot("host-1")
        env.hold(host_0=1)

        end(env)

        assert is_gone(env)
        assert env.inventories("host-1") == {}

    def test_slots_that_nothing_tells_of_are_looked_for_before_their_class_is_given_up(
        self, env: SlotEnv
    ) -> None:
        """A manager was killed after it made them, and then the reservation was moved to other hosts."""
        placement = env.cloud.placement
        root = placement.find_provider("host-3.example")
        assert root is not None
        provider = placement.create_provider("blazar_host-3.example", root.uuid)
        placement.put_inventories(
            provider.uuid, Inventories(generation=0, by_class={CLASS: Inventory(total=1)})
        )

        end(env)

        assert is_gone(env)
        assert env.inventories("host-3") == {}

    def test_a_class_that_is_in_use_elsewhere_is_asked_for_rarely(self, env: SlotEnv) -> None:
        provider = env.cloud.placement.create_provider("foreign", None)
        env.cloud.placement.put_inventories(
            provider.uuid, Inventories(generation=0, by_class={CLASS: Inventory(total=1)})
        )
        for host in ("host-0", "host-1"):
            env.remove(Kind.MEMBER)
            env.remove(Kind.INVENTORY)
            assert env.inventories(host) == {}

        outcome = env.remove(Kind.CLASS)

        assert isinstance(outcome, Waiting)
        assert outcome.retry_after >= timedelta(seconds=30)


def test_other_slots_are_replaced_and_not_removed_in_between(env: SlotEnv) -> None:
    env.boot("host-0")
    env.hold(host_0=2, host_1=3)

    assert env.remove(Kind.INVENTORY, Phase.RUNNING) == Done()
    assert env.inventories("host-0")[CLASS].total == 3
    env.reach(Phase.RUNNING)
    assert env.inventories("host-0")[CLASS].total == 2


def test_a_reservation_that_was_moved_to_later_is_taken_back_but_for_its_group() -> None:
    env = SlotEnv(affinity=True)
    env.reach(Phase.PREPARING)

    env.reach(Phase.AHEAD)

    assert env.kinds == {Kind.GROUP}
    assert env.seen(Phase.AHEAD).items == env.wanted(Phase.AHEAD)


def test_what_others_have_removed_already_is_gone(env: SlotEnv) -> None:
    seen = env.seen(Phase.OVER)
    end(env)

    outcomes = [
        env.plugin.remove(env.cloud, env.assignment, item, seen)
        for item in sorted(seen.items, key=lambda each: -each.rank)
    ]

    assert outcomes == [Done()] * len(seen.items)


def test_a_group_that_its_owner_has_deleted_is_nothing_to_take_back(env: SlotEnv) -> None:
    (group,) = env.cloud.server_groups.list_server_groups()
    env.cloud.server_groups.delete_server_group(group.id)

    assert Kind.GROUP not in env.kinds
    assert Kind.GROUP in {each.kind for each in env.seen(Phase.RUNNING).items}


def test_the_project_loses_the_flavor_before_its_servers(env: SlotEnv) -> None:
    env.boot()
    assert env.remove(Kind.ACCESS) == Done()

    assert PROJECT not in env.cloud.flavors.list_flavor_access(RESERVATION)
    assert Kind.SERVERS in env.kinds
