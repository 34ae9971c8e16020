"""Port: execution of independent cloud calls at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

ResultT = TypeVar("ResultT")


class Executor(Protocol):
    """Executor that makes as many calls at a time as it considers useful."""

    def run(self, acts: Sequence[Callable[[], ResultT]]) -> list[ResultT]:
        """Run all of *acts* and return their results in order, after all of them have ended.

        If any fails, the first error in this order is raised; some of the others may not have started.
        """
