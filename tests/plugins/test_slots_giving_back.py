"""Removal of the items of slot reservations, also if they are in use or forgotten."""

from __future__ import annotations

from datetime import timedelta

import pytest
from plugin_cases import PROJECT, RESERVATION
from plugins.slot_stage import CLASS, SlotStage

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
def stage() -> SlotStage:
    """A running reservation of three slots on each of two hosts, with a server group."""
    stage = SlotStage(affinity=True)
    stage.reach(Phase.RUNNING)
    return stage


def end(stage: SlotStage) -> None:
    """Take the steps of the end until nothing is left, while time passes."""
    for _ in range(10):
        if not stage.seen(Phase.OVER).items:
            return
        stage.reach(Phase.OVER)
        stage.clock.advance(timedelta(seconds=3))
    raise AssertionError(stage.seen(Phase.OVER).items)


def is_gone(stage: SlotStage) -> bool:
    compute, placement = stage.cloud.compute, stage.cloud.placement
    return not (
        stage.flavor
        or compute.list_server_groups()
        or compute.list_servers(flavor_id=RESERVATION)
        or any(each.name == RESERVATION for each in compute.list_aggregates())
        or CLASS in placement.list_resource_classes()
        or CLASS in stage.inventories("host-0")
    )


def test_things_are_taken_back_in_the_opposite_order(stage: SlotStage) -> None:
    stage.boot()

    kinds = [each.kind for each in sorted(stage.seen(Phase.OVER).items, key=lambda each: -each.rank)]

    assert list(dict.fromkeys(kinds)) == TAKEN_BACK_FIRST


def test_when_it_is_over_nothing_is_left_and_hosts_are_where_they_were(stage: SlotStage) -> None:
    stage.boot()
    stage.boot()

    end(stage)

    assert is_gone(stage)
    assert stage.aggregate_named("freepool").hosts >= {"host-0", "host-1"}
    assert stage.inventories("host-0") == {}


def test_a_server_loses_its_room_only_when_it_is_gone(stage: SlotStage) -> None:
    server = stage.boot("host-0")
    assert stage.remove(Kind.ACCESS) == Done()

    outcome = stage.remove(Kind.SERVERS)

    assert isinstance(outcome, Waiting)
    assert server.id in outcome.reason
    assert isinstance(stage.remove(Kind.INVENTORY), Waiting)
    stage.clock.advance(timedelta(seconds=6))
    assert stage.remove(Kind.INVENTORY) == Done()


def test_all_servers_of_a_host_are_deleted_at_once_and_none_twice(stage: SlotStage) -> None:
    servers = {stage.boot("host-0").id for _ in range(3)}
    other = stage.boot("host-1")

    for _ in range(2):
        assert isinstance(stage.remove(Kind.SERVERS), Waiting)

    deleting = {each.id for each in stage.cloud.compute.list_servers() if each.is_deleting}
    assert deleting == servers
    assert stage.cloud.calls["compute.delete_server"] == 3
    assert other.id not in deleting


def test_only_servers_of_the_reservation_are_deleted(stage: SlotStage) -> None:
    foreign = stage.cloud.boot_server("foreign", "stranger", service_host="host-0")
    stage.boot("host-0")

    end(stage)

    assert [each.id for each in stage.cloud.compute.list_servers()] == [foreign.id]


def test_slots_in_use_by_something_that_is_no_server_are_waited_for(stage: SlotStage) -> None:
    stage.fail("placement.delete_inventory", CloudConflict, times=3)

    outcome = stage.remove(Kind.INVENTORY)

    assert isinstance(outcome, Waiting)
    assert "slots on host host-0.example are still in use" in outcome.reason
    assert stage.cloud.calls["placement.delete_inventory"] == 3


def test_a_conflict_with_somebody_else_is_not_waited_for(stage: SlotStage) -> None:
    stage.fail("placement.delete_inventory", CloudConflict, times=2)

    assert stage.remove(Kind.INVENTORY) == Done()


def test_servers_of_a_flavor_that_was_made_again_are_found_by_the_slots_they_use(stage: SlotStage) -> None:
    """Nova lists servers by the present flavor, not by a deleted one with the same name."""
    stage.boot("host-0")
    stage.cloud.compute.delete_flavor(RESERVATION)
    stage.reach(Phase.RUNNING)

    end(stage)

    assert is_gone(stage)
    assert stage.cloud.compute.list_servers() == ()


@pytest.mark.parametrize("kind", [Kind.CLASS, Kind.AGGREGATE])
def test_what_is_in_use_is_waited_for(stage: SlotStage, kind: Kind) -> None:
    outcome = stage.remove(kind)

    assert isinstance(outcome, Waiting)
    assert kind in stage.kinds


