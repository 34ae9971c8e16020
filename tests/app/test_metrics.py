"""Metrics of a manager at work."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from app.http_env import HttpEnv, shortage
from app.slots import instances
from clocks import EPOCH
from telemetry.counting import Counts

from blazar.domain.lease import ResourceId
from blazar.manager.instrumentation import instrumented
from blazar.ports import metrics
from blazar.reconcile.periodic.tasks import SWEEP


@pytest.fixture
def counts(env: HttpEnv, hosts: list[str]) -> Counts:
    """Return the counters of an environment with four hosts."""
    counts = Counts()
    env.restart(instrumented(env.context, counts))
    return counts


def test_events_are_late_by_what_passed_since_they_were_due(env: HttpEnv, counts: Counts) -> None:
    env.create(10, 130)
    env.work()

    env.clock.set(EPOCH + timedelta(minutes=10, seconds=4))
    env.work()
    env.clock.set(EPOCH + timedelta(minutes=130, seconds=9))
    env.work()

    assert counts.values(metrics.EVENT_LAG_SECONDS) == {
        ("start_lease",): [4.0],
        ("before_end_lease",): [timedelta(minutes=60, seconds=9).total_seconds()],
        ("end_lease",): [9.0],
    }
    assert counts.of(metrics.EVENTS) == {
        ("start_lease", "done"): 1,
        ("before_end_lease", "done"): 1,
        ("end_lease", "done"): 1,
    }


def test_a_start_now_is_not_late_by_the_part_of_the_minute_that_is_over(env: HttpEnv, counts: Counts) -> None:
    env.create("now", 130)

    env.work()

    assert counts.values(metrics.EVENT_LAG_SECONDS) == {("start_lease",): [0.0]}


def test_an_event_that_was_moved_is_late_since_then(env: HttpEnv, counts: Counts) -> None:
    lease = env.create(10, 130)
    env.pass_time(20)
    env.change(lease, end_date="now")

    env.clock.advance(timedelta(seconds=5))
    env.work()

    assert counts.values(metrics.EVENT_LAG_SECONDS)[("end_lease",)] == [5.0]


def test_an_event_takes_as_long_as_its_resources_let_it_wait(env: HttpEnv, counts: Counts) -> None:
    env.create(10, 130, min=4, max=4)
    env.clock.set(EPOCH + timedelta(minutes=10))

    with env.failing("compute.add_host"):
        env.work()
    env.clock.advance(timedelta(seconds=50))
    env.work()

    assert counts.values(metrics.EVENT_SECONDS)[("start_lease",)] == [50.0]
    assert counts.of(metrics.EVENTS) == {("start_lease", "done"): 1}


def test_a_start_that_fails_for_good_is_an_error(env: HttpEnv, counts: Counts) -> None:
    env.create(10, 130)
    env.clock.set(EPOCH + timedelta(minutes=10))

    with env.failing("compute.create_aggregate", status=403):
        env.work()

    assert counts.of(metrics.EVENTS) == {("start_lease", "error"): 1}


def test_shortages_are_counted_by_type(env: HttpEnv, counts: Counts) -> None:
    shortage(env.post("/leases", env.wish(min=5, max=5)))
    shortage(env.post("/leases", env.wish(asked=instances(amount=9999))))

    assert counts.of(metrics.SHORTAGES) == {("physical:host",): 1, ("virtual:instance",): 1}


def test_passes_periodic_tasks_and_steps_are_counted(env: HttpEnv, counts: Counts) -> None:
    env.create("now", 130)
    with env.failing("compute.list_aggregates"):
        env.reconciler.plan_periodic_tasks()
        env.work()

    env.clock.advance(timedelta(minutes=5))
    env.work()

    looks = {outcome: len(values) for (outcome,), values in counts.values(metrics.PASS_SECONDS).items()}
    assert looks.keys() == {"done"}
    assert counts.of(metrics.CLOUD_CALL_FAILURES)[("compute", "list_aggregates", "cloud-unavailable")] > 0
    assert len(counts.values(metrics.PERIODIC_TASK_SECONDS)[(SWEEP,)]) >= 2
    assert counts.of(metrics.STEPS)[("physical:host", "make", "member", "done")] == 1


def test_a_periodic_task_that_fails_is_counted_beside_those_that_do_not(env: HttpEnv, counts: Counts) -> None:
    with env.failing("compute.list_hypervisors"):
        env.reconciler.plan_periodic_tasks()
        env.work()

    assert counts.of(metrics.PERIODIC_TASK_FAILURES) == {("refresh",): 1}


def test_what_a_silent_manager_was_at_is_counted_by_who_takes_it_over(env: HttpEnv, counts: Counts) -> None:
    lease = env.create("now", 130)
    now = env.clock.now()
    with env.context.store.begin() as transaction:
        transaction.work.take(lease["id"], "a manager that dies", now, now + timedelta(seconds=10))
        transaction.commit()

    env.clock.advance(timedelta(seconds=10))
    env.work()

    assert env.status(lease) == "ACTIVE"
    assert counts.of(metrics.TAKEOVERS) == {(): 1}


def test_a_use_case_that_is_begun_again_is_counted(env: HttpEnv, counts: Counts, hosts: list[str]) -> None:
    class Faster:
        """Store in which a concurrent booking changes every host before the first writing transaction."""

        def __init__(self) -> None:
            self.inner = env.context.store
            self.is_first = True

        def read(self) -> object:
            return self.inner.read()

        def begin(self) -> object:
            if self.is_first:
                self.is_first = False
                with self.inner.begin() as transaction:
                    transaction.allocations.touch([ResourceId(each) for each in hosts])
                    transaction.commit()
            return self.inner.begin()

    env.restart(replace(env.context, store=Faster()))  # type: ignore[arg-type]
    env.create("now", 130, min=1, max=1)

    assert counts.of(metrics.RETRIES) == {(): 1}
