"""Calls of the cloud that may be made at the same time, since none needs what another brings about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

ResultT = TypeVar("ResultT")


class SideBySide(Protocol):
    """Makes them, as many at a time as it sees fit."""

    def run(self, acts: Sequence[Callable[[], ResultT]]) -> list[ResultT]:
        """Return what each of *acts* returns, in their order, when all of them have ended.

        The first error in this order is raised then; some of the others may not have been begun.
        """


class OneByOne:
    """One after the other, in this thread: what happens can be repeated exactly."""

    def run(self, acts: Sequence[Callable[[], ResultT]]) -> list[ResultT]:
        """Return what each of *acts* returns; none is begun after an error."""
        return [act() for act in acts]
