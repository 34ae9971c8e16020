"""Gauges that are read from the database on request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from blazar.ports import metrics
from blazar.ports.meter import Metric
from blazar.ports.stats import Stats
from blazar.telemetry.families import Values, family
from blazar.telemetry.limited import Limited


class DatabaseGauges(Collector):
    """The gauges of ``blazar.ports.metrics.FROM_DATABASE``."""

    def __init__(self, stats: Limited[Stats]) -> None:
        """Create a collector of what *stats* reads."""
        self._stats = stats

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges without values; no I/O."""
        for metric in metrics.FROM_DATABASE:
            for each in metric.exported:
                yield family(each, ())

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges; only ``blazar_database_up`` if the values cannot be read."""
        stats = self._stats.get()
        yield family(metrics.DATABASE_UP, _single(stats is not None))
        if stats is not None:
            yield from _gauges(stats)


def _gauges(stats: Stats) -> Iterator[GaugeMetricFamily]:
    for metric, values in _values_of(stats):
        for each in metric.exported:
            yield family(each, values)


def _values_of(stats: Stats) -> Iterator[tuple[Metric, Values]]:
    yield metrics.LEASES, _by_label(stats.leases)
    waiting = stats.waiting.items()
    yield metrics.LEASES_WAITING, [((status,), each.leases) for status, each in waiting]
    yield (
        metrics.LEASES_WAITING_SECONDS,
        [((status,), each.longest.total_seconds()) for status, each in waiting],
    )
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
    yield metrics.NOTICES_WAITING, _single(stats.notices)
    yield metrics.NOTICES_SECONDS, _single(stats.notices_age.total_seconds())
    yield metrics.NOTICES_OVERDUE_SECONDS, _single(stats.notices_overdue.total_seconds())
    yield metrics.NOTICES_FAILED, _single(stats.notices_failed)
    yield metrics.RESOURCES, stats.resources.items()
    yield metrics.MAINTENANCES, _by_label(stats.maintenances)
    yield metrics.UNDER_MAINTENANCE, _by_label(stats.under_maintenance)
    yield metrics.MAINTENANCE_LEASES, _by_label(stats.maintenance_leases)
    yield metrics.RESERVED, _by_label(stats.reserved)
    yield metrics.FREE, _by_label(stats.free)


def _single(value: float) -> Values:
    return [((), value)]


def _by_label(values: Mapping[str, int]) -> Values:
    return [((label,), value) for label, value in values.items()]
