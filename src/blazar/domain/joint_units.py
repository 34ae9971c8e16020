"""Whole resources for several needs at the same time, so that none takes what only another can use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blazar.domain.booking_rows import Mask, Numbers

_FREE = -1


def assign(
    usable: Sequence[Mask], least: Sequence[int], costs: Numbers, *, more: Sequence[int] | None = None
) -> Sequence[Mask] | None:
    """Return resources for each need; None if not all needs can be met.

    Args:
        usable: For each need, the resources that satisfy it.
        least: The number of resources that each need must get; they have the lowest sum of costs.
        costs: What the use of each resource costs.
        more: The number of further resources that each need can get. All needs together get as many of these
            as possible.
    """
    matching = _Matching(usable, least)
    order = np.argsort(costs, kind="stable").tolist()
    matching.fill(order)
    if not matching.is_complete:
        return None
    if more is not None:
        matching.open(more)
        matching.fill(order)
    return matching.masks()


class _Matching:
    """An assignment of resources to needs, which grows by one resource at a time."""

    def __init__(self, usable: Sequence[Mask], least: Sequence[int]) -> None:
        self._usable = np.array(usable)
        self._open = list(least)
        self._need_of = np.full(self._usable.shape[1], _FREE)

    @property
    def is_complete(self) -> bool:
        return not any(self._open)

    def open(self, more: Sequence[int]) -> None:
        """Let each need get *more* further resources."""
        self._open = [one + other for one, other in zip(self._open, more, strict=True)]

    def fill(self, order: Sequence[int]) -> None:
        """Assign free resources in this order while needs can get more."""
        hopeless: set[tuple[bool, ...]] = set()
        for resource in order:
            if self.is_complete:
                break
            kind = self._kind(resource)
            # The sets of resources that can be assigned are a matroid. So the cheapest ones can be taken
            # first, and once one of a kind finds no place, no later one of that kind does.
            if kind in hopeless or self._need_of[resource] != _FREE:
                continue
            if not self._add(resource):
                hopeless.add(kind)

    def _kind(self, resource: int) -> tuple[bool, ...]:
        """Return which needs can use a resource."""
        return tuple(self._usable[:, resource].tolist())

    def _add(self, resource: int) -> bool:
        """Assign a resource, if necessary by moving others to other needs; return whether it is possible."""
        # From each need to the resource that would get it, by a search over the needs.
        reached = dict.fromkeys(np.flatnonzero(self._usable[:, resource]).tolist(), resource)
        queue = list(reached)
        for need in queue:
            if self._open[need]:
                self._open[need] -= 1
                self._move(need, reached, resource)
                return True
            assigned = self._need_of == need
            for other in range(len(self._open)):
                movable = assigned & self._usable[other]
                if other not in reached and movable.any():
                    reached[other] = int(movable.argmax())
                    queue.append(other)
        return False

    def _move(self, need: int, reached: dict[int, int], added: int) -> None:
        while (resource := reached[need]) != added:
            need, self._need_of[resource] = int(self._need_of[resource]), need
        self._need_of[added] = need

    def masks(self) -> Sequence[Mask]:
        return [self._need_of == number for number in range(len(self._open))]
