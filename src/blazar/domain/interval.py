"""Time: instants are timezone-aware UTC, windows are half-open."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """The time from *start* up to, but not including, *end*; both are timezone-aware.

    Raises:
        ValueError: A bound has no time zone, or the end is not after the start.

    Source: ADR-0003 (time is half-open UTC).
    """

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if self.start.utcoffset() is None or self.end.utcoffset() is None:
            raise ValueError("interval ends must be timezone-aware")
        if not self.start < self.end:
            raise ValueError("interval must end after it starts")

    @classmethod
    def at_least_an_instant(cls, start: datetime, end: datetime) -> Interval:
        """Return the interval from *start* to *end*, or its first instant if *end* is not after *start*.

        A lease that ends at the moment at which it starts has held its resources for that instant.
        """
        return cls(start, max(end, start + timedelta.resolution))

    @property
    def duration(self) -> timedelta:
        """Return the length; always positive."""
        return self.end - self.start

    def overlaps(self, other: Interval) -> bool:
        """Return whether the two share at least an instant; adjacent intervals do not."""
        return self.start < other.end and other.start < self.end

    def contains(self, instant: datetime) -> bool:
        """Return whether *instant* is inside; the start is, the end is not."""
        return self.start <= instant < self.end

    def covers(self, other: Interval) -> bool:
        """Return whether all of *other* is inside."""
        return self.start <= other.start and other.end <= self.end

    def after(self, instant: datetime) -> Interval:
        """Return the part from *instant* on. Raises ValueError if the end is not after it."""
        return Interval(max(self.start, instant), self.end)

    def lengthened(self, extra: timedelta) -> Interval:
        """Return the interval with *extra* (not negative) added at the end, clipped as by :meth:`widened`."""
        return Interval(self.start, self.widened(extra).end)

    def widened(self, margin: timedelta) -> Interval:
        """Return the interval with *margin* (not negative) added at both ends.

        The result is clipped to the range of ``datetime``.
        """
        first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
        start = self.start - margin if self.start - first > margin else first
        end = self.end + margin if last - self.end > margin else last
        return Interval(start, end)
