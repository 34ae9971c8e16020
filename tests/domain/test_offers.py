"""The allocations that a lease lacks for a change, which an offer holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from samples import SHARE, at, make_allocation, window

from blazar.domain.capacity import Demand, Share
from blazar.domain.lease import Allocation, ReservationId, ResourceId
from blazar.domain.offers import missing_allocations

MINE = ReservationId("r")
HOSTS = [ResourceId(each) for each in "123"]
HOURS = st.integers(0, 9)
WINDOWS = st.tuples(HOURS, HOURS).filter(lambda each: each[0] < each[1])


def share_of(slots: int | None) -> Share | None:
    return None if slots is None else replace(SHARE, slots=slots)


def slots_at(allocations: Iterable[Allocation], host: ResourceId, hour: float) -> int:
    return sum(
        1 if each.share is None else each.share.slots
        for each in allocations
        if each.resource_id == host and each.window.overlaps(window(hour, hour + 1))
    )


@given(
    st.dictionaries(st.sampled_from(HOSTS), st.tuples(WINDOWS, st.integers(1, 3))),
    st.dictionaries(st.sampled_from(HOSTS), st.integers(1, 3)),
    WINDOWS,
    st.booleans(),
)
def test_a_lease_and_its_offer_hold_together_what_is_asked_and_no_more(
    present: dict[ResourceId, tuple[tuple[int, int], int]],
    wanted: dict[ResourceId, int],
    asked: tuple[int, int],
    is_whole: bool,
) -> None:
    held = [
        make_allocation(key, MINE, *hours, share=None if is_whole else share_of(slots))
        for key, (hours, slots) in present.items()
    ]
    after = {key: None if is_whole else share_of(slots) for key, slots in wanted.items()}

    missing = missing_allocations(MINE, after, held, window(*asked))

    for key, slots in wanted.items():
        for hour in range(*asked):
            own = slots_at(held, key, hour)
            assert own + slots_at(missing, key, hour) == max(own, 1 if is_whole else slots)
    for each in missing:
        assert each.reservation_id == MINE
        assert window(*asked).covers(each.window)
        assert each.resource_id in wanted


def test_larger_instances_are_held_beside_the_present_ones() -> None:
    larger = Share(slots=1, demand=Demand.of({"VCPU": 8}))
    held = [make_allocation("1", MINE, 0, 4, share=SHARE)]

    missing = missing_allocations(MINE, {HOSTS[0]: larger}, held, window(2, 6))

    assert sorted((each.window.start, each.window.end) for each in missing) == [
        (at(2), at(4)),
        (at(4), at(6)),
    ]
    assert {each.share for each in missing} == {larger}
