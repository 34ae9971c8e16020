"""Gauges that are read from the database when somebody asks: not too often, and not for ever."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from blazar.domain.errors import BlazarError
from blazar.ports import metrics
from blazar.ports.clock import Clock
from blazar.ports.figures import Figures, FiguresReader
from blazar.ports.meter import Metric

LONGEST_WAIT_SECONDS = 5.0
"""For the database, in one scrape."""

_logger = logging.getLogger(__name__)


class DatabaseGauges(Collector):
    """The gauges of ``blazar.ports.metrics.FROM_DATABASE``.

    However often they are asked for, the database is read by one thread at a time, and not again before
    some seconds have passed, also if it does not answer.
    """

    def __init__(
        self,
        reader: FiguresReader,
        clock: Clock,
        *,
        kept_for_seconds: float,
        longest_wait_seconds: float,
    ) -> None:
        """Read nothing yet.

        Args:
            reader: The database.
            clock: Says what is due.
            kept_for_seconds: How long figures are shown again; 0 for not at all.
            longest_wait_seconds: Who asks is told that the database is down when it did not answer by then.
        """
        self._reader = reader
        self._clock = clock
        self._kept_for_seconds = kept_for_seconds
        self._longest_wait_seconds = longest_wait_seconds
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="figures")
        self._lock = threading.Lock()
        self._reading: Future[Figures | None] | None = None
        self._read_at = 0.0

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges without values; asks nobody."""
        for each in metrics.FROM_DATABASE:
            yield _family(each)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges; only ``blazar_database_up`` if there are no figures to be had."""
        figures = self._figures()
        yield _single(metrics.DATABASE_UP, figures is not None)
        if figures is not None:
            yield from _gauges(figures)

    def _figures(self) -> Figures | None:
        with self._lock:
            if self._reading is None or (self._reading.done() and self._is_old()):
                self._reading = self._executor.submit(self._read)
            reading = self._reading
        try:
            return reading.result(self._longest_wait_seconds)
        except TookTooLong:
            return None

    def _is_old(self) -> bool:
        return time.monotonic() - self._read_at >= self._kept_for_seconds

    def _read(self) -> Figures | None:
        try:
            return self._reader.read(self._clock.now())
        except BlazarError as error:
            _logger.warning("the figures cannot be read: %s", error)
        except Exception:
            _logger.exception("the figures could not be read")
        finally:
            self._read_at = time.monotonic()
        return None


def _gauges(figures: Figures) -> Iterator[GaugeMetricFamily]:
    yield _by_label(metrics.LEASES, figures.leases)
    yield _by_labels(metrics.RESERVATIONS, figures.reservations.items())
    yield _single(metrics.MISSING, figures.missing_resources)
    yield _single(metrics.WORK_DUE, figures.work_due)
    yield _single(metrics.WORK_CLAIMED, figures.work_claimed)
    yield _single(metrics.WORK_FAILING, figures.work_failing)
    yield _single(metrics.WORK_OVERDUE_SECONDS, figures.work_overdue.total_seconds())
    yield _single(metrics.OUTBOX, figures.outbox)
    yield _single(metrics.OUTBOX_SECONDS, figures.outbox_age.total_seconds())
    yield _by_labels(metrics.RESOURCES, figures.resources.items())
    yield _by_label(metrics.PROMISED, figures.promised)
    yield _by_label(metrics.FREE, figures.free)


def _family(metric: Metric) -> GaugeMetricFamily:
    return GaugeMetricFamily(metric.name, metric.help, labels=metric.labels)


def _single(metric: Metric, value: float) -> GaugeMetricFamily:
    return _by_labels(metric, [((), value)])


def _by_label(metric: Metric, values: Mapping[str, int]) -> GaugeMetricFamily:
    return _by_labels(metric, (((label,), value) for label, value in values.items()))


def _by_labels(metric: Metric, values: Iterable[tuple[tuple[str, ...], float]]) -> GaugeMetricFamily:
    family = _family(metric)
    for labels, value in sorted(values):
        family.add_metric(labels, value)
    return family
