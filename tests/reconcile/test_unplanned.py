"""No lease is forgotten: a later read finds what an earlier one missed, and missing work is scheduled."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa
from clocks import EPOCH
from databases import KINDS
from reconcile.lab import Lab, LabOn

from blazar.db import tables
from blazar.domain.lease import LeaseStatus
from blazar.reconcile.periodic.tasks import PLAN_LEASES


def planned(lab: Lab) -> set[str]:
    with lab.engine.connect() as connection:
        return set(connection.scalars(sa.select(tables.work.c.key)))


def lose_work(lab: Lab) -> None:
    with lab.engine.begin() as connection:
        connection.execute(sa.delete(tables.work))


def status(lab: Lab, lease_id: str) -> LeaseStatus:
    return lab.lease(lease_id).status


def test_a_lease_that_the_database_does_not_show_yet_is_started_when_it_does(lab: Lab) -> None:
    lease = lab.lease(lab.create("late", 1, 2))
    with lab.store.begin() as transaction:
        transaction.leases.delete(lease)
        transaction.commit()
    lab.jump(1)
    lab.run_due()
    assert planned(lab) == {lease.id}

    with lab.store.begin() as transaction:
        transaction.leases.insert(lease)
        transaction.commit()
    lab.run_until(1.01)

    assert status(lab, lease.id) is LeaseStatus.ACTIVE


def test_work_for_a_lease_that_was_deleted_is_dropped_at_once(lab: Lab) -> None:
    lease_id = lab.create("deleted", 1, 2)
    lab.delete(lease_id)
    lab.plan_look(lease_id)

    lab.run_due()

    assert planned(lab) == set()


def test_work_for_a_lease_that_never_appears_is_dropped_after_some_minutes(lab: Lab) -> None:
    lab.plan_look("nothing")

    lab.run_until(1 / 60)
    assert planned(lab) == {"nothing"}
    lab.run_until(1 / 6)

    assert planned(lab) == set()


@pytest.mark.parametrize("kind", KINDS)
def test_a_lease_without_planned_work_is_found_and_ends_as_if_it_had_some(kind: str, lab_on: LabOn) -> None:
    lab = lab_on(kind)
    coming, running = lab.create("coming", 1, 3), lab.create("running", "now", 3)
    lab.at(0.5)
    lose_work(lab)

    lab.plan_chore(PLAN_LEASES)
    lab.at(2)
    assert status(lab, coming) is status(lab, running) is LeaseStatus.ACTIVE
    lab.at(4)

    assert {status(lab, each) for each in (coming, running)} == {LeaseStatus.TERMINATED}


def test_a_lease_that_is_over_is_not_planned_again(lab: Lab) -> None:
    ended = lab.create("ended", "now", 1)
    lab.at(2)
    assert status(lab, ended) is LeaseStatus.TERMINATED
    failed = lab.lease(lab.create("failed", "now", 3))
    lab.at(4)
    with lab.store.begin() as transaction:
        stored = transaction.leases.find(failed.id)
        assert stored is not None
        transaction.leases.replace(stored, replace(stored, status=LeaseStatus.ERROR), EPOCH)
        transaction.commit()
    before = planned(lab)

    lab.plan_chore(PLAN_LEASES)
    lab.run_due()

    assert planned(lab) - {PLAN_LEASES} == before
