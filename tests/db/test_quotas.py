"""Counts of a project's reservations, on every database."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from clocks import EPOCH
from samples import make_allocation, make_host, make_lease
from statements import counted

from blazar.db.store import SqlStore
from blazar.domain.capacity import Demand, Share
from blazar.domain.lease import Allocation, Lease, LeaseStatus, ResourceId
from blazar.domain.quotas import Held, Reserved
from blazar.plugins.hosts.store import HOST_STORE

IDS = [ResourceId(str(number)) for number in range(3)]
SHARE = Share(slots=2, demand=Demand.of({"VCPU": 4}))


@pytest.fixture(autouse=True)
def hosts(store: SqlStore) -> None:
    with store.begin() as transaction:
        for each in IDS:
            transaction.of(HOST_STORE).insert(make_host(each))
        transaction.commit()


def insert(store: SqlStore, lease: Lease, *allocations: Allocation) -> None:
    with store.begin() as transaction:
        transaction.leases.insert(lease)
        transaction.allocations.insert(allocations)
        transaction.commit()


def reserved(store: SqlStore, project_id: str, *, hours: float = 0) -> Reserved:
    with store.read() as transaction:
        return transaction.quotas.reserved(project_id, EPOCH + timedelta(hours=hours))


def test_a_project_without_leases_has_reserved_nothing(store: SqlStore) -> None:
    assert reserved(store, "none") == Reserved(leases=0, held=())


def test_what_is_alike_comes_together_in_two_statements(store: SqlStore, engine: sa.Engine) -> None:
    lease = make_lease()
    reservation = lease.reservations[0]
    insert(store, lease, *(make_allocation(each, reservation.id, 1, 5) for each in IDS[:2]))
    share = make_allocation(IDS[2], reservation.id, 1, 5, share=SHARE)
    with store.begin() as transaction:
        transaction.allocations.insert([share])
        transaction.commit()

    with counted(engine) as statements:
        found = reserved(store, str(lease.project_id))

    assert found.leases == 1
    assert set(found.held) == {
        Held(resource_type=reservation.resource_type, window=share.window, count=2),
        Held(resource_type=reservation.resource_type, window=share.window, count=1, share=SHARE),
    }
    assert statements.count("SELECT") == 2


def test_ended_released_and_foreign_reservations_are_left_out(store: SqlStore) -> None:
    lease, other = make_lease(), make_lease("other", project_id="other")
    own = make_allocation(IDS[0], lease.reservations[0].id, 1, 5)
    insert(store, lease, own)
    insert(store, other, make_allocation(IDS[1], other.reservations[0].id, 1, 5))

    assert reserved(store, str(lease.project_id), hours=5) == Reserved(leases=0, held=())
    assert [each.count for each in reserved(store, "other").held] == [1]
    with store.begin() as transaction:
        transaction.allocations.release(lease.reservations[0].id, [IDS[0]], EPOCH)
        transaction.commit()
    assert reserved(store, str(lease.project_id)) == Reserved(leases=1, held=())


@pytest.mark.parametrize(
    "changes", [{"is_deleting": True}, {"status": LeaseStatus.TERMINATED}], ids=["deleting", "terminated"]
)
def test_a_lease_that_is_over_before_its_end_does_not_count(store: SqlStore, changes: dict[str, Any]) -> None:
    lease = make_lease()
    insert(store, lease)
    with store.begin() as transaction:
        transaction.leases.replace(lease, replace(lease, **changes), EPOCH)
        transaction.commit()

    assert reserved(store, str(lease.project_id)).leases == 0


def test_a_project_can_be_locked_again_and_again(store: SqlStore) -> None:
    for _ in range(3):
        with store.begin() as transaction:
            transaction.quotas.lock("project")
            transaction.quotas.lock("project")
            transaction.commit()
