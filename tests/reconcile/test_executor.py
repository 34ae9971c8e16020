"""Hosts of one reservation that several threads hand over and release at the same time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import pytest
from reconcile.invariants import check_always, check_settled
from reconcile.parts import Conditions
from reconcile.reconciler_env import ReconcilerEnv
from reconcile.slots import instances

from blazar.cloud.openstack.executor import ThreadedExecutor
from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import CloudConflict
from blazar.domain.lease import LeaseStatus
from blazar.ports.executor import ResultT

HOSTS = 12


class SeenThreads(ThreadedExecutor):
    """Executor that counts how many acts were submitted together."""

    def __init__(self) -> None:
        super().__init__(4)
        self.sizes: dict[int, int] = defaultdict(int)

    def run(self, acts: Sequence[Callable[[], ResultT]]) -> list[ResultT]:
        self.sizes[len(acts)] += 1
        return super().run(acts)


@pytest.fixture
def threads(env: ReconcilerEnv) -> SeenThreads:
    threads = SeenThreads()
    env.reset(Conditions(hosts=HOSTS))
    env.cloud.executor = threads
    return threads


def test_all_hosts_come_and_go_together(env: ReconcilerEnv, threads: SeenThreads) -> None:
    lease = env.create("a", 1, 2, (HOSTS, HOSTS))

    env.at(1.1)
    assert len(env.hosts_of(lease)) == HOSTS
    check_always(env)
    env.at(2.1)

    # Add members, leave the freepool; join the freepool, remove members.
    assert threads.sizes[HOSTS] == 4
    assert env.lease(lease).status is LeaseStatus.TERMINATED
    check_settled(env)


def test_slots_are_made_and_removed_together(env: ReconcilerEnv, threads: SeenThreads) -> None:
    lease = env.create("a", 1, 2, instances(HOSTS, False))

    env.at(1.1)
    assert env.lease(lease).status is LeaseStatus.ACTIVE
    check_always(env)
    env.at(2.1)

    assert threads.sizes[HOSTS] >= 4
    check_settled(env)


def test_a_host_that_fails_does_not_hold_up_those_beside_it(env: ReconcilerEnv, threads: SeenThreads) -> None:
    env.faults.add(FaultRule(kind=FaultKind.ERROR, operation="compute.add_host", nth=3, error=CloudConflict))
    lease = env.create("a", 1, 2, (HOSTS, HOSTS))

    env.clock.set(env.instant(1))
    env.run_due()

    assert len(env.hosts_of(lease)) >= HOSTS - 1
    env.at(1.1)
    assert len(env.hosts_of(lease)) == HOSTS
    env.at(2.1)
    check_settled(env)


def test_calls_that_fail_now_and_then_leave_nothing_behind(env: ReconcilerEnv, threads: SeenThreads) -> None:
    env.faults.add(FaultRule(kind=FaultKind.STATUS, every=11))
    env.faults.add(FaultRule(kind=FaultKind.LOSE_REPLY, every=13))
    first = env.create("hosts", 1, 2, (HOSTS, HOSTS))
    env.create("slots", 2, 3, instances(HOSTS, False))
    env.create("hosts again", 3, 4, (HOSTS, HOSTS))

    env.at(1.1)
    assert env.lease(first).status is LeaseStatus.ACTIVE
    env.at(4.1)

    check_settled(env)
