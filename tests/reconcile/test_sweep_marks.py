"""Marks by which a sweep recognizes leftovers, and its cloud calls."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from reconcile.leftovers import (
    CLASS,
    INTERVAL,
    LOST,
    OTHER,
    calls_of,
    classes_on,
    context_of,
    leave_aggregate,
    leave_all,
    leave_class,
    leave_flavor,
    leave_group,
    left,
    store_reservation,
    sweep_once,
    sweep_twice,
)
from reconcile.reconciler_env import ReconcilerEnv
from reconcile.slots import instances
from samples import know_a_lease

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.providers import Inventory
from blazar.plugins.slots.names import flavor_name, group_name, provider_name, reservation_class
from blazar.reconcile.sweep import Sweepings, sweep

LISTS = frozenset({"compute.list_flavors", "compute.list_server_groups", "placement.list_resource_classes"})
PER_HOST = frozenset({"placement.find_provider", "placement.get_inventories"})


@pytest.fixture(autouse=True)
def earlier_lease(env: ReconcilerEnv) -> None:
    know_a_lease(env.store)


def test_a_reservation_that_has_something_outside_keeps_it(env: ReconcilerEnv) -> None:
    leave_all(env)
    store_reservation(env, is_deployed=True)
    everything = left(env)

    assert sweep_twice(env) == Sweepings(found=(), removed=())
    assert left(env) == everything


def test_a_reservation_that_should_have_nothing_outside_loses_it(env: ReconcilerEnv) -> None:
    leave_all(env)
    store_reservation(env, is_deployed=False)

    sweep_twice(env)

    assert left(env) == set()


@pytest.mark.parametrize(
    ("name", "metadata"),
    [
        (LOST, {}),
        (LOST, {"reservation": OTHER}),
        (LOST.upper(), {"reservation": LOST.upper()}),
        ("rack", {"reservation": "rack"}),
        ("rack", {"reservation": LOST}),
    ],
)
def test_an_aggregate_without_the_whole_mark_is_left_alone(
    env: ReconcilerEnv, name: str, metadata: Mapping[str, str]
) -> None:
    leave_aggregate(env, name, **metadata)

    assert sweep_twice(env).found == ()
    assert env.aggregates()[name] == {"host-1"}


def lived_reservation(env: ReconcilerEnv, *failing: str) -> str:
    """Return the ID of a reservation whose lease started while operations failed, and was then deleted."""
    for each in failing:
        env.faults.add(FaultRule(kind=FaultKind.STATUS, status=503, operation=each))
    lease_id = env.create("lived", "now", 2, instances(1))
    env.run_until(0.5)
    (reservation,) = env.lease(lease_id).reservations
    env.faults.clear()
    env.delete(lease_id)
    env.run_until(1)
    return reservation.id


@pytest.mark.parametrize("failing", [(), ("compute.create_aggregate",)])
def test_an_aggregate_that_was_made_too_late_is_known_by_its_name(
    env: ReconcilerEnv, failing: tuple[str, ...]
) -> None:
    reservation_id = lived_reservation(env, *failing)
    env.cloud.aggregates.create_aggregate(reservation_id, None, {})

    assert sweep_twice(env).removed == (f"aggregate:{reservation_id}",)
    assert reservation_id not in env.aggregates()


def test_an_aggregate_of_such_a_name_with_a_host_is_left_alone(env: ReconcilerEnv) -> None:
    reservation_id = lived_reservation(env)
    made = env.cloud.aggregates.create_aggregate(reservation_id, None, {})
    env.cloud.aggregates.add_host(made.id, "host-1")

    assert sweep_twice(env).found == ()
    assert env.aggregates()[reservation_id] == {"host-1"}


def test_an_empty_aggregate_with_the_name_of_no_reservation_is_left_alone(env: ReconcilerEnv) -> None:
    lived_reservation(env)
    env.cloud.aggregates.create_aggregate(LOST, None, {})

    assert sweep_twice(env).found == ()
    assert env.aggregates()[LOST] == frozenset()


def test_an_aggregate_in_a_zone_of_the_operators_is_theirs(env: ReconcilerEnv) -> None:
    env.cloud.aggregates.create_aggregate(LOST, "az1", {"reservation": LOST})

    assert sweep_twice(env).found == ()
    assert LOST in env.aggregates()


@pytest.mark.parametrize(
    ("flavor_id", "name", "is_public"),
    [
        (LOST, flavor_name(LOST), True),
        (LOST, "mine", False),
        (LOST, flavor_name(OTHER), False),
        ("mine", flavor_name(LOST), False),
        ("mine", flavor_name("mine"), False),
    ],
)
def test_a_flavor_without_the_whole_mark_is_left_alone(
    env: ReconcilerEnv, flavor_id: str, name: str, is_public: bool
) -> None:
    leave_flavor(env, flavor_id, name, is_public=is_public)

    assert sweep_twice(env).found == ()
    assert left(env) == {f"flavor:{flavor_id}"}


@pytest.mark.parametrize(
    "name",
    ["CUSTOM_GPU", "CUSTOM_RESERVATION_GPU", f"{CLASS}_2", f"CUSTOM_{CLASS}", CLASS.replace("_22", "22")],
)
def test_a_class_of_another_name_is_left_alone(env: ReconcilerEnv, name: str) -> None:
    leave_class(env, name)

    assert sweep_twice(env).found == ()
    assert classes_on(env, "host-1") == {name}


@pytest.mark.parametrize(
    "name", ["reservation:web", LOST, f"my-{group_name(LOST)}", group_name(LOST.upper())]
)
def test_a_group_of_another_name_is_left_alone(env: ReconcilerEnv, name: str) -> None:
    leave_group(env, name)

    assert sweep_twice(env).found == ()
    assert len(left(env)) == 1


def test_a_class_of_a_host_that_is_not_registered_is_left_alone(env: ReconcilerEnv) -> None:
    env.cloud.add_hypervisor("foreign")
    env.cloud.add_provider("foreign", provider_name("foreign"), {CLASS: Inventory(total=2, max_unit=1)})

    swept = sweep_twice(env)

    assert (swept.found, swept.removed) == ((f"class:{CLASS}",), ())
    assert classes_on(env, "foreign") == {CLASS}


def test_hosts_are_not_asked_while_no_class_is_left_over(env: ReconcilerEnv) -> None:
    leave_aggregate(env, reservation=LOST)
    leave_flavor(env)
    leave_group(env)
    leave_class(env, host_names=())
    sweep_once(env)
    env.clock.advance(INTERVAL)

    calls = calls_of(env, context_of(env))

    assert left(env) == set()
    assert calls.keys() & PER_HOST == set()


def test_hosts_are_asked_once_however_many_classes_are_left_over(env: ReconcilerEnv) -> None:
    leave_class(env, host_names=("host-1", "host-2"))
    leave_class(env, reservation_class(OTHER), host_names=("host-2",))
    sweep_once(env)
    env.clock.advance(INTERVAL)

    calls = calls_of(env, context_of(env))

    assert left(env) == set()
    assert {name: calls[name] for name in PER_HOST} == dict.fromkeys(PER_HOST, 3)
    assert calls["placement.delete_inventory"] == 3


def test_without_plugins_that_reserve_slots_their_leftovers_are_not_searched(env: ReconcilerEnv) -> None:
    leave_all(env)
    context = context_of(env, reserves_slots=False)
    with_plugins = calls_of(env, context_of(env))
    without = calls_of(env, context)

    env.clock.advance(INTERVAL)

    assert sweep(context, "manager").removed == ()
    assert with_plugins.keys() >= LISTS
    assert not without.keys() & LISTS
