"""The uses of projects, on every database."""

from __future__ import annotations

from datetime import timedelta

import pytest
from clocks import EPOCH
from samples import at, make_allocation, make_host, make_lease, window

from blazar.db.store import SqlStore
from blazar.domain.capacity import Demand, Share
from blazar.domain.lease import Allocation, Lease, ResourceId
from blazar.domain.rules.uses import Use
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


def uses(store: SqlStore, project_id: str = "project", *, since: float = -99) -> list[Use]:
    with store.read() as transaction:
        found = transaction.uses.of_project(project_id, EPOCH, at(since))
    return sorted(found, key=lambda each: (each.resource_id, each.window))


def use(lease_id: str, resource_id: ResourceId, start: float, end: float, units: int = 1) -> Use:
    return Use(
        lease_id=lease_id,
        user_id="user",
        resource_type="physical:host",
        resource_id=resource_id,
        window=window(start, end),
        units=units,
    )


def test_uses_by_leases(store: SqlStore) -> None:
    lease, other = make_lease(), make_lease("other", project_id="other")
    own = lease.reservations[0].id
    insert(store, lease, make_allocation(IDS[0], own, 1, 5), make_allocation(IDS[1], own, 2, 5, share=SHARE))
    insert(store, other, make_allocation(IDS[2], other.reservations[0].id, 1, 5))

    assert uses(store) == [use("lease", IDS[0], 1, 5), use("lease", IDS[1], 2, 5, units=2)]
    assert uses(store, since=5) == []
    assert uses(store, "none") == []


def test_a_use_is_kept_after_its_lease(store: SqlStore) -> None:
    lease = make_lease()
    own = lease.reservations[0].id
    insert(
        store,
        lease,
        *(make_allocation(each, own, start, 5) for each, start in zip(IDS, (1, 1, 4), strict=True)),
    )

    with store.begin() as transaction:
        transaction.uses.record(own, IDS[:1], at(3))
        transaction.allocations.release(own, IDS[:1], None)
        transaction.uses.record(own, None, at(4))
        transaction.allocations.remove(own)
        stored = transaction.leases.find(lease.id)
        assert stored is not None
        transaction.leases.delete(stored)
        transaction.commit()

    # The third host was to be used only from that moment on.
    assert uses(store) == [use("lease", IDS[0], 1, 3), use("lease", IDS[1], 1, 4)]
    with store.begin() as transaction:
        assert transaction.uses.delete_before(at(4)) == 1
        transaction.commit()
    assert uses(store) == [use("lease", IDS[1], 1, 4)]


def test_a_use_that_has_ended_is_recorded_with_its_end(store: SqlStore) -> None:
    lease = make_lease()
    own = lease.reservations[0].id
    insert(store, lease, make_allocation(IDS[0], own, 1, 5))

    with store.begin() as transaction:
        transaction.uses.record(own, [], at(6))
        transaction.uses.record(own, IDS, at(6) + timedelta(seconds=3))
        transaction.allocations.release(own, IDS, at(6))
        transaction.commit()

    assert uses(store) == [use("lease", IDS[0], 1, 5)]
