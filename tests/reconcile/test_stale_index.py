"""What a manager knows of the books: it finds out what others did, late and out of order too."""

from __future__ import annotations

from datetime import timedelta

import pytest
from clocks import EPOCH
from databases import KINDS
from reconcile.lab import LESSEE, Lab, LabOn
from reconcile.parts import Conditions, lease_body

from blazar.booking.index import Watermark
from blazar.domain.errors import NotEnoughHosts

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
