"""The metrics of one process, assembled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, ProcessCollector

from blazar import __version__
from blazar.ports.capacity import CapacityReader
from blazar.ports.clock import Clock
from blazar.ports.meter import Metric
from blazar.ports.metrics import BUILD_INFO, OF_EVERY_PROCESS
from blazar.ports.stats import StatsReader
from blazar.telemetry.capacity import CapacityGauges
from blazar.telemetry.database import DatabaseGauges
from blazar.telemetry.limited import LONGEST_WAIT_SECONDS, Limited
from blazar.telemetry.prometheus import PrometheusMeter, metrics_page

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication


class ProcessMetrics:
    """The metrics of one process: the sink and the page."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        """Register *metrics*, and also the version and the resource usage of the process."""
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self.meter = PrometheusMeter(self._registry, (*OF_EVERY_PROCESS, *metrics))
        self.meter.set(BUILD_INFO, 1, __version__)

    def show_database(
        self,
        reader: StatsReader,
        clock: Clock,
        kept_for_seconds: float,
        longest_wait_seconds: float = LONGEST_WAIT_SECONDS,
    ) -> None:
        """Also show the gauges that are read from the database; see :class:`Limited` for the times."""
        stats = Limited(
            "stats",
            lambda: reader.read(clock.now()),
            kept_for_seconds=kept_for_seconds,
            longest_wait_seconds=longest_wait_seconds,
        )
        self._registry.register(DatabaseGauges(stats))

    def show_capacity(self, reader: CapacityReader, kept_for_seconds: float) -> None:
        """Also show the free amounts."""
        levels = Limited(
            "capacity",
            reader.read,
            kept_for_seconds=kept_for_seconds,
            longest_wait_seconds=LONGEST_WAIT_SECONDS,
        )
        self._registry.register(CapacityGauges(levels))

    def page(self) -> WSGIApplication:
        """Return a WSGI application that serves all metrics."""
        return metrics_page(self._registry)
