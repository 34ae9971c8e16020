"""Free amounts now, and later according to the bookings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from blazar.domain.busy_times import Steps

_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The free amount of some resources over time, summed up."""

    total: int
    """The amount that can be reserved."""
    free: int
    """The amount that is free at the first minute."""
    least: Mapping[timedelta, int]
    """The smallest amount that is free within each of these times."""
    low_after: timedelta | None
    """The time until the free amount is low; None if it stays above that for as long as the forecast."""


def forecast(steps: Steps, total: int, within: Sequence[timedelta], low_percent: float) -> Forecast:
    """Return the forecast for one group.

    Args:
        steps: The amounts that are not free over time.
        total: The amount that can be reserved.
        within: Times, counted from the first minute.
        low_percent: The share of *total* below which the free amount is low; never low if *total* is zero.
    """
    free = total - steps.numbers[0]
    low = steps.minutes[free * 100 < total * low_percent]
    return Forecast(
        total=total,
        free=int(free[0]),
        least={each: int(free[steps.minutes < each // _MINUTE].min(initial=free[0])) for each in within},
        low_after=int(np.min(low)) * _MINUTE if len(low) else None,
    )
