"""Marks by which a sweep recognizes leftovers, and its cloud calls."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from reconcile.lab import Lab
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
from reconcile.slots import instances
from samples import know_a_lease

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.providers import Inventory
from blazar.plugins.slots.names import flavor_name, group_name, provider_name, reservation_class
from blazar.reconcile.sweep import Sweepings, sweep

LISTS = frozenset({"compute.list_flavors", "compute.list_server_groups", "placement.list_resource_classes"})
PER_HOST = frozenset({"placement.find_provider", "placement.get_inventories"})


@pytest.fixture(autouse=True)
def earlier_lease(lab: Lab) -> None:
    know_a_lease(lab.store)


def test_a_reservation_that_has_something_outside_keeps_it(lab: Lab) -> None:
    leave_all(lab)
    store_reservation(lab, is_deployed=True)
    everything = left(lab)

    assert sweep_twice(lab) == Sweepings(found=(), removed=())
    assert left(lab) == everything


def test_a_reservation_that_should_have_nothing_outside_loses_it(lab: Lab) -> None:
    leave_all(lab)
    store_reservation(lab, is_deployed=False)

    sweep_twice(lab)

    assert left(lab) == set()


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
    lab: Lab, name: str, metadata: Mapping[str, str]
) -> None:
    leave_aggregate(lab, name, **metadata)

    assert sweep_twice(lab).found == ()
    assert lab.aggregates()[name] == {"host-1"}


def lived_reservation(lab: Lab, *failing: str) -> str:
    """Return the ID of a reservation whose lease started while operations failed, and was then deleted."""
    for each in failing:
        lab.faults.add(FaultRule(kind=FaultKind.STATUS, status=503, operation=each))
    lease_id = lab.create("lived", "now", 2, instances(1))
    lab.run_until(0.5)
    (reservation,) = lab.lease(lease_id).reservations
    lab.faults.clear()
    lab.delete(lease_id)
    lab.run_until(1)
    return reservation.id


@pytest.mark.parametrize("failing", [(), ("compute.create_aggregate",)])
def test_an_aggregate_that_was_made_too_late_is_known_by_its_name(lab: Lab, failing: tuple[str, ...]) -> None:
    reservation_id = lived_reservation(lab, *failing)
    lab.cloud.compute.create_aggregate(reservation_id, None, {})

    assert sweep_twice(lab).removed == (f"aggregate:{reservation_id}",)
    assert reservation_id not in lab.aggregates()


def test_an_aggregate_of_such_a_name_with_a_host_is_left_alone(lab: Lab) -> None:
    reservation_id = lived_reservation(lab)
    made = lab.cloud.compute.create_aggregate(reservation_id, None, {})
    lab.cloud.compute.add_host(made.id, "host-1")

    assert sweep_twice(lab).found == ()
    assert lab.aggregates()[reservation_id] == {"host-1"}


def test_an_empty_aggregate_with_the_name_of_no_reservation_is_left_alone(lab: Lab) -> None:
    lived_reservation(lab)
    lab.cloud.compute.create_aggregate(LOST, None, {})

    assert sweep_twice(lab).found == ()
    assert lab.aggregates()[LOST] == frozenset()


def test_an_aggregate_in_a_zone_of_the_operators_is_theirs(lab: Lab) -> None:
    lab.cloud.compute.create_aggregate(LOST, "az1", {"reservation": LOST})

    assert sweep_twice(lab).found == ()
    assert LOST in lab.aggregates()


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
    lab: Lab, flavor_id: str, name: str, is_public: bool
) -> None:
    leave_flavor(lab, flavor_id, name, is_public=is_public)

    assert sweep_twice(lab).found == ()
    assert left(lab) == {f"flavor:{flavor_id}"}


@pytest.mark.parametrize(
    "name",
    ["CUSTOM_GPU", "CUSTOM_RESERVATION_GPU", f"{CLASS}_2", f"CUSTOM_{CLASS}", CLASS.replace("_22", "22")],
)
def test_a_class_of_another_name_is_left_alone(lab: Lab, name: str) -> None:
    leave_class(lab, name)

    assert sweep_twice(lab).found == ()
    assert classes_on(lab, "host-1") == {name}


@pytest.mark.parametrize(
    "name", ["reservation:web", LOST, f"my-{group_name(LOST)}", group_name(LOST.upper())]
)
def test_a_group_of_another_name_is_left_alone(lab: Lab, name: str) -> None:
    leave_group(lab, name)

    assert sweep_twice(lab).found == ()
    assert len(left(lab)) == 1


def test_a_class_of_a_host_that_is_not_registered_is_left_alone(lab: Lab) -> None:
    lab.cloud.add_hypervisor("foreign")
    lab.cloud.add_provider("foreign", provider_name("foreign"), {CLASS: Inventory(total=2, max_unit=1)})

    swept = sweep_twice(lab)

    assert (swept.found, swept.removed) == ((f"class:{CLASS}",), ())
    assert classes_on(lab, "foreign") == {CLASS}


def test_hosts_are_not_asked_while_no_class_is_left_over(lab: Lab) -> None:
    leave_aggregate(lab, reservation=LOST)
    leave_flavor(lab)
    leave_group(lab)
    leave_class(lab, host_names=())
    sweep_once(lab)
    lab.clock.advance(INTERVAL)

    calls = calls_of(lab, context_of(lab))

    assert left(lab) == set()
    assert calls.keys() & PER_HOST == set()


def test_hosts_are_asked_once_however_many_classes_are_left_over(lab: Lab) -> None:
    leave_class(lab, host_names=("host-1", "host-2"))
    leave_class(lab, reservation_class(OTHER), host_names=("host-2",))
    sweep_once(lab)
    lab.clock.advance(INTERVAL)

    calls = calls_of(lab, context_of(lab))

    assert left(lab) == set()
    assert {name: calls[name] for name in PER_HOST} == dict.fromkeys(PER_HOST, 3)
    assert calls["placement.delete_inventory"] == 3


def test_without_plugins_that_reserve_slots_their_leftovers_are_not_searched(lab: Lab) -> None:
    leave_all(lab)
    context = context_of(lab, reserves_slots=False)
    with_plugins = calls_of(lab, context_of(lab))
    without = calls_of(lab, context)

    lab.clock.advance(INTERVAL)

    assert sweep(context, "manager").removed == ()
    assert with_plugins.keys() >= LISTS
    assert not without.keys() & LISTS
