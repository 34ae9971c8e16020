"""Reserved amounts of a project, and limits that they exceed."""

from __future__ import annotations

import math
from datetime import timedelta

from clocks import EPOCH
from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.capacity import Demand, Share
from blazar.domain.interval import Interval
from blazar.domain.quotas import (
    UNLIMITED,
    Excess,
    Held,
    QuotaUnit,
    Reserved,
    amounts,
    find_excess,
    is_known,
    is_more,
)

HOUR = timedelta(hours=1)
UNITS = {
    "physical:host": QuotaUnit(name="host", is_whole=True),
    "virtual:instance": QuotaUnit(name="instance"),
    "flavor:instance": QuotaUnit(name="instance"),
    "virtual:floatingip": QuotaUnit(name="floatingip", is_whole=True),
    "software:licence": QuotaUnit(name="seat"),
}


def held(
    start: float, end: float, *, count: int = 1, of: str = "physical:host", share: Share | None = None
) -> Held:
    """Return allocations in a window that is given in hours."""
    window = Interval(EPOCH + start * HOUR, EPOCH + end * HOUR)
    return Held(resource_type=of, window=window, count=count, share=share)


def reserved(*parts: Held, leases: int = 1) -> Reserved:
    return Reserved(leases=leases, held=parts)


def test_hosts_count_as_often_as_they_are_held_at_the_same_time() -> None:
    found = amounts(reserved(held(0, 2, count=3), held(1, 3, count=2), held(3, 9, count=4)), UNITS, EPOCH)

    assert found == {"leases": 1, "reserved_hosts": 5, "host_hours_ahead": 3 * 2 + 2 * 2 + 4 * 6}


def test_what_has_passed_does_not_count() -> None:
    now = EPOCH + 1.5 * HOUR

    found = amounts(reserved(held(0, 1, count=9), held(0, 2, count=3)), UNITS, now)

    assert found == {"leases": 1, "reserved_hosts": 3, "host_hours_ahead": math.ceil(3 * 0.5)}


def test_instances_count_by_slot_and_by_resource_class_whatever_type_they_are_of() -> None:
    share = Share(slots=2, demand=Demand.of({"VCPU": 4, "CUSTOM_GPU": 1}))
    parts = (
        held(0, 1, count=3, of="virtual:instance", share=share),
        held(0, 1, of="flavor:instance", share=share),
    )

    assert amounts(reserved(*parts), UNITS, EPOCH) == {
        "leases": 1,
        "reserved_instances": 8,
        "reserved_instances:VCPU": 32,
        "reserved_instances:CUSTOM_GPU": 8,
        "instance_hours_ahead": 8,
    }


def test_a_type_counts_under_the_unit_that_its_plugin_declares() -> None:
    found = amounts(reserved(held(0, 2, count=2, of="software:licence")), UNITS, EPOCH)

    assert found == {"leases": 1, "reserved_seats": 2, "seat_hours_ahead": 4}


def test_a_type_whose_plugin_is_not_enabled_counts_under_its_own_name() -> None:
    found = amounts(reserved(held(0, 2, count=2, of="software:licence")), {}, EPOCH)

    assert found == {"leases": 1, "reserved_software:licences": 2, "software:licence_hours_ahead": 4}


def test_names_that_mean_something() -> None:
    known = (
        "leases",
        "reserved_hosts",
        "host_hours_ahead",
        "reserved_instances:VCPU",
        "reserved_floatingips",
    )

    assert [each for each in known if not is_known(each, UNITS)] == []
    unknown = ("hosts", "reserved_instances:", "reserved_hosts:VCPU", "reserved_host")
    assert [each for each in unknown if is_known(each, UNITS)] == []
    assert not is_known("reserved_instances:VCPU", {"physical:host": UNITS["physical:host"]})
    assert is_known("reserved_seats:CORES", UNITS)


