"""Moving bookings away from resources: which booking goes where, with few moves.

A booking takes one whole resource for a window. Some must leave their resource; each takes a free one if
there is one. Otherwise, bookings that could stay make room for it, in chains of bounded length.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from blazar.domain.booking_rows import Mask, Positions

LONGEST_CHAIN: Final = 4
"""The most bookings that may change their resource to make room for one."""
MOST_STEPS: Final = 20_000
"""Steps of all searches for chains, after which the rest counts as not movable; they take some seconds."""
_MOST_CONFLICTS: Final = 3
"""Bookings that one booking may displace at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A booking of a whole resource that may be moved.

    Times are integers of any unit. Every end includes the cleaning time.
    """

    position: int
    """The resource that it takes now."""
    start: int
    end: int
    allowed: Mask
    """The resources that it may take, by position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """The result of planning."""

    targets: Mapping[int, int]
    """The new resource of each piece that moves, by the number of the piece."""
    unmovable: Sequence[int]
    """The numbers of the pieces that must leave their resource and find no other."""


def plan_moves(
    pieces: Sequence[Piece],
    leaving: Collection[int],
    fixed: Iterable[tuple[int, int, int]],
    *,
    order: Positions | None = None,
    most_steps: int = MOST_STEPS,
) -> Moves:
    """Return moves after which as many as possible of the *leaving* pieces are on other resources.

    Args:
        pieces: All bookings that may move.
        leaving: The numbers of those that must leave their resource; *allowed* excludes it.
        fixed: All other bookings: position, start and end.
        order: All positions, those that are preferred first; ascending by default.
        most_steps: A bound for the search for chains.
    """
    if order is None:
        order = np.arange(len(pieces[0].allowed) if pieces else 0)
    plan = _Plan(pieces, leaving, fixed, order, most_steps)
    unmovable = plan.place_all(sorted(leaving))
    targets = {
        number: place
        for number, place in enumerate(plan.places)
        if place is not None and place != pieces[number].position
    }
    return Moves(targets=targets, unmovable=unmovable)


_NOWHERE: Final = -1
"""The position of a piece that has no place now."""


class _Plan:
    """The places of the pieces while they are planned.

    All bookings are in arrays, the fixed ones first: a search compares one piece with all of them at once.
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        leaving: Collection[int],
        fixed: Iterable[tuple[int, int, int]],
        order: Positions,
        most_steps: int,
    ) -> None:
        self._pieces = pieces
        self._order = order
        self._ranks = {position: rank for rank, position in enumerate(order.tolist())}
        self._steps_left = most_steps
        self.places: list[int | None] = [None] * len(pieces)
        booked = np.array(list(fixed), np.int64).reshape(-1, 3)
        self._fixed = len(booked)
        own = [(_NOWHERE, each.start, each.end) for each in pieces]
        rows = np.concatenate([booked, np.array(own, np.int64).reshape(-1, 3)])
        self._positions, self._starts, self._ends = (np.ascontiguousarray(each) for each in rows.T)
        self._undo: list[tuple[int, int | None]] = []
        """The earlier places of pieces, in the order of changes."""
        for number, piece in enumerate(pieces):
            if number not in leaving:
                self._set(number, piece.position)

    def place_all(self, numbers: Sequence[int]) -> Sequence[int]:
        """Place these pieces, those with the fewest places first; return those that find none."""
        count = {each: len(self._free_places(each)) for each in numbers}
        order = sorted(numbers, key=lambda each: (count[each], self._pieces[each].start, each))
        left = [each for each in order if not self._place_directly(each)]
        # Chains that move the fewest pieces which could stay come first.
        for extra in range(LONGEST_CHAIN):
            left = [each for each in left if not self._place(each, extra, LONGEST_CHAIN - 1, frozenset())]
        return left

    def _place_directly(self, number: int) -> bool:
        places = self._free_places(number)
        if len(places):
            self._set(number, int(places[0]))
        return bool(len(places))

    def _place(self, number: int, extra: int, length: int, passed: frozenset[int]) -> bool:
        """Place a piece that has no place; return whether that succeeded, otherwise nothing has changed.

        Args:
            number: The piece.
            extra: How many pieces may move that have not moved yet.
            length: How many links the chain may still have.
            passed: The positions from which pieces of this chain were displaced.
        """
        self._steps_left -= 1
        if self._steps_left < 0:
            return False
        if self._place_directly(number):
            return True
        for position, displaced, costs in self._crowded_places(number, extra, passed) if length else ():
            mark = len(self._undo)
            for each in displaced:
                self._set(each, None)
            self._set(number, position)
            left = extra - costs
            if all(self._place(each, left, length - 1, passed | {position}) for each in displaced):
                return True
            self._undo_to(mark)
        return False

    def _free_places(self, number: int) -> Positions:
        """Return the positions that a piece may take at once, in order."""
        free = self._pieces[number].allowed.copy()
        free[self._positions[self._overlapping(number)]] = False
        return self._order[free[self._order]]

    def _crowded_places(
        self, number: int, extra: int, passed: frozenset[int]
    ) -> Sequence[tuple[int, Sequence[int], int]]:
        """Return where a piece could displace others, which ones, and how many of them have not moved yet."""
        allowed = self._pieces[number].allowed
        overlapping = self._overlapping(number)
        where = self._positions[overlapping]
        conflicts = np.bincount(where, minlength=len(allowed))
        # The fixed bookings are the first ones.
        conflicts[where[overlapping < self._fixed]] = _MOST_CONFLICTS + 1
        possible = allowed & (conflicts > 0) & (conflicts <= _MOST_CONFLICTS)
        order = np.lexsort((self._ends[overlapping], self._starts[overlapping]))
        displaced: dict[int, list[int]] = {}
        for each, position in zip(overlapping[order].tolist(), where[order].tolist(), strict=True):
            if possible[position] and position not in passed:
                displaced.setdefault(position, []).append(each - self._fixed)
        found = []
        for position, own in displaced.items():
            costs = sum(self._pieces[each].position == position for each in own)
            if costs <= extra:
                found.append((position, own, costs))
        return sorted(found, key=lambda each: (each[2], len(each[1]), self._ranks[each[0]]))

    def _overlapping(self, number: int) -> Positions:
        """Return the bookings that have a place at the time of a piece, by their numbers in the arrays."""
        piece = self._pieces[number]
        is_then = (self._starts < piece.end) & (self._ends > piece.start) & (self._positions != _NOWHERE)
        return np.flatnonzero(is_then)

    def _set(self, number: int, place: int | None) -> None:
        """Move a piece to a place; None for none."""
        self._undo.append((number, self.places[number]))
        self.places[number] = place
        self._positions[self._fixed + number] = _NOWHERE if place is None else place

    def _undo_to(self, mark: int) -> None:
        while len(self._undo) > mark:
            number, place = self._undo.pop()
            self._set(number, place)
            self._undo.pop()
