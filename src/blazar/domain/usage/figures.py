"""The division of the time for which resources were held into figures.

The figures below ``reserved`` exclude each other, and their sum is ``reserved``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise

from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationStatus
from blazar.domain.usage.records import NO_FACTS, Holding, ResourceFacts, UsageRecords


class Figure(StrEnum):
    """The kinds of hours that are counted."""

    RESERVED = "reserved"
    """Held by reservations, up to the end of their windows."""
    IN_USE = "in_use"
    """Seen in use by the lessee, for example with a server."""
    IDLE = "idle"
    """Seen unused, by a reservation that was used at another time."""
    NO_SHOW = "no_show"
    """Seen unused, by a reservation that was never used."""
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


def divide(holding: Holding, records: UsageRecords, window: Interval, now: datetime) -> Iterator[Segment]:
    """Yield the segments of a holding within a window, in the order of time.

    Args:
        holding: The holding.
        records: The records of at least this holding.
        window: The period of the question.
        now: The present; what comes later is only reserved.
    """
    start = max(holding.window.start, window.start)
    end = min(holding.window.end, window.end)
    if start >= end:
        return
    instants = {each for each in _instants(holding, records, now) if start < each < end}
    for first, last in pairwise([start, *sorted(instants), end]):
        units = {Figure.RESERVED: holding.units, **_units_at(holding, records, first, now)}
        facts = facts_at(records.facts.get(holding.resource_id, ()), first)
        yield Segment(start=first, end=last, units=units, facts=facts)


def facts_at(known: Sequence[ResourceFacts], instant: datetime) -> ResourceFacts:
    """Return the facts of a resource at an instant; the last known ones if it was deleted before."""
    valid = (each for each in known if each.until is None or instant < each.until)
    return next(valid, known[-1] if known else NO_FACTS)


def _instants(holding: Holding, records: UsageRecords, now: datetime) -> Iterator[datetime]:
    """Yield all instants at which a figure of a holding may change."""
    yield now
    for state in records.states.get(holding.reservation_id, ()):
        yield state.since
    windows = [
        *records.failures.get(holding.resource_id, ()),
        *records.observed.get(holding.resource_type, ()),
        *(each.window for each in records.used.get((holding.reservation_id, holding.resource_id), ())),
    ]
    for each in windows:
        yield each.start
        yield each.end
    for facts in records.facts.get(holding.resource_id, ()):
        if facts.until is not None:
            yield facts.until


def _units_at(holding: Holding, records: UsageRecords, at: datetime, now: datetime) -> dict[Figure, int]:
    """Return the units of a holding by figure at an instant inside it, without ``reserved``."""
    status, is_missing = ReservationStatus.PENDING, False
    for state in records.states.get(holding.reservation_id, ()):
        if state.since <= at:
            status, is_missing = state.status, state.is_missing
    has_failed = is_missing and _covers(records.failures.get(holding.resource_id, ()), at)
    if at >= now or status is ReservationStatus.DELETED:
        return {Figure.UNKNOWN: holding.units}
    if status in _LOST or has_failed:
        return {Figure.LOST: holding.units}
    if not _covers(records.observed.get(holding.resource_type, ()), at):
        return {Figure.UNKNOWN: holding.units}
    seen = records.used.get((holding.reservation_id, holding.resource_id), ())
    used = min(holding.units, max((each.units for each in seen if each.window.contains(at)), default=0))
    unused = Figure.IDLE if holding.reservation_id in records.arrived else Figure.NO_SHOW
    return {Figure.IN_USE: used, unused: holding.units - used}


def _covers(windows: Sequence[Interval], instant: datetime) -> bool:
    return any(each.contains(instant) for each in windows)
