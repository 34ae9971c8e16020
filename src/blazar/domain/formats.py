"""The formats of instants in documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

Format = Callable[[datetime | None], str | None]


def _instant(instant: datetime | None) -> str | None:
    """Return an instant as ``2031-04-05T06:07:00.000000``: always six digits; None for None."""
    return _in_utc(instant).isoformat(timespec="microseconds") if instant else None


def _stamp(instant: datetime | None) -> str | None:
    """Return an instant as ``2031-04-05 06:07:08``; None for None."""
    return _in_utc(instant).isoformat(" ", timespec="seconds") if instant else None


def _seconds(instant: datetime | None) -> str | None:
    """Return an instant as ``2031-04-05T06:07:08``; None for None."""
    return _in_utc(instant).isoformat(timespec="seconds") if instant else None


def _in_utc(instant: datetime) -> datetime:
    return instant.astimezone(UTC).replace(tzinfo=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Formats:
    """The formats of instants in a document; all are in UTC and without a zone."""

    date: Format
    """For the dates of leases and the times of events."""
    stamp: Format
    """For times of creation and update."""


API: Final = Formats(date=_instant, stamp=_stamp)
"""The formats of API v1, whose clients parse both strictly."""

CHANGED: Final = Formats(date=_instant, stamp=_instant)
"""The formats of API v1 in the answers to some changes."""

USAGE: Final = Formats(date=_seconds, stamp=_seconds)
"""The formats of usage documents."""
