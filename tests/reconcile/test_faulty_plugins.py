"""A plugin that raises any exception affects only the failing operation, not the rest of the lease."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise

import pytest
from reconcile.faults import FaultyHosts
from reconcile.lab import FREEPOOL, Lab
from reconcile.parts import Conditions
from reconcile.slots import instances

from blazar.domain.errors import ConcurrentUpdate, Unavailable
from blazar.domain.lease import LeaseId, LeaseStatus, ReservationStatus
from blazar.plugins.slots.names import reservation_class

STEPS = ["observe", "make", "remove"]
ERRORS = [
    ZeroDivisionError,
    lambda: Unavailable("not now"),
    lambda: ConcurrentUpdate("faster"),
    StopIteration,
]


def plugin(lab: Lab) -> FaultyHosts:
    found = lab.manager.context.plugins["physical:host"]
    assert isinstance(found, FaultyHosts)
    return found


def statuses(lab: Lab, lease: LeaseId) -> list[ReservationStatus]:
    return [each.status for each in lab.lease(lease).reservations]


def has_slots(lab: Lab, lease: LeaseId) -> bool:
    """Return whether the second reservation exists in the cloud."""
    return (
        reservation_class(lab.lease(lease).reservations[1].id) in lab.cloud.placement.list_resource_classes()
    )


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("step", STEPS)
def test_a_fault_stops_no_other_reservation(
    lab: Lab, unexpected_errors: list[str], step: str, error: Callable[[], Exception]
) -> None:
    lab.reset(Conditions(faulty_step=step, faulty_error=error))
    lease = lab.create("a", 1, 2, (1, 1), instances(2))

    lab.run_until(1)
    assert statuses(lab, lease)[1] is ReservationStatus.ACTIVE
    assert has_slots(lab, lease)
    lab.run_until(2)

    assert statuses(lab, lease)[1] is ReservationStatus.DELETED
    assert not has_slots(lab, lease)
    assert plugin(lab).tried_at
    name = type(error()).__name__
    if step != "make":
        assert lab.lease(lease).status is LeaseStatus.TERMINATING
        assert lab.lease(lease).reservations[0].problem == f"internal error: {name}"
    plugin(lab).step = ""
    lab.at(2.1)
    assert lab.lease(lease).status is LeaseStatus.TERMINATED
    unexpected_errors.clear()


@pytest.mark.parametrize("step", ["make", "remove"])
def test_a_fault_at_one_host_stops_no_other_host(lab: Lab, unexpected_errors: list[str], step: str) -> None:
    lab.reset(Conditions(faulty_step=step, faulty_host="host-1"))
    lease = lab.create("a", 1, 2, (3, 3))

    lab.run_until(1)
    assert lab.hosts_of(lease) >= {"host-2", "host-3"}
    lab.run_until(2)

    assert {"host-2", "host-3"} <= lab.aggregates()[FREEPOOL]
    lab.create("b", 2.1, 3, (2, 2))
    plugin(lab).step = ""
    lab.at(2.2)
    unexpected_errors.clear()


def test_a_faulty_step_is_tried_again_with_back_off(lab: Lab, unexpected_errors: list[str]) -> None:
    lab.reset(Conditions(faulty_step="observe"))
    lab.create("a", "now", 1)

    lab.run_until(0.5)

    tried = plugin(lab).tried_at
    pauses = [after - before for before, after in pairwise(tried)]
    longest = lab.settings.reconciler.longest_backoff
    assert 25 <= len(tried) <= 80
    assert pauses[0] <= timedelta(seconds=1)
    assert all(longest / 2 <= each <= longest for each in pauses[8:])
    plugin(lab).step = ""
    lab.at(0.6)
    unexpected_errors.clear()


def test_a_faulty_step_does_not_delay_a_reservation_that_waits(
    lab: Lab, unexpected_errors: list[str]
) -> None:
    deletion_time = timedelta(minutes=10)
    lab.reset(Conditions(faulty_step="remove", faulty_host="host-1", server_deletion_time=deletion_time))
    lease = lab.create("a", 1, 2, (3, 3))
    lab.run_until(1.1)
    lab.boot("host-2")

    lab.run_until(2 + deletion_time / timedelta(hours=1))
    lab.run_until(2 + (deletion_time + timedelta(seconds=15)) / timedelta(hours=1))

    assert "host-2" in lab.aggregates()[FREEPOOL]
    assert lab.lease(lease).status is LeaseStatus.TERMINATING
    plugin(lab).step = ""
    lab.at(2.3)
    unexpected_errors.clear()


def test_an_item_that_is_only_cleaned_up_must_not_be_wanted(lab: Lab, unexpected_errors: list[str]) -> None:
    lab.reset(Conditions(faulty_step="wanted"))
    lease = lab.create("a", 1, 2, (1, 1), instances(2))

    lab.run_until(1.1)

    assert statuses(lab, lease) == [ReservationStatus.PENDING, ReservationStatus.ACTIVE]
    assert lab.lease(lease).reservations[0].problem == "internal error: ValueError"
    plugin(lab).step = ""
    lab.at(1.5)
    assert statuses(lab, lease) == [ReservationStatus.ACTIVE, ReservationStatus.ACTIVE]
    unexpected_errors.clear()


def test_a_reservation_whose_plugin_is_not_loaded_stops_no_other(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, (1, 1), instances(2))
    plugins = lab.manager.context.plugins
    assert isinstance(plugins, dict)
    hosts = plugins.pop("physical:host")
    del lab.codecs["physical:host"]

    lab.run_until(1)

    assert statuses(lab, lease) == [ReservationStatus.PENDING, ReservationStatus.ACTIVE]
    assert "no plugin is loaded" in str(lab.lease(lease).reservations[0].problem)
    plugins["physical:host"] = lab.codecs["physical:host"] = hosts
    lab.at(1.1)
    assert lab.lease(lease).status is LeaseStatus.ACTIVE
