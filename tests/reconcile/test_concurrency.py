"""Concurrency: requests against requests, requests against a pass, and managers against managers."""

from __future__ import annotations

import functools
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from clocks import ManualClock
from databases import KINDS
from reconcile.invariants import check_always, check_said_once, check_settled
from reconcile.parts import Conditions, lease_body
from reconcile.reconciler_env import LESSEE, EnvOn, ReconcilerEnv

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import BlazarError, InvalidLeaseStatus
from blazar.domain.lease import LeaseStatus
from blazar.manager.service import ManagerService

every_database = pytest.mark.parametrize("kind", KINDS)


def all_at_once(acts: Sequence[Callable[[], object]]) -> Counter[str]:
    """Run the acts concurrently and count their results: ``done``, or the name of the error's class."""
    barrier = threading.Barrier(len(acts))

    def run(act: Callable[[], object]) -> str:
        barrier.wait()
        try:
            act()
        except BlazarError as error:
            return type(error).__name__
        return "done"

    with ThreadPoolExecutor(len(acts)) as executor:
        return Counter(executor.map(run, acts))


def body(env: ReconcilerEnv, name: str, start: float, end: float, count: int = 1) -> Mapping[str, object]:
    return lease_body(name, env.date(start), env.date(end), (count, count))


@every_database
def test_one_of_eight_gets_the_last_host_and_the_others_are_told_that_there_is_none(
    kind: str, env_on: EnvOn
) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=1))

    results = all_at_once(
        [
            functools.partial(env.manager.service.create_lease, LESSEE, body(env, str(number), 1, 2))
            for number in range(8)
        ]
    )

    assert results == {"done": 1, "NotEnoughHosts": 7}
    check_settled_after(env, 1.1)


class Three:
    """Limits of three hosts for every project."""

    def get(self, project_id: str, *, fresh: bool = False) -> Mapping[str, int]:
        return self.get_defaults()

    def get_defaults(self) -> Mapping[str, int]:
        return {"reserved_hosts": 3}


@every_database
def test_requests_at_the_same_time_do_not_exceed_a_limit_together(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=8))
    managers = [ManagerService(replace(env.new_manager().context, limits=Three())) for _ in range(4)]

    results = all_at_once(
        [
            functools.partial(each.create_lease, LESSEE, body(env, f"{number} {attempt}", 1, 2))
            for number, each in enumerate(managers)
            for attempt in range(2)
        ]
    )

    assert results == {"done": 3, "QuotaExceeded": 5}
    check_settled_after(env, 1.1)


@every_database
def test_managers_that_do_not_know_of_each_other_promise_each_host_once(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=4))
    managers = [env.new_manager() for _ in range(4)]

    results = all_at_once(
        [
            functools.partial(each.service.create_lease, LESSEE, body(env, f"{each.name} {number}", 1, 2, 2))
            for each in managers
            for number in range(2)
        ]
    )

    assert results == {"done": 2, "NotEnoughHosts": 6}
    check_settled_after(env, 1.1)


@every_database
def test_two_updates_at_once_both_take_effect(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    lease = env.create("a", 1, 2)
    manager = env.manager.service

    results = all_at_once(
        [
            lambda: manager.update_lease(LESSEE, lease, {"end_date": env.date(4)}),
            lambda: manager.update_lease(LESSEE, lease, {"name": "b"}),
        ]
    )

    assert results == {"done": 2}
    assert (env.lease(lease).name, env.lease(lease).end) == ("b", env.instant(4))
    check_settled_after(env, 1.1)


@every_database
def test_of_two_that_want_the_same_hour_of_one_host_one_gets_it(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=1))
    first, second = env.create("a", 1, 2), env.create("b", 3, 4)
    manager = env.manager.service

    results = all_at_once(
        [
            lambda: manager.update_lease(LESSEE, first, {"end_date": env.date(3)}),
            lambda: manager.update_lease(LESSEE, second, {"start_date": env.date(2)}),
            lambda: manager.create_lease(LESSEE, body(env, "c", 2, 3)),
        ]
    )

    assert results == {"done": 1, "NotEnoughHosts": 2}
    check_settled_after(env, 2.5)


