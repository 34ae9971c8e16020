"""Threads in which calls are made side by side: for the many hosts of one reservation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from blazar.ports.side_by_side import ResultT
from blazar.telemetry.trail import carried

if TYPE_CHECKING:
    from blazar.ports.side_by_side import SideBySide


class Threads:
    """A few threads for whoever asks, so that a cloud is not asked more at a time than it can bear.

    What is run must not run anything side by side itself: it might wait for its own thread.
    """

    def __init__(self, count: int) -> None:
        """Start no thread yet; *count* is how many there will be at most."""
        self._executor = ThreadPoolExecutor(count, thread_name_prefix="side-by-side")

    def run(self, acts: Sequence[Callable[[], ResultT]]) -> list[ResultT]:
        """Return what each of *acts* returns, in their order, when all have ended.

        After an error those that were not begun are left out. What they log is about what this thread
        works on.
        """
        if len(acts) < 2:
            return [act() for act in acts]
        futures = [self._executor.submit(carried(act)) for act in acts]
        try:
            return [each.result() for each in futures]
        finally:
            for each in futures:
                each.cancel()
            for each in futures:
                if not each.cancelled():
                    each.exception()


if TYPE_CHECKING:
    _: SideBySide = Threads(1)
