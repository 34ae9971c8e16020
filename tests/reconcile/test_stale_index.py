"""A manager's index of the database: changes by other managers arrive late and out of order."""

from __future__ import annotations

from datetime import timedelta

import pytest
from clocks import EPOCH
from databases import KINDS
from reconcile.lab import LESSEE, Lab, LabOn
from reconcile.parts import Conditions, lease_body

from blazar.booking.index import Watermark
from blazar.domain.errors import NotEnoughHosts
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation
from blazar_plugin_testing.service_env import ManagerProcess

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_log_has_forgotten_is_read_from_the_books(kind: str, lab_on: LabOn) -> None:
    lab = lab_on(kind)
    lab.reset(Conditions(hosts=1))
    idle = lab.new_manager()
    idle.service.create_lease(LESSEE, lease_body("a", lab.date(1), lab.date(2)))
    lab.plan_chore()
    lab.create("b", 5, 6)
    lab.run_until(4)

    idle.service.create_lease(LESSEE, lease_body("c", lab.date(6), lab.date(7)))
    with pytest.raises(NotEnoughHosts):
        idle.service.create_lease(LESSEE, lease_body("d", lab.date(5), lab.date(6)))

    lab.at(5.1)


@pytest.fixture(params=["mariadb", "postgresql"])
def lab_of_two(request: pytest.FixtureRequest, lab_on: LabOn) -> Lab:
    """Return a lab with two hosts, both allocated to a lease on the next day."""
    lab = lab_on(request.param)
    lab.reset(Conditions(hosts=2))
    lab.create("tomorrow", 24, 25, (2, 2))
    return lab


def commit_late(lab: Lab, other: ManagerProcess, books: bool) -> None:
    """Change the first host in a transaction that commits after *other* has stopped waiting for it."""
    (reservation,) = lab.leases()[0].reservations
    with lab.store.read() as transaction:
        generations = transaction.availability.all_generations("host")
    first, second = sorted(generations)
    with lab.store.begin() as frozen:
        frozen.allocations.claim({first: generations[first]})
        if books:
            window = Interval(EPOCH + 5 * HOUR, EPOCH + 6 * HOUR)
            booked = Allocation(resource_id=first, reservation_id=reservation.id, window=window)
            frozen.allocations.insert([booked])
        with lab.store.begin() as transaction:
            transaction.allocations.claim({second: generations[second]})
            transaction.commit()
        for _ in range(2):
            other.reconciler.refresh_indexes()
            lab.clock.advance(5 * MINUTE)
        frozen.commit()


def test_a_late_commit_fails_no_request_that_relies_on_the_resource(lab_of_two: Lab) -> None:
    other = lab_of_two.new_manager()
    other.reconciler.refresh_indexes()
    commit_late(lab_of_two, other, books=False)

    body = lease_body("late", lab_of_two.date(5), lab_of_two.date(6), (2, 2))
    other.service.create_lease(LESSEE, body)

    assert [each.name for each in lab_of_two.leases()] == ["tomorrow", "late"]


def test_what_was_booked_by_a_commit_that_comes_late_is_not_promised_again(lab_of_two: Lab) -> None:
    other = lab_of_two.new_manager()
    other.reconciler.refresh_indexes()
    commit_late(lab_of_two, other, books=True)

    start, end = lab_of_two.date(5), lab_of_two.date(6)
    with pytest.raises(NotEnoughHosts):
        other.service.create_lease(LESSEE, lease_body("both", start, end, (2, 2)))
    other.service.create_lease(LESSEE, lease_body("one", start, end, (1, 2)))

    assert [each.name for each in lab_of_two.leases()] == ["tomorrow", "one"]


def test_a_manager_that_is_idle_for_long_need_not_load_everything_again(lab: Lab) -> None:
    lab.reset(Conditions(hosts=3))
    index = lab.manager.context.indexes["host"]
    with index.searching() as first:
        pass

    for minutes in range(20, 240, 20):
        lab.jump(minutes / 60)
        lab.manager.reconciler.refresh_indexes()
    lab.jump(4)
    with index.searching() as kept:
        pass
    lab.jump(5)
    with index.searching() as loaded_again:
        pass

    assert kept is first
    assert loaded_again is not first


def test_numbers_that_come_late_are_still_new() -> None:
    watermark = Watermark(10)

    watermark.advance([12, 14], EPOCH)

    assert [each for each in range(10, 16) if watermark.is_new(each)] == [11, 13, 15]
    assert set(watermark.missing) == {11, 13}


def test_numbers_that_never_come_are_waited_for_together() -> None:
    watermark = Watermark(0)
    watermark.advance([3, 6], EPOCH)

    watermark.advance([9], EPOCH + MINUTE)

    assert set(watermark.missing) == {7, 8}
    watermark.advance([], EPOCH + 2 * MINUTE)
    assert set(watermark.missing) == set()


def test_a_log_that_was_purged_costs_nothing() -> None:
    watermark = Watermark(0)

    watermark.advance([10**12], EPOCH)

    assert watermark.is_new(10**12 - 1)
    watermark.advance([], EPOCH + MINUTE)
    assert set(watermark.missing) == set()
