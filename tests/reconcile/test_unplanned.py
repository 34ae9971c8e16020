"""No lease is forgotten: a later read finds what an earlier one missed, and missing work is scheduled."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa
from clocks import EPOCH
from databases import KINDS
from reconcile.reconciler_env import EnvOn, ReconcilerEnv

from blazar.db import tables
from blazar.domain.lease import LeaseStatus
from blazar.reconcile.periodic.tasks import PLAN_LEASES


def planned(env: ReconcilerEnv) -> set[str]:
    with env.engine.connect() as connection:
        return set(connection.scalars(sa.select(tables.work.c.key)))


def lose_work(env: ReconcilerEnv) -> None:
    with env.engine.begin() as connection:
        connection.execute(sa.delete(tables.work))


def status(env: ReconcilerEnv, lease_id: str) -> LeaseStatus:
    return env.lease(lease_id).status


def test_a_lease_that_the_database_does_not_show_yet_is_started_when_it_does(env: ReconcilerEnv) -> None:
    lease = env.lease(env.create("late", 1, 2))
    with env.store.begin() as transaction:
        transaction.leases.delete(lease)
        transaction.commit()
    env.jump(1)
    env.run_due()
    assert planned(env) == {lease.id}

    with env.store.begin() as transaction:
        transaction.leases.insert(lease)
        transaction.commit()
    env.run_until(1.01)

    assert status(env, lease.id) is LeaseStatus.ACTIVE


def test_work_for_a_lease_that_was_deleted_is_dropped_at_once(env: ReconcilerEnv) -> None:
    lease_id = env.create("deleted", 1, 2)
    env.delete(lease_id)
    env.plan_look(lease_id)

    env.run_due()

    assert planned(env) == set()


def test_work_for_a_lease_that_never_appears_is_dropped_after_some_minutes(env: ReconcilerEnv) -> None:
    env.plan_look("nothing")

    env.run_until(1 / 60)
    assert planned(env) == {"nothing"}
    env.run_until(1 / 6)

    assert planned(env) == set()


@pytest.mark.parametrize("kind", KINDS)
def test_a_lease_without_planned_work_is_found_and_ends_as_if_it_had_some(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    coming, running = env.create("coming", 1, 3), env.create("running", "now", 3)
    env.at(0.5)
    lose_work(env)

    env.plan_periodic_task(PLAN_LEASES)
    env.at(2)
    assert status(env, coming) is status(env, running) is LeaseStatus.ACTIVE
    env.at(4)

    assert {status(env, each) for each in (coming, running)} == {LeaseStatus.TERMINATED}


def test_a_lease_that_is_over_is_not_planned_again(env: ReconcilerEnv) -> None:
    ended = env.create("ended", "now", 1)
    env.at(2)
    assert status(env, ended) is LeaseStatus.TERMINATED
    failed = env.lease(env.create("failed", "now", 3))
    env.at(4)
    with env.store.begin() as transaction:
        stored = transaction.leases.find(failed.id)
        assert stored is not None
        transaction.leases.replace(stored, replace(stored, status=LeaseStatus.ERROR), EPOCH)
        transaction.commit()
    before = planned(env)

    env.plan_periodic_task(PLAN_LEASES)
    env.run_due()

    assert planned(env) - {PLAN_LEASES} == before
