"""A thread pool for concurrent calls about the many hosts of one reservation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from blazar.ports.executor import ResultT
from blazar.telemetry.log_context import carried

if TYPE_CHECKING:
    from blazar.ports.executor import Executor


class ThreadedExecutor:
    """A bounded thread pool that all callers share, so that the number of concurrent calls is limited.

    A function that runs in it must not use the pool itself: it could wait for its own thread.
    """

    def __init__(self, count: int) -> None:
        """Create a pool of at most *count* threads; starts none yet."""
        self._executor = ThreadPoolExecutor(count, thread_name_prefix="side-by-side")

    def run(self, acts: Sequence[Callable[[], ResultT]]) -> list[ResultT]:
        """Return the results of *acts* in order, after all of them have ended.

        After an error, those that have not started are cancelled. Their log messages have the context of the
        calling thread.
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
    _: Executor = ThreadedExecutor(1)
