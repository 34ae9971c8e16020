"""All metrics of one process, put together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, ProcessCollector

from blazar.ports.clock import Clock
from blazar.ports.figures import FiguresReader
from blazar.ports.meter import Metric
from blazar.telemetry.database import LONGEST_WAIT_SECONDS, DatabaseGauges
from blazar.telemetry.prometheus import PrometheusMeter, metrics_page

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication


class Watch:
    """The metrics of one process: where they are counted, and how they are shown."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        """Count *metrics*, and show what the process uses of its machine beside them."""
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self.meter = PrometheusMeter(self._registry, metrics)

    def show_database(
        self,
        reader: FiguresReader,
        clock: Clock,
        kept_for_seconds: float,
        longest_wait_seconds: float = LONGEST_WAIT_SECONDS,
    ) -> None:
        """Have the gauges that are read from the database shown, too; see :class:`DatabaseGauges`."""
        self._registry.register(
            DatabaseGauges(
                reader, clock, kept_for_seconds=kept_for_seconds, longest_wait_seconds=longest_wait_seconds
            )
        )

    def page(self) -> WSGIApplication:
        """Return what shows all of it."""
        return metrics_page(self._registry)
