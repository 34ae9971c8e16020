"""A step that never ends: its claim is taken over, and its thread does not block other work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from clocks import ManualClock
from reconcile.reconciler_env import ReconcilerEnv
from telemetry.counting import Counts

from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import LeaseStatus
from blazar.ports import metrics
from blazar.ports.work import Claim
from blazar.reconcile.claims import ClaimKeeper, Interrupted
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import OutboxSender
from blazar.reconcile.workers import Workers

DURATION, LIMIT = timedelta(seconds=10), timedelta(seconds=60)
SECONDS = 30


def soon(is_so: Callable[[], bool]) -> bool:
    """Return whether a condition becomes true while other threads work, within SECONDS."""
    return any(is_so() or threading.Event().wait(0.01) for _ in range(100 * SECONDS)) and is_so()


class TestClaims:
    @pytest.fixture
    def keeper(self, env: ReconcilerEnv) -> ClaimKeeper:
        env.create("a", 1, 2, None)
        env.jump(1)
        return ClaimKeeper(env.store, env.clock, "one", DURATION, LIMIT)

    def renew_for(self, env: ReconcilerEnv, keeper: ClaimKeeper, duration: timedelta) -> list[Claim]:
        end = env.clock.now() + duration
        overdue: list[Claim] = []
        while env.clock.now() < end:
            env.clock.advance(DURATION / 4)
            overdue += keeper.renew()
        return overdue

    def test_a_claim_is_renewed_as_long_as_its_steps_keep_to_their_deadline(
        self, env: ReconcilerEnv, keeper: ClaimKeeper
    ) -> None:
        (claim,) = keeper.take(1)
        for _ in range(5):
            assert self.renew_for(env, keeper, LIMIT * 0.9) == []
            keeper.check(claim)

    def test_a_step_past_its_deadline_loses_its_claim_once(
        self, env: ReconcilerEnv, keeper: ClaimKeeper
    ) -> None:
        (claim,) = keeper.take(1)

        assert self.renew_for(env, keeper, LIMIT + 2 * DURATION) == [claim]

        (taken,) = ClaimKeeper(env.store, env.clock, "other", DURATION).take(1)
        assert (taken.key, taken.taken_from) == (claim.key, "one")
        with pytest.raises(Interrupted):
            keeper.check(claim)
        with env.store.begin() as transaction, pytest.raises(ConcurrentUpdate):
            transaction.work.finish(claim, None, 0)

    def test_a_step_that_ends_before_its_claim_runs_out_keeps_it(
        self, env: ReconcilerEnv, keeper: ClaimKeeper
    ) -> None:
        (claim,) = keeper.take(1)
        assert self.renew_for(env, keeper, LIMIT + DURATION / 4) == [claim]

        keeper.check(claim)

        assert self.renew_for(env, keeper, LIMIT * 0.9) == []
        keeper.check(claim)

    def test_without_a_deadline_a_step_may_take_any_time(
        self, env: ReconcilerEnv, keeper: ClaimKeeper
    ) -> None:
        patient = ClaimKeeper(env.store, env.clock, "one", DURATION)
        (claim,) = patient.take(1)

        assert self.renew_for(env, patient, 10 * LIMIT) == []
        patient.check(claim)


class TestWorkers:
    def setup_method(self) -> None:
        self.counts, self.go_on = Counts(), threading.Event()
        self.done: list[str] = []
        self.workers = Workers(2, self.work, lambda: None, self.counts)
        self.workers.start()

    def teardown_method(self) -> None:
        self.go_on.set()

    def work(self, claim: Claim) -> None:
        if claim.key.startswith("hang"):
            self.go_on.wait(SECONDS)
        self.done.append(claim.key)

    def submit(self, key: str) -> Claim:
        claim = Claim(key=key, number=1, attempts=0, due_at=ManualClock().now())
        self.workers.submit(claim)
        return claim

    def hang(self, number: int) -> None:
        """Let a worker hang, and wait until the gauge shows it."""
        claim, before = self.submit(f"hang {number}"), self.workers.hanging()

        def is_noted() -> bool:
            self.workers.note_hanging(claim)
            return self.workers.hanging() > before

        assert soon(is_noted)

    def test_a_worker_that_hangs_is_replaced_and_its_slot_is_free(self) -> None:
        assert self.workers.take_slots() == 2

        self.hang(1)

        assert self.workers.take_slots() == 1
        assert self.counts.gauges == {(metrics.WORKERS_HANGING.name,): 1}
        assert self.workers.problems() == ()
        self.hang(2)
        self.submit("other")
        assert soon(lambda: self.done == ["other"])

    def test_as_many_as_there_are_workers_are_replaced_and_no_more(self) -> None:
        self.workers.take_slots()
        for number in (1, 2):
            self.hang(number)
        assert self.workers.problems() != ()
        assert not self.workers.are_lost()
        assert self.workers.take_slots() == 2

        for number in (3, 4):
            self.hang(number)

        assert self.workers.are_lost()
        assert self.workers.take_slots() == 0

    def test_those_that_come_back_are_counted_no_more(self) -> None:
        self.workers.take_slots()
        for number in (1, 2):
            self.hang(number)

        self.go_on.set()

        assert soon(lambda: self.workers.hanging() == 0)
        assert self.counts.gauges == {(metrics.WORKERS_HANGING.name,): 0}
        assert self.workers.problems() == ()
        assert self.workers.take_slots() == 2

    def test_stopping_does_not_wait_for_them(self) -> None:
        self.hang(1)

        self.workers.stop()

        assert self.done == []


class WaitedOnClock(ManualClock):
    """A manual clock whose waits block the thread in real time."""

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        """Wait for *event*, for 50 ms of real time at most; return whether it was set."""
        return event.wait(min(timeout.total_seconds(), 0.05))


def test_a_lease_whose_step_hangs_is_started_by_another_manager(env: ReconcilerEnv) -> None:
    leases = [env.create("a", 1, 2), env.create("b", 1, 2)]
    env.at(0.99)
    env.jump(1)
    clock, counts = WaitedOnClock(env.clock.now()), Counts()
    settings = env.manager.context.settings
    settings = replace(settings, reconciler=replace(settings.reconciler, workers=1, step_limit=LIMIT))
    context = replace(env.manager.context, clock=clock, settings=settings, meter=counts)
    reconciler = Reconciler(
        context, "hanging", OutboxSender(env.store, clock, env.sent, {}), threading.Event()
    )
    hangs, go_on = threading.Event(), threading.Event()

    def hang() -> None:
        hangs.set()
        assert go_on.wait(SECONDS)

    env.faults.before("compute.add_host", hang)
    reconciler.start()
    try:
        assert hangs.wait(SECONDS)
        clock.advance(LIMIT + DURATION)
        assert soon(lambda: reconciler.hanging() == 1)
        clock.advance(2 * DURATION)

        assert soon(lambda: {str(env.lease(each).status) for each in leases} == {"ACTIVE"})
        assert counts.of(metrics.STEPS_OVERDUE) == {(): 1}
        before = [env.lease(each) for each in leases]
        go_on.set()
        assert soon(lambda: reconciler.hanging() == 0)
    finally:
        go_on.set()
        reconciler.stop()
    assert [env.lease(each) for each in leases] == before
    env.clock.set(clock.now())
    env.at(1.5)
    assert env.lease(leases[0]).status is LeaseStatus.ACTIVE
