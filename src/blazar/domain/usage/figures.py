"""Division of the time for which resources were held into figures.

The figures below ``reserved`` are mutually exclusive, and their sum is ``reserved``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise

from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationStatus
from blazar.domain.usage.records import Holding, ResourceFacts
from blazar.domain.usage.timelines import HoldingTimelines, Timelines


class Figure(StrEnum):
    """The kinds of hours that are counted."""

    RESERVED = "reserved"
    """Held by reservations, up to the end of their windows."""
    IN_USE = "in_use"
    """Seen in use by the lessee, for example with a server."""
    IDLE = "idle"
    """Seen unused, for a reservation that was used at another time."""
    NO_SHOW = "no_show"
    """Seen unused, for a reservation that was never used."""
    LOST = "lost"
    """Not usable by the lessee: not handed over yet, in error, or failed without a replacement."""
    UNKNOWN = "unknown"
    """Not observed, or in the future."""


_LOST = (ReservationStatus.PENDING, ReservationStatus.ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a holding in which nothing recorded changes: the units of each figure, and the facts."""

    start: datetime
    end: datetime
    units: dict[Figure, int]
    facts: ResourceFacts


def divide(holding: Holding, timelines: Timelines, window: Interval, now: datetime) -> Iterator[Segment]:
    """Yield the segments of a holding within a window, in the order of time.

    Args:
        holding: The holding.
        timelines: The records of at least this holding.
        window: The period of the question.
        now: The present; time after it is only reserved.
    """
    start = max(holding.window.start, window.start)
    end = min(holding.window.end, window.end)
    if start >= end:
        return
    of_holding, within = timelines.of(holding), Interval(start, end)
    instants = {each for line in of_holding.lines() for each in line.changes(within)} - {start}
    if start < now < end:
        instants.add(now)
    for first, last in pairwise([start, *sorted(instants), end]):
        units = {Figure.RESERVED: holding.units, **_units_at(holding, of_holding, first, now)}
        yield Segment(start=first, end=last, units=units, facts=of_holding.facts.at(first))


def _units_at(
    holding: Holding, of_holding: HoldingTimelines, at: datetime, now: datetime
) -> dict[Figure, int]:
    """Return the units of a holding by figure at an instant inside it, without ``reserved``."""
    status, is_missing = of_holding.states.at(at)
    if at >= now or status is ReservationStatus.DELETED:
        return {Figure.UNKNOWN: holding.units}
    if status in _LOST or (is_missing and of_holding.failed.at(at)):
        return {Figure.LOST: holding.units}
    if not of_holding.observed.at(at):
        return {Figure.UNKNOWN: holding.units}
    used = min(holding.units, of_holding.used.at(at))
    unused = Figure.IDLE if of_holding.has_arrived else Figure.NO_SHOW
    return {Figure.IN_USE: used, unused: holding.units - used}
