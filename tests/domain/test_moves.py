"""Planned moves, by example and against all possible plans of small clouds."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pytest

from blazar.domain.moves import Moves, Piece, plan_moves

Fixed = Sequence[tuple[int, int, int]]


def piece(position: int, start: int, end: int, allowed: str) -> Piece:
    """Return a piece; *allowed* has a ``1`` for each position that it may take."""
    return Piece(position=position, start=start, end=end, allowed=np.array([each == "1" for each in allowed]))


def test_a_free_resource_is_taken() -> None:
    pieces = [piece(0, 0, 5, "011"), piece(1, 0, 5, "111")]

    assert plan_moves(pieces, {0}, []) == Moves(targets={0: 2}, unmovable=[])


def test_the_resource_that_is_preferred_is_taken() -> None:
    pieces = [piece(0, 0, 5, "0111")]

    assert plan_moves(pieces, {0}, [(3, 0, 9)], order=np.array([3, 2, 1, 0])).targets == {0: 2}


def test_a_resource_that_is_taken_only_before_and_after_is_free() -> None:
    pieces = [piece(0, 5, 9, "01")]

    assert plan_moves(pieces, {0}, [(1, 0, 5), (1, 9, 12)]).targets == {0: 1}


def test_a_booking_that_can_go_elsewhere_makes_room() -> None:
    pieces = [piece(0, 0, 5, "010"), piece(1, 2, 3, "011")]

    assert plan_moves(pieces, {0}, []) == Moves(targets={0: 1, 1: 2}, unmovable=[])


def test_several_bookings_make_room() -> None:
    pieces = [piece(0, 0, 9, "010"), piece(1, 1, 3, "011"), piece(1, 3, 9, "011")]

    assert plan_moves(pieces, {0}, []) == Moves(targets={0: 1, 1: 2, 2: 2}, unmovable=[])


def test_one_that_leaves_too_changes_its_place_at_no_cost() -> None:
    pieces = [piece(0, 0, 5, "0011"), piece(1, 0, 5, "0010"), piece(3, 7, 9, "0001")]

    assert plan_moves(pieces, {0, 1}, []) == Moves(targets={0: 3, 1: 2}, unmovable=[])


def test_no_booking_is_moved_for_one_that_finds_no_place_all_the_same() -> None:
    pieces = [piece(0, 0, 5, "010"), piece(1, 0, 3, "011"), piece(1, 3, 5, "010")]

    assert plan_moves(pieces, {0}, []) == Moves(targets={}, unmovable=[0])


def test_fixed_bookings_stay() -> None:
    assert plan_moves([piece(0, 0, 5, "01")], {0}, [(1, 4, 9)]).unmovable == [0]


def test_the_search_for_chains_is_bounded() -> None:
    pieces = [piece(0, 0, 5, "010"), piece(1, 2, 3, "011")]

    assert plan_moves(pieces, {0}, [], most_steps=0).unmovable == [0]


def random_case(chance: random.Random) -> tuple[list[Piece], set[int], list[tuple[int, int, int]]]:
    """Return a cloud of up to five resources, of which one or two are to become free."""
    count = chance.randint(2, 5)
    gone = set(range(chance.randint(1, min(2, count - 1))))
    pieces: list[Piece] = []
    fixed: list[tuple[int, int, int]] = []
    for position in range(count):
        time = 0
        while (start := time + chance.randint(0, 3)) < 8:
            time = start + chance.randint(1, 4)
            if position not in gone and chance.random() < 0.25:
                fixed.append((position, start, time))
            elif len(pieces) < 6:
                allowed = [each not in gone and chance.random() < 0.7 for each in range(count)]
                allowed[position] = position not in gone
                pieces.append(
                    Piece(position=position, start=start, end=time, allowed=np.array(allowed, np.bool_))
                )
    leaving = {number for number, each in enumerate(pieces) if each.position in gone}
    return pieces, leaving, fixed


def is_possible(pieces: Sequence[Piece], places: Mapping[int, int], fixed: Fixed) -> bool:
    taken = [*fixed, *((place, pieces[key].start, pieces[key].end) for key, place in places.items())]
    return all(
        one[0] != other[0] or one[2] <= other[1] or other[2] <= one[1]
        for one, other in itertools.combinations(taken, 2)
    )


def best_by_brute_force(pieces: Sequence[Piece], leaving: Collection[int], fixed: Fixed) -> tuple[int, int]:
    """Return how many must stay at least, and with how many moves that is reached."""
    options = [
        [*np.flatnonzero(each.allowed).tolist(), *([None] if number in leaving else [])]
        for number, each in enumerate(pieces)
    ]
    best = (len(pieces) + 1, 0)
    for chosen in itertools.product(*options):
        places = {number: place for number, place in enumerate(chosen) if place is not None}
        moves = sum(place != pieces[number].position for number, place in places.items())
        result = (len(pieces) - len(places), moves)
        if result < best and is_possible(pieces, places, fixed):
            best = result
    return best


def test_plans_are_close_to_the_best_on_random_clouds() -> None:
    chance = random.Random(1)
    unmovable, least_unmovable, moves, least_moves = 0, 0, 0, 0

    for _ in range(1_000):
        pieces, leaving, fixed = random_case(chance)
        plan = plan_moves(pieces, leaving, fixed)
        least, fewest = best_by_brute_force(pieces, leaving, fixed)

        places = {number: each.position for number, each in enumerate(pieces) if number not in leaving}
        places |= plan.targets
        assert is_possible(pieces, places, fixed)
        assert all(pieces[number].allowed[place] for number, place in plan.targets.items())
        assert places.keys() | plan.unmovable == set(range(len(pieces)))
        unmovable += len(plan.unmovable)
        least_unmovable += least
        if len(plan.unmovable) == least:
            moves += len(plan.targets)
            least_moves += fewest

    assert unmovable <= 1.05 * least_unmovable
    assert moves <= 1.05 * least_moves
    assert least_moves > 1_000


@pytest.mark.parametrize("seed", range(3))
def test_the_same_case_has_the_same_plan(seed: int) -> None:
    case = random_case(random.Random(seed))

    assert plan_moves(*case) == plan_moves(*case)