def test_too_much_is_told_with_what_there_is_at_the_worst_instant() -> None:
    before = reserved(held(0, 2, count=2), held(4, 6, count=3))
    after = reserved(held(0, 2, count=2), held(4, 6, count=3), held(1, 5, count=2), leases=2)

    (excess,) = find_excess(before, after, {"reserved_hosts": 4, "leases": 2}, UNITS, EPOCH)

    assert excess == Excess(name="reserved_hosts", limit=4, before=3, after=5)
    assert str(excess) == "reserved_hosts: 3 in use, 2 more requested, and the limit is 4"


def test_back_to_back_is_not_at_the_same_time() -> None:
    before, after = reserved(held(0, 2)), reserved(held(0, 2), held(2, 4))

    assert find_excess(before, after, {"reserved_hosts": 1}, UNITS, EPOCH) == ()


def test_a_project_over_a_lowered_limit_can_still_take_less() -> None:
    before, after = reserved(held(0, 9, count=5), leases=3), reserved(held(0, 5, count=4), leases=3)
    limits = {"reserved_hosts": 2, "host_hours_ahead": 3, "leases": 1}

    assert find_excess(before, after, limits, UNITS, EPOCH) == ()
    assert [each.name for each in find_excess(after, before, limits, UNITS, EPOCH)] == [
        "host_hours_ahead",
        "reserved_hosts",
    ]


def test_more_at_one_time_is_not_made_good_by_less_at_another() -> None:
    before, after = reserved(held(0, 1, count=9)), reserved(held(5, 6, count=4))

    assert [each.after for each in find_excess(before, after, {"reserved_hosts": 3}, UNITS, EPOCH)] == [4]


def test_whether_there_is_more_of_anything() -> None:
    one, moved, fewer = reserved(held(0, 2)), reserved(held(1, 3)), reserved(held(0, 1))

    assert [is_more(one, each, UNITS, EPOCH) for each in (one, moved, fewer, reserved(leases=2))] == [
        False,
        True,
        False,
        True,
    ]


def test_minus_one_is_no_limit_and_nought_is_one() -> None:
    before, after = reserved(leases=0), reserved(held(0, 1), leases=1)

    assert find_excess(before, after, {"leases": UNLIMITED, "reserved_hosts": UNLIMITED}, UNITS, EPOCH) == ()
    assert (
        len(find_excess(before, after, {"leases": 0, "reserved_hosts": 0, "unheard_of": 0}, UNITS, EPOCH))
        == 2
    )


hours = st.integers(-3, 12)
parts = st.lists(
    st.builds(
        lambda start, length, count: held(start, start + length, count=count),
        hours,
        st.integers(1, 6),
        st.integers(1, 3),
    ),
    max_size=5,
)


def at(hour: int, items: list[Held]) -> int:
    """Count the allocations in one hour, one by one."""
    instant = EPOCH + hour * HOUR
    return sum(each.count for each in items if each.window.start <= instant < each.window.end)


@given(parts, parts, st.integers(0, 8))
def test_like_counting_hour_by_hour(before: list[Held], after: list[Held], limit: int) -> None:
    ahead = range(20)
    worse = [hour for hour in ahead if at(hour, after) > limit and at(hour, after) > at(hour, before)]
    hours_before, hours_after = (sum(at(hour, each) for hour in ahead) for each in (before, after))

    found = find_excess(
        reserved(*before),
        reserved(*after),
        {"reserved_hosts": limit, "host_hours_ahead": limit},
        UNITS,
        EPOCH,
    )

    by_name = {each.name: each for each in found}
    assert ("reserved_hosts" in by_name) == bool(worse)
    if worse:
        assert by_name["reserved_hosts"].after == max(at(hour, after) for hour in worse)
    assert ("host_hours_ahead" in by_name) == (hours_after > limit and hours_after > hours_before)
    assert amounts(reserved(*after), UNITS, EPOCH).get("reserved_hosts", 0) == max(
        at(hour, after) for hour in ahead
    )
