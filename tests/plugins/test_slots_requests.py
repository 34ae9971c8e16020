"""Cloud calls of slot plugins during requests: server groups, and counting the slots in use."""

from __future__ import annotations

import pytest
from plugin_cases import RESERVATION
from plugins.slot_stage import SlotStage

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import CloudRefused
from blazar.domain.lifecycle import Phase

TYPES = ["virtual:instance", "flavor:instance"]


def groups(stage: SlotStage) -> list[str]:
    return [each.id for each in stage.cloud.compute.list_server_groups()]


@pytest.mark.parametrize("resource_type", TYPES)
def test_a_reservation_without_affinity_has_no_group_but_a_flavor(resource_type: str) -> None:
    stage = SlotStage(resource_type, affinity=None)

    shown = stage.plugin.render(stage.assignment.spec)

    assert groups(stage) == []
    assert (shown["flavor_id"], shown["server_group_id"]) == (RESERVATION, None)


@pytest.mark.parametrize("resource_type", TYPES)
def test_the_group_is_shown_at_once(resource_type: str) -> None:
    stage = SlotStage(resource_type, affinity="yes")

    shown = stage.plugin.render(stage.assignment.spec)

    assert [shown["server_group_id"]] == groups(stage)
    assert shown["affinity"] is True


@pytest.mark.parametrize("resource_type", TYPES)
def test_a_change_of_something_else_keeps_the_group(resource_type: str) -> None:
    stage = SlotStage(resource_type, affinity=False)
    (before,) = groups(stage)

    stage.change(amount=1)

    assert groups(stage) == [before]


@pytest.mark.parametrize("resource_type", TYPES)
def test_another_affinity_has_another_group_and_the_old_one_goes(resource_type: str) -> None:
    stage = SlotStage(resource_type, affinity=False)
    (before,) = groups(stage)

    stage.change(affinity=True)

    (after,) = groups(stage)
    assert after != before
    assert stage.plugin.render(stage.assignment.spec)["server_group_id"] == after


def test_an_affinity_that_is_given_up_leaves_no_group() -> None:
    stage = SlotStage(affinity=True)

    stage.change(affinity=None)

    assert groups(stage) == []
    assert stage.plugin.render(stage.assignment.spec)["server_group_id"] is None


def test_a_change_that_is_refused_after_all_leaves_the_old_group() -> None:
    stage = SlotStage(affinity=True)
    before, old = stage.assignment.spec, groups(stage)
    after = stage.plugin.revise(before, {"affinity": False}, is_active=False)
    after = stage.plugin.provide(after, RESERVATION, stage.lessee, afresh=False)
    assert len(groups(stage)) == 2

    stage.plugin.withdraw(stage.cloud, after, before)

    assert groups(stage) == old


def test_a_group_that_nova_refuses_is_the_lessees_business() -> None:
    stage = SlotStage(affinity=None)
    asked = stage.plugin.revise(stage.assignment.spec, {"affinity": True}, is_active=False)
    stage.cloud.faults.add(FaultRule(kind=FaultKind.ERROR, error=CloudRefused))

    with pytest.raises(CloudRefused):
        stage.plugin.provide(asked, RESERVATION, stage.lessee, afresh=False)


@pytest.mark.parametrize("resource_type", TYPES)
def test_slots_in_use_are_counted_by_host_if_the_reservation_shrinks(resource_type: str) -> None:
    stage = SlotStage(resource_type, affinity=None, amount=6)
    stage.hold(host_0=3, host_1=3)
    stage.reach(Phase.RUNNING)
    for host in ("host-0", "host-0", "host-1"):
        stage.boot(host)
    stage.cloud.boot_server("foreign", "stranger", service_host="host-1")
    before = stage.assignment.spec

    stage.change(amount=5)

    first, second = (each.id for each in stage.assignment.resources)
    assert stage.plugin.count_in_use(stage.cloud, stage.assignment, before) == {first: 2, second: 1}


def test_servers_on_hosts_that_are_not_held_use_no_slots_that_are() -> None:
    stage = SlotStage(affinity=None)
    stage.reach(Phase.RUNNING)
    stage.boot("host-1")
    stage.hold(host_0=3)
    before = stage.assignment.spec

    stage.change(amount=1)

    (held,) = stage.assignment.resources
    assert stage.plugin.count_in_use(stage.cloud, stage.assignment, before) == {held.id: 0}


@pytest.mark.parametrize("amount", [6, 7])
def test_nothing_is_counted_if_it_does_not_shrink(amount: int) -> None:
    stage = SlotStage(affinity=None, amount=6)
    stage.reach(Phase.RUNNING)
    stage.boot()
    before, calls = stage.assignment.spec, stage.cloud.calls

    stage.change(amount=amount)

    assert stage.plugin.count_in_use(stage.cloud, stage.assignment, before) == {}
    assert stage.cloud.calls == calls