@every_database
def test_a_lease_that_is_updated_and_deleted_at_once_is_gone(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    lease = env.create("a", "now", 2)
    env.at(0.5)
    manager = env.manager.service

    results = all_at_once(
        [
            lambda: manager.update_lease(LESSEE, lease, {"end_date": env.date(4)}),
            lambda: manager.delete_lease(LESSEE, lease),
            lambda: manager.delete_lease(LESSEE, lease),
        ]
    )

    assert results["done"] >= 2
    assert results.keys() <= {"done", "InvalidLeaseStatus", "LeaseNotFound"}
    check_settled_after(env, 0.6)
    assert env.leases() == ()


def test_a_lease_that_is_deleted_while_it_starts_is_taken_back(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, (2, 2))
    env.at(0.99)

    def delete() -> None:
        assert env.lease(lease).status is LeaseStatus.STARTING
        env.manager.service.delete_lease(LESSEE, lease)

    env.faults.before("compute.remove_host", delete)
    env.at(1.1)

    assert env.leases() == ()
    assert env.sent.counts[lease, "lease.delete"] == 1


def test_a_lease_that_starts_cannot_be_changed(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, (2, 2))
    env.at(0.99)

    def update() -> None:
        with pytest.raises(InvalidLeaseStatus):
            env.manager.service.update_lease(LESSEE, lease, {"end_date": env.date(4)})

    env.faults.before("compute.remove_host", update)
    env.at(1.1)

    assert env.lease(lease).end == env.instant(2)


def test_a_lease_is_renamed_between_two_steps_of_its_start_and_starts(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, (2, 2))
    env.at(0.99)

    def rename() -> None:
        assert env.lease(lease).status is LeaseStatus.STARTING
        env.manager.service.update_lease(LESSEE, lease, {"name": "b"})

    env.faults.before("compute.remove_host", rename)
    env.at(1.1)

    assert (env.lease(lease).name, env.lease(lease).status) == ("b", LeaseStatus.ACTIVE)
    assert env.sent.counts[lease, "lease.event.start_lease"] == 1


def test_a_change_during_a_pass_is_looked_at_at_once(env: ReconcilerEnv) -> None:
    lease = env.create("a", "now", 2)
    env.at(0.5)
    env.resize(lease, 1, 2)
    env.faults.before(
        "compute.remove_host", lambda: env.manager.service.update_lease(LESSEE, lease, {"end_date": "now"})
    )

    env.run_due()

    assert env.lease(lease).status is LeaseStatus.TERMINATED
    check_settled(env)


def test_a_host_released_during_the_pass_of_its_next_holder_is_handed_over_at_once(
    env: ReconcilerEnv,
) -> None:
    env.reset(Conditions(hosts=1))
    env.create("a", "now", 1)
    second = env.create("b", 1, 2)
    env.at(0.999)
    env.clock.set(env.instant(1))

    # The pass for the first lease has read the database before the other lease's pass runs.
    env.faults.before("compute.list_aggregates", env.new_manager().reconciler.run_due)
    env.run_due()

    assert env.lease(second).status is LeaseStatus.ACTIVE
    check_settled(env)


def test_a_worker_that_was_paused_until_its_claim_was_taken_over_does_no_more(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, (2, 2))
    env.at(0.99)
    other = env.new_manager()
    calls = []

    def pause() -> None:
        env.clock.advance(timedelta(seconds=11))
        other.reconciler.run_due()
        assert env.lease(lease).status is LeaseStatus.ACTIVE
        calls.append(env.cloud.calls)

    env.faults.before("compute.add_host", pause)
    env.run_until(1)

    after = [row for row in env.rows().journal if row.at > env.instant(1)]
    assert {row.actor for row in after} == {other.name}
    # The cloud refuses the next operation; the worker looks for the cause and stops there.
    assert set(env.cloud.calls - calls[0]) == {"compute.list_aggregates"}
    env.at(1.1)


def test_a_worker_whose_clock_is_behind_writes_nothing_after_its_claim_was_taken_over(
    env: ReconcilerEnv,
) -> None:
    lease = env.create("a", 1, 2, (2, 2))
    env.at(0.99)
    ahead = env.new_manager(ManualClock(env.instant(1) + timedelta(seconds=30)))

    env.faults.before("compute.add_host", ahead.reconciler.run_due)
    env.run_until(1)

    written = [row for row in env.rows().journal if row.reason == "STARTING -> ACTIVE"]
    assert [row.actor for row in written] == [ahead.name]
    assert env.lease(lease).status is LeaseStatus.ACTIVE


def test_a_killed_manager_s_work_is_taken_over_within_fifteen_seconds(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, (2, 2))
    env.at(0.99)

    env.faults.add(FaultRule(kind=FaultKind.CRASH, operation="compute.remove_host", nth=1))
    env.run_until(1)
    assert env.lease(lease).status is LeaseStatus.STARTING
    env.run_until(1 + 15 / 3600)

    assert env.lease(lease).status is LeaseStatus.ACTIVE


@every_database
def test_weakness_02_four_managers_start_and_end_every_lease_once(env_on: EnvOn, kind: str) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=8))
    for number in range(8):
        env.create(f"early {number}", 1, 2)
        env.create(f"late {number}", 2, 3)
    managers = [env.new_manager() for _ in range(4)]

    for hours in (1, 2, 3):
        env.run_until(hours - 0.01)
        env.clock.set(env.instant(hours))
        with env.faults.exempt():
            results = all_at_once([each.reconciler.run_due for each in managers])
        assert results.keys() <= {"done", "ConcurrentUpdate"}
        env.at(hours + 0.1)

    check_said_once(env)


def check_settled_after(env: ReconcilerEnv, hours: float) -> None:
    check_always(env)
    env.at(hours)
