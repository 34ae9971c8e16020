"""Time: instants are timezone-aware UTC, windows are half-open."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """The time from *start* up to, but not including, *end*; both are timezone-aware.

    Raises:
        ValueError: An end without a time zone, or an end that is not after the start.

    Source: ADR-0003 (time is half-open UTC).
    """

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if self.start.utcoffset() is None or self.end.utcoffset() is None:
            raise ValueError("interval ends must be timezone-aware")
        if not self.start < self.end:
            raise ValueError("interval must end after it starts")

    @property
    def duration(self) -> timedelta:
        """Return the length; always positive."""
        return self.end - self.start

    def overlaps(self, other: Interval) -> bool:
        """Return whether the two share at least an instant; touching is not sharing."""
        return self.start < other.end and other.start < self.end

    def contains(self, instant: datetime) -> bool:
        """Return whether *instant* lies inside; the start does, the end does not."""
        return self.start <= instant < self.end

    def covers(self, other: Interval) -> bool:
        """Return whether all of *other* lies inside."""
        return self.start <= other.start and other.end <= self.end

    def widened(self, margin: timedelta) -> Interval:
        """Return the interval with *margin* (not negative) added at both ends.

        Where the calendar ends, so does the interval.
        """
        first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
        start = self.start - margin if self.start - first > margin else first
        end = self.end + margin if last - self.end > margin else last
        return Interval(start, end)
