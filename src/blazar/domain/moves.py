"""Moving bookings away from resources: which booking goes where, with few moves.

A booking takes one whole resource for a window. Some must leave their resource; each takes a free one if
there is one. Otherwise, bookings that could stay make room for it, in chains of bounded length.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from blazar.domain.booking_rows import Mask

LONGEST_CHAIN: Final = 4
"""The most bookings that change their resource so that one finds room."""
MOST_STEPS: Final = 20_000
"""Steps of all searches for chains, after which the rest counts as not movable; some seconds."""
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
    """The numbers of the pieces that must leave their resource and find no other one."""


def plan_moves(
    pieces: Sequence[Piece],
    leaving: Collection[int],
    fixed: Iterable[tuple[int, int, int]],
    *,
    most_steps: int = MOST_STEPS,
) -> Moves:
    """Return moves after which as many as possible of the *leaving* pieces are on other resources.

    Args:
        pieces: All bookings that may move.
        leaving: The numbers of those that must leave their resource; *allowed* excludes it.
        fixed: All other bookings: position, start and end.
        most_steps: A bound for the search for chains.
    """
    plan = _Plan(pieces, leaving, fixed, most_steps)
    unmovable = plan.place_all(sorted(leaving))
    targets = {
        number: place
        for number, place in enumerate(plan.places)
        if place is not None and place != pieces[number].position
    }
    return Moves(targets=targets, unmovable=unmovable)


_FIXED: Final = -1
_LATEST: Final = 2**63
_Taken = tuple[int, int, int]
"""Start, end, and the number of the piece."""


class _Plan:
    """The places of the pieces while they are planned."""

    def __init__(
        self,
        pieces: Sequence[Piece],
        leaving: Collection[int],
        fixed: Iterable[tuple[int, int, int]],
        most_steps: int,
    ) -> None:
        self._pieces = pieces
        self._steps_left = most_steps
        self.places: list[int | None] = [None] * len(pieces)
        self._taken: dict[int, list[_Taken]] = {}
        """By position, in the order of starts. Only fixed bookings may overlap."""
        self._undo: list[tuple[int, int | None]] = []
        """The earlier places of pieces, in the order of changes."""
        for position, start, end in fixed:
            insort(self._taken.setdefault(position, []), (start, end, _FIXED))
        for number, piece in enumerate(pieces):
            if number not in leaving:
                self._set(number, piece.position)

    def place_all(self, numbers: Sequence[int]) -> Sequence[int]:
        """Place these pieces, those with the fewest places first; return those that find none."""
        count = {each: sum(1 for _ in self._free_places(each)) for each in numbers}
        order = sorted(numbers, key=lambda each: (count[each], self._pieces[each].start, each))
        left = [each for each in order if not self._place_directly(each)]
        # Those chains first that move the fewest pieces which could stay.
        for extra in range(LONGEST_CHAIN):
            left = [each for each in left if not self._place(each, extra, LONGEST_CHAIN - 1, frozenset())]
        return left

    def _place_directly(self, number: int) -> bool:
        place = next(self._free_places(number), None)
        if place is not None:
            self._set(number, place)
        return place is not None

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

    def _free_places(self, number: int) -> Iterator[int]:
        for position in self._pieces[number].allowed.nonzero()[0].tolist():
            if next(self._overlapping(number, position), None) is None:
                yield position

    def _crowded_places(
        self, number: int, extra: int, passed: frozenset[int]
    ) -> Sequence[tuple[int, Sequence[int], int]]:
        """Return where a piece could displace others, which, and how many of these have not moved yet."""
        found = []
        for position in self._pieces[number].allowed.nonzero()[0].tolist():
            if position in passed:
                continue
            displaced = [each for _, _, each in self._overlapping(number, position)]
            if _FIXED in displaced or len(displaced) > _MOST_CONFLICTS:
                continue
            costs = sum(self._pieces[each].position == position for each in displaced)
            if costs <= extra:
                found.append((position, displaced, costs))
        return sorted(found, key=lambda each: (each[2], len(each[1]), each[0]))

    def _overlapping(self, number: int, position: int) -> Iterator[_Taken]:
        """Yield the bookings of a position at the time of a piece."""
        piece, taken = self._pieces[number], self._taken.get(position, [])
        # Fixed bookings may overlap each other, so all that start earlier have to be examined.
        for each in taken[: bisect_right(taken, (piece.end - 1, _LATEST, 0))]:
            if each[1] > piece.start:
                yield each

    def _set(self, number: int, place: int | None) -> None:
        """Move a piece to a place; None for none."""
        piece, before = self._pieces[number], self.places[number]
        taken = (piece.start, piece.end, number)
        if before is not None:
            self._taken[before].remove(taken)
        if place is not None:
            insort(self._taken.setdefault(place, []), taken)
        self.places[number] = place
        self._undo.append((number, before))

    def _undo_to(self, mark: int) -> None:
        while len(self._undo) > mark:
            number, place = self._undo.pop()
            self._set(number, place)
            self._undo.pop()
