"""Waiting leases in the database."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from samples import at, make_lease
from statements import counted

from blazar.db.store import SqlStore
from blazar.domain.lease import Lease, LeaseStatus, ReservationStatus
from blazar.ports.work import WaitingLease

NOW = at(2)


def with_reservation(lease: Lease, **fields: Any) -> Lease:
    """Return the lease with changed fields of its first reservation."""
    first, *rest = lease.reservations
    return replace(lease, reservations=(replace(first, **fields), *rest))


def insert(store: SqlStore, *leases: Lease) -> None:
    """Store leases that are next due at their end."""
    with store.begin() as transaction:
        transaction.leases.insert_many(leases)
        transaction.work.plan({each.id: each.end for each in leases})
        transaction.commit()


def waiting(store: SqlStore) -> dict[str, WaitingLease]:
    with store.read() as transaction:
        return {each.id: each for each in transaction.work.list_waiting(NOW)}


def test_leases_wait_that_are_stuck_or_have_a_problem(store: SqlStore) -> None:
    insert(
        store,
        make_lease("fine", status=LeaseStatus.ACTIVE),
        make_lease("starting", status=LeaseStatus.STARTING, updated_at=at(1.9)),
        make_lease("just", status=LeaseStatus.STARTING, updated_at=at(2.1)),
        with_reservation(make_lease("held", reservations=2), problem="h1 is not free", updated_at=at(1)),
        with_reservation(make_lease("degraded", status=LeaseStatus.ACTIVE), missing_resources=True),
        with_reservation(
            make_lease("over", status=LeaseStatus.TERMINATED),
            problem="it was late",
            status=ReservationStatus.DELETED,
        ),
    )

    found = waiting(store)

    assert set(found) == {"starting", "held", "degraded"}
    assert (found["starting"].since, found["starting"].reservations) == (at(1.9), ())
    [reason] = found["held"].reservations
    assert (reason.id, reason.problem, found["held"].since) == ("held-r0", "h1 is not free", at(1))
    assert found["held"].due_at == at(5)
    assert found["degraded"].reservations[0].problem is None


@pytest.mark.parametrize(("attempts", "due", "is_waiting"), [(0, 3, False), (2, 3, True), (0, 1, True)])
def test_a_lease_waits_whose_pass_failed_or_is_overdue(
    store: SqlStore, attempts: int, due: float, is_waiting: bool
) -> None:
    insert(store, make_lease("lease", end=1.5))
    with store.begin() as transaction:
        [claim] = transaction.work.claim_due("m1", NOW, NOW + timedelta(seconds=10), 1)
        transaction.work.finish(claim, at(due), attempts)
        transaction.commit()

    found = waiting(store)

    assert ("lease" in found) is is_waiting
    assert [(each.attempts, each.due_at) for each in found.values()] == [(attempts, at(due))] * is_waiting


def test_the_manager_that_works_on_a_lease_is_known_while_its_claim_is_valid(store: SqlStore) -> None:
    insert(store, make_lease("lease", end=1.5))
    with store.begin() as transaction:
        transaction.work.claim_due("m1", NOW, NOW + timedelta(seconds=10), 1)
        transaction.commit()

    found = waiting(store)["lease"]

    assert found.worker_at(NOW) == "m1"
    assert found.worker_at(NOW + timedelta(seconds=10)) is None


def test_what_is_in_error_is_not_tried_by_itself_before_the_end(store: SqlStore) -> None:
    lease = make_lease("lease", status=LeaseStatus.ERROR)
    insert(store, with_reservation(lease, status=ReservationStatus.ERROR, problem="refused"))

    found = waiting(store)["lease"]

    assert found.next_try(NOW) is None
    assert found.next_try(at(6)) == replace(found, is_deleting=True).next_try(NOW) == at(5)


def test_there_is_one_statement_however_many_wait(store: SqlStore, engine: sa.Engine) -> None:
    insert(
        store,
        *(
            with_reservation(make_lease(f"l{number}", reservations=2), problem="no answer")
            for number in range(30)
        ),
    )

    with counted(engine) as statements:
        assert len(waiting(store)) == 30

    assert statements.count("SELECT") == 1
    assert statements.count("INSERT", "UPDATE", "DELETE") == 0
