"""A plugin that raises any exception affects only the failing operation, not the rest of the lease."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise

import pytest
from reconcile.faults import FaultyHosts
from reconcile.parts import Conditions
from reconcile.reconciler_env import FREEPOOL, ReconcilerEnv
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


def plugin(env: ReconcilerEnv) -> FaultyHosts:
    found = env.manager.context.plugins["physical:host"]
    assert isinstance(found, FaultyHosts)
    return found


def statuses(env: ReconcilerEnv, lease: LeaseId) -> list[ReservationStatus]:
    return [each.status for each in env.lease(lease).reservations]


def has_slots(env: ReconcilerEnv, lease: LeaseId) -> bool:
    """Return whether the second reservation exists in the cloud."""
    return (
        reservation_class(env.lease(lease).reservations[1].id) in env.cloud.placement.list_resource_classes()
    )


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("step", STEPS)
def test_a_fault_stops_no_other_reservation(
    env: ReconcilerEnv, unexpected_errors: list[str], step: str, error: Callable[[], Exception]
) -> None:
    env.reset(Conditions(faulty_step=step, faulty_error=error))
    lease = env.create("a", 1, 2, (1, 1), instances(2))

    env.run_until(1)
    assert statuses(env, lease)[1] is ReservationStatus.ACTIVE
    assert has_slots(env, lease)
    env.run_until(2)

    assert statuses(env, lease)[1] is ReservationStatus.DELETED
    assert not has_slots(env, lease)
    assert plugin(env).tried_at
    name = type(error()).__name__
    if step != "make":
        assert env.lease(lease).status is LeaseStatus.TERMINATING
        assert env.lease(lease).reservations[0].problem == f"internal error: {name}"
    plugin(env).step = ""
    env.at(2.1)
    assert env.lease(lease).status is LeaseStatus.TERMINATED
    unexpected_errors.clear()


@pytest.mark.parametrize("step", ["make", "remove"])
def test_a_fault_at_one_host_stops_no_other_host(
    env: ReconcilerEnv, unexpected_errors: list[str], step: str
) -> None:
    env.reset(Conditions(faulty_step=step, faulty_host="host-1"))
    lease = env.create("a", 1, 2, (3, 3))

    env.run_until(1)
    assert env.hosts_of(lease) >= {"host-2", "host-3"}
    env.run_until(2)

    assert {"host-2", "host-3"} <= env.aggregates()[FREEPOOL]
    env.create("b", 2.1, 3, (2, 2))
    plugin(env).step = ""
    env.at(2.2)
    unexpected_errors.clear()


def test_a_faulty_step_is_tried_again_with_back_off(env: ReconcilerEnv, unexpected_errors: list[str]) -> None:
    env.reset(Conditions(faulty_step="observe"))
    env.create("a", "now", 1)

    env.run_until(0.5)

    tried = plugin(env).tried_at
    pauses = [after - before for before, after in pairwise(tried)]
    longest = env.settings.reconciler.longest_backoff
    assert 25 <= len(tried) <= 80
    assert pauses[0] <= timedelta(seconds=1)
    assert all(longest / 2 <= each <= longest for each in pauses[8:])
    plugin(env).step = ""
    env.at(0.6)
    unexpected_errors.clear()


def test_a_faulty_step_does_not_delay_a_reservation_that_waits(
    env: ReconcilerEnv, unexpected_errors: list[str]
) -> None:
    deletion_time = timedelta(minutes=10)
    env.reset(Conditions(faulty_step="remove", faulty_host="host-1", server_deletion_time=deletion_time))
    lease = env.create("a", 1, 2, (3, 3))
    env.run_until(1.1)
    env.boot("host-2")

    env.run_until(2 + deletion_time / timedelta(hours=1))
    env.run_until(2 + (deletion_time + timedelta(seconds=15)) / timedelta(hours=1))

    assert "host-2" in env.aggregates()[FREEPOOL]
    assert env.lease(lease).status is LeaseStatus.TERMINATING
    plugin(env).step = ""
    env.at(2.3)
    unexpected_errors.clear()


def test_an_item_that_is_only_cleaned_up_must_not_be_wanted(
    env: ReconcilerEnv, unexpected_errors: list[str]
) -> None:
    env.reset(Conditions(faulty_step="wanted"))
    lease = env.create("a", 1, 2, (1, 1), instances(2))

    env.run_until(1.1)

    assert statuses(env, lease) == [ReservationStatus.PENDING, ReservationStatus.ACTIVE]
    assert env.lease(lease).reservations[0].problem == "internal error: ValueError"
    plugin(env).step = ""
    env.at(1.5)
    assert statuses(env, lease) == [ReservationStatus.ACTIVE, ReservationStatus.ACTIVE]
    unexpected_errors.clear()


def test_a_reservation_whose_plugin_is_not_loaded_stops_no_other(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, (1, 1), instances(2))
    plugins = env.manager.context.plugins
    assert isinstance(plugins, dict)
    hosts = plugins.pop("physical:host")
    del env.codecs["physical:host"]

    env.run_until(1)

    assert statuses(env, lease) == [ReservationStatus.PENDING, ReservationStatus.ACTIVE]
    assert "no plugin is loaded" in str(env.lease(lease).reservations[0].problem)
    plugins["physical:host"] = env.codecs["physical:host"] = hosts
    env.at(1.1)
    assert env.lease(lease).status is LeaseStatus.ACTIVE
