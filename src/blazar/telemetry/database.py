"""Gauges that are read from the database on request, at limited frequency and with a time limit."""

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
from blazar.ports.meter import Metric
from blazar.ports.stats import Stats, StatsReader

LONGEST_WAIT_SECONDS = 5.0
"""Longest wait for the database in one scrape."""

_logger = logging.getLogger(__name__)


class DatabaseGauges(Collector):
    """The gauges of ``blazar.ports.metrics.FROM_DATABASE``.

    However often they are requested, only one thread reads the database at a time, and not again within some
    seconds, even if the database does not respond.
    """

    def __init__(
        self,
        reader: StatsReader,
        clock: Clock,
        *,
        kept_for_seconds: float,
        longest_wait_seconds: float,
    ) -> None:
        """Create a collector that has not read anything yet.

        Args:
            reader: The reader of the database.
            clock: The clock that determines which work is due.
            kept_for_seconds: How long values are reused; 0 to read them for each request.
            longest_wait_seconds: Time without a response after which the database is reported as down.
        """
        self._reader = reader
        self._clock = clock
        self._kept_for_seconds = kept_for_seconds
        self._longest_wait_seconds = longest_wait_seconds
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="stats")
        self._lock = threading.Lock()
        self._reading: Future[Stats | None] | None = None
        self._read_at = 0.0

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges without values; no I/O."""
        for metric in metrics.FROM_DATABASE:
            for each in metric.exported:
                yield _family(each, ())

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges; only ``blazar_database_up`` if the values cannot be read."""
        stats = self._stats()
        yield _family(metrics.DATABASE_UP, _single(stats is not None))
        if stats is not None:
            yield from _gauges(stats)

    def _stats(self) -> Stats | None:
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

    def _read(self) -> Stats | None:
        try:
            return self._reader.read(self._clock.now())
        except BlazarError as error:
            _logger.warning("cannot read the gauges from the database: reason=%s", error)
        except Exception:
            _logger.exception("cannot read the gauges from the database")
        finally:
            self._read_at = time.monotonic()
        return None


_Values = Iterable[tuple[tuple[str, ...], float]]
"""Values of a metric, each with the values of its labels."""


def _gauges(stats: Stats) -> Iterator[GaugeMetricFamily]:
    for metric, values in _values_of(stats):
        for each in metric.exported:
            yield _family(each, values)


def _values_of(stats: Stats) -> Iterator[tuple[Metric, _Values]]:
    yield metrics.LEASES, _by_label(stats.leases)
    yield metrics.RESERVATIONS, stats.reservations.items()
    yield metrics.MISSING, _single(stats.missing_resources)
    yield metrics.WORK_DUE, _single(stats.work_due)
    yield metrics.WORK_CLAIMED, _single(stats.work_claimed)
    yield metrics.WORK_FAILING, _single(stats.work_failing)
    yield metrics.WORK_OVERDUE_SECONDS, _single(stats.work_overdue.total_seconds())
    yield metrics.OFFERS_OPEN, _single(stats.offers_open)
    yield metrics.OUTBOX, _single(stats.outbox)
    yield metrics.OUTBOX_SECONDS, _single(stats.outbox_age.total_seconds())
    yield metrics.OUTBOX_FAILED, _single(stats.outbox_failed)
    yield metrics.RESOURCES, stats.resources.items()
    yield metrics.RESERVED, _by_label(stats.reserved)
    yield metrics.FREE, _by_label(stats.free)


def _family(metric: Metric, values: _Values) -> GaugeMetricFamily:
    family = GaugeMetricFamily(metric.name, metric.help, labels=metric.labels)
    for labels, value in sorted(values):
        family.add_metric(labels, value)
    return family


def _single(value: float) -> _Values:
    return [((), value)]


def _by_label(values: Mapping[str, int]) -> _Values:
    return [((label,), value) for label, value in values.items()]
