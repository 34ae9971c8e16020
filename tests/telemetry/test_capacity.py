"""Gauges of free amounts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta

from telemetry.scraping import Samples, scrape

from blazar.domain.errors import Unavailable
from blazar.domain.forecast import Forecast
from blazar.ports import metrics
from blazar.ports.capacity import CapacityLevel
from blazar.telemetry.process_metrics import ProcessMetrics

HOUR = timedelta(hours=1)
LEVELS = (
    CapacityLevel(
        collection="host",
        unit="resources",
        forecast=Forecast(total=8, free=5, least={HOUR / 2: 5, 24 * HOUR: 0}, low_after=3 * HOUR),
    ),
    CapacityLevel(
        collection="host",
        unit="VCPU",
        property="rack",
        value="r1",
        forecast=Forecast(total=64, free=60, least={}, low_after=None),
    ),
)


class Reader:
    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def read(self) -> Sequence[CapacityLevel]:
        if self.error is not None:
            raise self.error
        return LEVELS


def shown(reader: Reader) -> Samples:
    found = ProcessMetrics(metrics.OF_MANAGER)
    found.show_capacity(reader, 0)
    names = {each.name for each in metrics.FROM_INDEXES}
    return {key: value for key, value in scrape(found.page()).items() if key.partition("{")[0] in names}


def test_levels_are_shown_with_their_groups_and_times() -> None:
    all_hosts = 'collection="host",property="",unit="resources",value=""'
    rack = 'collection="host",property="rack",unit="VCPU",value="r1"'

    assert shown(Reader()) == {
        f"blazar_capacity{{{all_hosts}}}": 8,
        f"blazar_capacity{{{rack}}}": 64,
        f"blazar_capacity_free{{{all_hosts}}}": 5,
        f"blazar_capacity_free{{{rack}}}": 60,
        'blazar_capacity_least_free{collection="host",hours="0.5",property="",unit="resources",value=""}': 5,
        'blazar_capacity_least_free{collection="host",hours="24",property="",unit="resources",value=""}': 0,
        f"blazar_capacity_low_after_seconds{{{all_hosts}}}": 10_800,
        f"blazar_capacity_low_after_seconds{{{rack}}}": math.inf,
    }


def test_levels_that_cannot_be_read_are_missing() -> None:
    assert shown(Reader(Unavailable("away"))) == {}
    assert shown(Reader(RuntimeError("unexpected"))) == {}
