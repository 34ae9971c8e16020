"""The parts in which requested volumes are placed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.capacity import Demand, Share
from blazar.domain.errors import InvalidParameter
from blazar.domain.lease import ResourceId
from blazar.plugins.contract import AllocatedResource
from blazar.plugins.volumes.requested import RequestedVolume, find_parts, find_places

SIZES = st.lists(st.integers(1, 20), max_size=12)


def volumes(sizes: list[int]) -> list[RequestedVolume]:
    return [RequestedVolume(size=each, name=str(place)) for place, each in enumerate(sizes)]


@given(SIZES, st.integers(1, 20), st.integers(1, 6))
def test_no_part_is_overfull(sizes: list[int], gibibytes: int, amount: int) -> None:
    try:
        parts = find_parts(volumes(sizes), gibibytes, amount)
    except InvalidParameter:
        assert max(sizes) > gibibytes or sum(sizes) * 2 > gibibytes * amount
        return

    assert len(parts) == len(sizes)
    for number in range(amount):
        assert sum(size for size, part in zip(sizes, parts, strict=True) if part == number) <= gibibytes
    assert all(0 <= each < amount for each in parts)


@given(SIZES, st.lists(st.integers(1, 3), min_size=1, max_size=4))
def test_no_pool_gets_more_than_the_reservation_holds_of_it(sizes: list[int], slots: list[int]) -> None:
    demand = Demand.of({"GIBIBYTES": 20})
    resources = [
        AllocatedResource(id=ResourceId(str(place)), share=Share(slots=each, demand=demand))
        for place, each in enumerate(slots)
    ]

    places = find_places(volumes(sizes), 20, resources)

    for key, numbers in places.items():
        assert sum(sizes[each] for each in numbers) <= 20 * slots[int(key)]
    found = sorted(each for numbers in places.values() for each in numbers)
    assert found in ([], list(range(len(sizes))))


def test_a_huge_amount_costs_nothing() -> None:
    assert find_parts(volumes([1, 2]), 2, 2**31 - 1) == [1, 0]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidParameter):
        find_parts(volumes([3, 3, 3]), 5, 2)
