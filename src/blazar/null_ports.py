"""The simplest implementations of some ports, for processes and tests that need no others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from blazar.ports.executor import ResultT
from blazar.ports.meter import Metric


class NoMeter:
    """A :class:`~blazar.ports.meter.Meter` that discards everything."""

    def count(self, metric: Metric, *labels: str) -> None:
        """Do nothing."""

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Do nothing."""

    def set(self, metric: Metric, value: float, *labels: str) -> None:
        """Do nothing."""


class NoLogContext:
    """A :class:`~blazar.ports.log_context.LogContext` that does nothing."""

    def working_on(
        self, *, lease_id: str | None = None, reservation_id: str | None = None
    ) -> AbstractContextManager[None]:
        """Do nothing."""
        return nullcontext()


class SerialExecutor:
    """An :class:`~blazar.ports.executor.Executor` that makes one call after another, in this thread.

    Runs with it are reproducible.
    """

    def run(self, acts: Sequence[Callable[[], ResultT]]) -> list[ResultT]:
        """Return the results of *acts*; after an error, no further one starts."""
        return [act() for act in acts]
