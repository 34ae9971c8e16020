"""When a lease that is not used is ended."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from samples import HOUR, MINUTE, at, make_lease

from blazar.domain.lease import EventStatus, EventType, Lease, LeaseStatus, ReservationId
from blazar.domain.usage.no_shows import NoShowRule, Verdict, judge, time_left

RULE = NoShowRule(
    grace={"physical:host": 4 * HOUR}, warning=30 * MINUTE, exempt_projects=frozenset({"exempt"})
)
LEASE = make_lease(start=0, end=24, status=LeaseStatus.ACTIVE, reservations=2)
FIRST, SECOND = (each.id for each in LEASE.reservations)


def left(
    lease: Lease = LEASE, *, hours: float = 3, arrived: tuple[ReservationId, ...] = ()
) -> timedelta | None:
    known = {FIRST: hours * HOUR, SECOND: hours * HOUR}
    return time_left(RULE, lease, known, arrived)


def test_the_reservation_that_was_observed_least_counts() -> None:
    assert left() == HOUR
    assert time_left(RULE, LEASE, {FIRST: 5 * HOUR, SECOND: 2 * HOUR}, ()) == 2 * HOUR
    assert time_left(RULE, LEASE, {FIRST: 5 * HOUR}, ()) is None


def test_a_lease_of_which_anything_was_used_stays() -> None:
    assert left(arrived=(SECOND,)) is None


def test_types_without_a_grace_period_do_not_end_leases_but_their_use_counts() -> None:
    first, second = LEASE.reservations
    mixed = replace(LEASE, reservations=(first, replace(second, resource_type="virtual:floatingip")))

    assert time_left(RULE, mixed, {FIRST: 5 * HOUR}, ()) == -HOUR
    assert time_left(RULE, mixed, {FIRST: 5 * HOUR}, (SECOND,)) is None
    only = replace(LEASE, reservations=(mixed.reservations[1],))
    assert time_left(RULE, only, {SECOND: 5 * HOUR}, ()) is None


@pytest.mark.parametrize(
    "lease",
    [
        replace(LEASE, project_id="exempt"),
        replace(LEASE, status=LeaseStatus.ERROR),
        replace(LEASE, status=LeaseStatus.STARTING),
        replace(LEASE, reservations=tuple(replace(r, missing_resources=True) for r in LEASE.reservations)),
        replace(
            LEASE,
            events=tuple(
                replace(each, status=EventStatus.IN_PROGRESS) if each.event_type is EventType.END else each
                for each in LEASE.events
            ),
        ),
    ],
    ids=["exempt", "error", "starting", "missing resources", "ending"],
)
def test_leases_that_are_left_alone(lease: Lease) -> None:
    assert left(lease, hours=9) is None


class TestVerdict:
    def test_the_warning_comes_before_the_end(self) -> None:
        assert judge(RULE, LEASE, 31 * MINUTE, None, at(3)) is Verdict.NONE
        assert judge(RULE, LEASE, 30 * MINUTE, None, at(3)) is Verdict.WARN

    def test_the_lease_ends_after_grace_and_warning(self) -> None:
        assert judge(RULE, LEASE, MINUTE, at(3), at(4)) is Verdict.NONE
        assert judge(RULE, LEASE, 0 * MINUTE, at(3), at(3.5)) is Verdict.END

    def test_a_late_warning_is_as_long_as_any(self) -> None:
        assert judge(RULE, LEASE, -9 * HOUR, None, at(13)) is Verdict.WARN
        assert judge(RULE, LEASE, -9 * HOUR, at(13), at(13.4)) is Verdict.NONE
        assert judge(RULE, LEASE, -9 * HOUR, at(13), at(13.5)) is Verdict.END

    def test_a_lease_that_ends_by_then_anyway_is_not_warned_of(self) -> None:
        assert judge(RULE, LEASE, 0 * MINUTE, None, at(23.5)) is Verdict.NONE
