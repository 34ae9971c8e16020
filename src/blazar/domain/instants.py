"""Instants as numbers since 1970, in arrays: microseconds, and whole minutes in half the memory."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MICROS_PER_MINUTE = 60_000_000
LAST_MINUTE = 2**31 - 1
"""The latest minute that differs from later ones, in the year 6053."""


FIRST = datetime.min.replace(tzinfo=UTC)
LAST = datetime.max.replace(tzinfo=UTC)


def moved(instant: datetime, by: timedelta) -> datetime:
    """Return an instant after (or, with a negative duration, before) another, within the range of minutes."""
    if by >= timedelta(0):
        return instant + by if LAST - instant > by else LAST
    return instant + by if instant - FIRST > -by else FIRST


def micros(instant: datetime) -> int:
    """Return an instant in microseconds since 1970."""
    return (instant - EPOCH) // MICROSECOND


def first_minute(instant: datetime) -> int:
    """Return an instant in minutes since 1970, rounded down."""
    return micros(instant) // MICROS_PER_MINUTE


def last_minute(instant: datetime) -> int:
    """Return an instant in minutes since 1970, rounded up."""
    return -(-micros(instant) // MICROS_PER_MINUTE)


def first_minutes(instants: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return instants in minutes since 1970, rounded down; at most :data:`LAST_MINUTE`."""
    return np.minimum(instants // MICROS_PER_MINUTE, LAST_MINUTE).astype(np.int32)


def last_minutes(instants: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return instants in minutes since 1970, rounded up; at most :data:`LAST_MINUTE`."""
    return np.minimum(-(-instants // MICROS_PER_MINUTE), LAST_MINUTE).astype(np.int32)
