"""Stored maintenances, on every database."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from clocks import EPOCH
from samples import SHARE, at, make_allocation, make_host, make_lease

from blazar.db.store import SqlStore
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId
from blazar.domain.maintenance import OPEN_END, Maintenance
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.store import Transaction

ONE, TWO = ResourceId("1"), ResourceId("2")


def write(store: SqlStore, act: Callable[[Transaction], None]) -> None:
    with store.begin() as transaction:
        act(transaction)
        transaction.commit()


@pytest.fixture
def filled(store: SqlStore) -> SqlStore:
    for each in (ONE, TWO):
        write(store, lambda transaction, each=each: transaction.of(HOST_STORE).insert(make_host(each)))  # type: ignore[misc]
    return store


def make_maintenance(
    name: str = "m1", *hosts: ResourceId, start: int = 1, end: int | None = None
) -> Maintenance:
    return Maintenance(
        id=name,
        resource_type="physical:host",
        resource_ids=hosts or (ONE, TWO),
        reason="new disks",
        start=at(start),
        end=OPEN_END if end is None else at(end),
        leaves_pool=True,
        created_at=EPOCH,
        user_id="operator",
    )


def find(store: SqlStore, name: str = "m1") -> Maintenance | None:
    with store.read() as transaction:
        return transaction.maintenances.find(name)


def test_it_is_read_as_it_was_written(filled: SqlStore) -> None:
    later, sooner = make_maintenance(start=5, end=9), make_maintenance("m2", TWO)

    write(filled, lambda each: each.maintenances.insert(later))
    write(filled, lambda each: each.maintenances.insert(sooner))

    assert find(filled) == later
    assert find(filled, "m3") is None
    with filled.read() as transaction:
        assert transaction.maintenances.list() == [sooner, later]
        assert transaction.maintenances.list_ended(at(9)) == []
        assert transaction.maintenances.list_ended(at(10)) == [later]


def test_it_is_replaced_unless_it_changed_meanwhile(filled: SqlStore) -> None:
    before = make_maintenance()
    write(filled, lambda each: each.maintenances.insert(before))
    after = replace(before, end=at(7), resource_ids=(TWO,), reason="done")

    write(filled, lambda each: each.maintenances.replace(before, after))
    assert find(filled) == after
    with pytest.raises(ConcurrentUpdate):
        write(filled, lambda each: each.maintenances.replace(before, replace(before, end=at(8))))
    assert find(filled) == after


@pytest.mark.parametrize(
    "first",
    [{"resource_ids": (TWO,)}, {"reason": "done"}, {"end": at(7)}, {"leaves_pool": False}],
    ids=lambda changed: next(iter(changed)),
)
def test_no_change_is_undone_by_one_that_was_made_of_an_earlier_state(
    filled: SqlStore, first: dict[str, Any]
) -> None:
    before = make_maintenance(end=5)
    write(filled, lambda each: each.maintenances.insert(before))
    changed = replace(before, **first)

    write(filled, lambda each: each.maintenances.replace(before, changed))
    for second in (replace(before, resource_ids=(ONE,)), replace(before, reason="more disks")):
        with pytest.raises(ConcurrentUpdate):
            write(filled, lambda each, second=second: each.maintenances.replace(before, second))  # type: ignore[misc]

    assert find(filled) == changed


def test_of_two_changes_at_the_same_time_one_is_refused(filled: SqlStore) -> None:
    before = make_maintenance()
    write(filled, lambda each: each.maintenances.insert(before))
    changes = [replace(before, resource_ids=(each,)) for each in (ONE, TWO)]
    both = threading.Barrier(2)

    def change(after: Maintenance) -> bool:
        both.wait()
        try:
            write(filled, lambda each: each.maintenances.replace(before, after))
        except ConcurrentUpdate:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(change, changes))

    assert sorted(done) == [False, True]
    assert find(filled) == changes[done.index(True)]


def test_its_bookings_are_deleted_with_it_and_with_a_resource(filled: SqlStore) -> None:
    write(filled, lambda each: each.maintenances.insert(make_maintenance()))
    write(filled, lambda each: each.of(HOST_STORE).delete(ONE))
    found = find(filled)
    assert found is not None
    assert found.resource_ids == (TWO,)

    write(filled, lambda each: each.maintenances.delete(found))
    write(filled, lambda each: each.maintenances.delete(found))

    with filled.read() as transaction:
        assert transaction.maintenances.list() == []
        assert list(transaction.availability.without_lease("host")) == []


def test_its_bookings_end_by_themselves(filled: SqlStore) -> None:
    write(filled, lambda each: each.maintenances.insert(make_maintenance("m1", ONE, end=4)))
    write(filled, lambda each: each.maintenances.insert(make_maintenance("m2", TWO, start=5, end=5)))

    with filled.read() as transaction:
        (booking,) = transaction.availability.without_lease("host")
        assert [booking] == list(transaction.availability.bookings([ONE, TWO]))
    assert (booking.resource_id, booking.window) == (ONE, Interval(at(1), at(4)))
    assert (booking.reservation_id, booking.released_at) == ("m1", at(4))


def test_only_unreleased_allocations_within_the_window_are_affected(filled: SqlStore) -> None:
    def act(transaction: Transaction) -> None:
        for number, (start, end) in enumerate([(1, 3), (3, 5), (8, 9), (4, 6)]):
            transaction.leases.insert(make_lease(f"lease{number}"))
            released_at = EPOCH if number == 3 else None
            allocation = make_allocation("1", f"lease{number}-r0", start, end, share=SHARE)
            transaction.allocations.insert([replace(allocation, released_at=released_at)])

    write(filled, act)

    with filled.read() as transaction:
        found = transaction.maintenances.allocations_within([ONE, TWO], Interval(at(3), at(8)))
        assert transaction.maintenances.allocations_within([TWO], Interval(at(3), at(8))) == []
        assert transaction.maintenances.allocations_within([], Interval(at(3), at(8))) == []
    assert [(each.lease_id, each.allocation.window) for each in found] == [("lease1", Interval(at(3), at(5)))]


def test_resources_are_found_by_name_and_id(filled: SqlStore) -> None:
    with filled.read() as transaction:
        names = transaction.maintenances.names_of([ONE, TWO, ResourceId("9")])
        assert names.keys() == {ONE, TWO}
        found = transaction.maintenances.find_names("host", [names[ONE], "2", "ghost"])
        assert found == {names[ONE]: ONE, "2": TWO}
        assert transaction.maintenances.find_names("floatingip", [names[ONE]]) == {}