class TestHostsThatAreGivenUp:
    def test_they_leave_while_the_others_stay(self, stage: SlotStage) -> None:
        stage.boot("host-0")
        stage.hold(host_0=1)

        stage.reach(Phase.RUNNING)

        assert stage.seen(Phase.RUNNING).items == stage.wanted(Phase.RUNNING)
        assert stage.inventories("host-1") == {}
        assert stage.inventories("host-0")[CLASS].total == 1
        assert stage.aggregate.hosts == {"host-0"}

    def test_one_with_a_server_stays_in_the_aggregate_and_the_server_is_left_alone(
        self, stage: SlotStage
    ) -> None:
        server = stage.boot("host-1")
        stage.hold(host_0=1)

        outcomes = stage.reach(Phase.RUNNING)

        assert [each.reason for each in outcomes if isinstance(each, Waiting)] == [
            "slots on host host-1.example are still in use"
        ] * 2
        assert stage.aggregate.hosts == {"host-0", "host-1"}
        assert [each.is_deleting for each in stage.cloud.compute.list_servers()] == [False]
        stage.cloud.compute.delete_server(server.id)
        stage.clock.advance(timedelta(seconds=6))
        stage.reach(Phase.RUNNING)
        assert stage.seen(Phase.RUNNING).items == stage.wanted(Phase.RUNNING)

    def test_they_are_taken_back_at_the_end_too(self, stage: SlotStage) -> None:
        stage.boot("host-1")
        stage.hold(host_0=1)

        end(stage)

        assert is_gone(stage)
        assert stage.inventories("host-1") == {}

    def test_slots_that_nothing_tells_of_are_looked_for_before_their_class_is_given_up(
        self, stage: SlotStage
    ) -> None:
        """A manager was killed after it made them, and then the reservation was moved to other hosts."""
        placement = stage.cloud.placement
        root = placement.find_provider("host-3.example")
        assert root is not None
        provider = placement.create_provider("blazar_host-3.example", root.uuid)
        placement.put_inventories(
            provider.uuid, Inventories(generation=0, by_class={CLASS: Inventory(total=1)})
        )

        end(stage)

        assert is_gone(stage)
        assert stage.inventories("host-3") == {}

    def test_a_class_that_is_in_use_elsewhere_is_asked_for_rarely(self, stage: SlotStage) -> None:
        provider = stage.cloud.placement.create_provider("foreign", None)
        stage.cloud.placement.put_inventories(
            provider.uuid, Inventories(generation=0, by_class={CLASS: Inventory(total=1)})
        )
        for host in ("host-0", "host-1"):
            stage.remove(Kind.MEMBER)
            stage.remove(Kind.INVENTORY)
            assert stage.inventories(host) == {}

        outcome = stage.remove(Kind.CLASS)

        assert isinstance(outcome, Waiting)
        assert outcome.retry_after >= timedelta(seconds=30)


def test_other_slots_are_replaced_and_not_removed_in_between(stage: SlotStage) -> None:
    stage.boot("host-0")
    stage.hold(host_0=2, host_1=3)

    assert stage.remove(Kind.INVENTORY, Phase.RUNNING) == Done()
    assert stage.inventories("host-0")[CLASS].total == 3
    stage.reach(Phase.RUNNING)
    assert stage.inventories("host-0")[CLASS].total == 2


def test_a_reservation_that_was_moved_to_later_is_taken_back_but_for_its_group() -> None:
    stage = SlotStage(affinity=True)
    stage.reach(Phase.PREPARING)

    stage.reach(Phase.AHEAD)

    assert stage.kinds == {Kind.GROUP}
    assert stage.seen(Phase.AHEAD).items == stage.wanted(Phase.AHEAD)


def test_what_others_have_removed_already_is_gone(stage: SlotStage) -> None:
    seen = stage.seen(Phase.OVER)
    end(stage)

    outcomes = [
        stage.plugin.remove(stage.cloud, stage.assignment, item, seen)
        for item in sorted(seen.items, key=lambda each: -each.rank)
    ]

    assert outcomes == [Done()] * len(seen.items)


def test_a_group_that_its_owner_has_deleted_is_nothing_to_take_back(stage: SlotStage) -> None:
    (group,) = stage.cloud.compute.list_server_groups()
    stage.cloud.compute.delete_server_group(group.id)

    assert Kind.GROUP not in stage.kinds
    assert Kind.GROUP in {each.kind for each in stage.seen(Phase.RUNNING).items}


def test_the_project_loses_the_flavor_before_its_servers(stage: SlotStage) -> None:
    stage.boot()
    assert stage.remove(Kind.ACCESS) == Done()

    assert PROJECT not in stage.cloud.compute.list_flavor_access(RESERVATION)
    assert Kind.SERVERS in stage.kinds
