"""Cloud calls of slot plugins during requests: server groups, and counting the slots in use."""

from __future__ import annotations

import pytest
from plugin_cases import RESERVATION
from plugins.slot_env import SlotEnv

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import CloudRefused
from blazar.domain.lifecycle import Phase

TYPES = ["virtual:instance", "flavor:instance"]


def groups(env: SlotEnv) -> list[str]:
    return [each.id for each in env.cloud.server_groups.list_server_groups()]


@pytest.mark.parametrize("resource_type", TYPES)
def test_a_reservation_without_affinity_has_no_group_but_a_flavor(resource_type: str) -> None:
    env = SlotEnv(resource_type, affinity=None)

    shown = env.plugin.render(env.assignment.spec)

    assert groups(env) == []
    assert (shown["flavor_id"], shown["server_group_id"]) == (RESERVATION, None)


@pytest.mark.parametrize("resource_type", TYPES)
def test_the_group_is_shown_at_once(resource_type: str) -> None:
    env = SlotEnv(resource_type, affinity="yes")

    shown = env.plugin.render(env.assignment.spec)

    assert [shown["server_group_id"]] == groups(env)
    assert shown["affinity"] is True


@pytest.mark.parametrize("resource_type", TYPES)
def test_a_change_of_something_else_keeps_the_group(resource_type: str) -> None:
    env = SlotEnv(resource_type, affinity=False)
    (before,) = groups(env)

    env.change(amount=1)

    assert groups(env) == [before]


@pytest.mark.parametrize("resource_type", TYPES)
def test_another_affinity_has_another_group_and_the_old_one_goes(resource_type: str) -> None:
    env = SlotEnv(resource_type, affinity=False)
    (before,) = groups(env)

    env.change(affinity=True)

    (after,) = groups(env)
    assert after != before
    assert env.plugin.render(env.assignment.spec)["server_group_id"] == after


def test_an_affinity_that_is_given_up_leaves_no_group() -> None:
    env = SlotEnv(affinity=True)

    env.change(affinity=None)

    assert groups(env) == []
    assert env.plugin.render(env.assignment.spec)["server_group_id"] is None


def test_a_change_that_is_refused_after_all_leaves_the_old_group() -> None:
    env = SlotEnv(affinity=True)
    before, old = env.assignment.spec, groups(env)
    after = env.plugin.revise(before, {"affinity": False}, is_active=False)
    after = env.plugin.provide(after, RESERVATION, env.lessee, afresh=False)
    assert len(groups(env)) == 2

    env.plugin.withdraw(env.cloud, after, before)

    assert groups(env) == old


def test_a_group_that_nova_refuses_is_the_lessees_business() -> None:
    env = SlotEnv(affinity=None)
    asked = env.plugin.revise(env.assignment.spec, {"affinity": True}, is_active=False)
    env.cloud.faults.add(FaultRule(kind=FaultKind.ERROR, error=CloudRefused))

    with pytest.raises(CloudRefused):
        env.plugin.provide(asked, RESERVATION, env.lessee, afresh=False)


@pytest.mark.parametrize("resource_type", TYPES)
def test_slots_in_use_are_counted_by_host_if_the_reservation_shrinks(resource_type: str) -> None:
    env = SlotEnv(resource_type, affinity=None, amount=6)
    env.hold(host_0=3, host_1=3)
    env.reach(Phase.RUNNING)
    for host in ("host-0", "host-0", "host-1"):
        env.boot(host)
    env.cloud.boot_server("foreign", "stranger", service_host="host-1")
    before = env.assignment.spec

    env.change(amount=5)

    first, second = (each.id for each in env.assignment.resources)
    assert env.plugin.count_in_use(env.cloud, env.assignment, before) == {first: 2, second: 1}


def test_servers_on_hosts_that_are_not_held_use_no_slots_that_are() -> None:
    env = SlotEnv(affinity=None)
    env.reach(Phase.RUNNING)
    env.boot("host-1")
    env.hold(host_0=3)
    before = env.assignment.spec

    env.change(amount=1)

    (held,) = env.assignment.resources
    assert env.plugin.count_in_use(env.cloud, env.assignment, before) == {held.id: 0}


@pytest.mark.parametrize("amount", [6, 7])
def test_nothing_is_counted_if_it_does_not_shrink(amount: int) -> None:
    env = SlotEnv(affinity=None, amount=6)
    env.reach(Phase.RUNNING)
    env.boot()
    before, calls = env.assignment.spec, env.cloud.calls

    env.change(amount=amount)

    assert env.plugin.count_in_use(env.cloud, env.assignment, before) == {}
    assert env.cloud.calls == calls
