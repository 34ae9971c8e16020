"""Charts of free resources over time, for terminals of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise

from blazarclient.base import Record, Records
from blazarclient.i18n import _

WIDTH = 56
"""The number of columns for time."""
_LABEL = 16
BLOCKS = "·▁▂▃▄▅▆▇█"
PLAIN = ".12345678#"
"""Levels for terminals without UTF-8; in both sets, the first one means none free, and the last one all."""
_MARK = "^"


def levels_for(encoding: str | None) -> str:
    """Return the characters for levels that can be printed in an encoding."""
    return BLOCKS if (encoding or "").lower().replace("-", "") == "utf8" else PLAIN


def draw(found: Record, zone: tzinfo, levels: str) -> Sequence[str]:
    """Return the lines of a chart with one row for each group, and one column for each part of the period.

    A column shows the least number of free resources in its part. A mark below it means own leases.

    Args:
        found: The answer of the service, with ``from``, ``to`` and ``groups``.
        zone: The time zone of the dates.
        levels: From :func:`levels_for`.
    """
    start, end = _instant(found["from"]), _instant(found["to"])
    lines = [f"{'':{_LABEL}} {_header(start, end, zone)}"]
    for each in found["groups"]:
        parts = _parts(each["intervals"], start, end)
        chart = "".join(level(min(one["free"] for one in part), each["total"], levels) for part in parts)
        lines.append(f"{label(each['value'])[:_LABEL]:{_LABEL}} {chart} {each['total']:>5}")
        marks = "".join(_MARK if any(one["mine"] for one in part) else " " for part in parts).rstrip()
        if marks:
            lines.append(f"{'':{_LABEL}} {marks}")
    minutes = (end - start) / timedelta(minutes=1) / WIDTH
    legend = _("%(none)s none free, %(all)s all free, %(mark)s own leases; a column is %(length)s")
    length = f"{minutes / 60:g} h" if minutes >= 60 else f"{minutes:.0f} min"
    return [*lines, legend % {"none": levels[0], "all": levels[-1], "mark": _MARK, "length": length}]


def label(value: object) -> str:
    """Return the name of a group."""
    return "-" if value is None else str(value)


def level(free: int, total: int, levels: str) -> str:
    """Return the character for a number of free resources; the first only for none, the last only for all."""
    if free <= 0:
        return levels[0]
    if free >= total:
        return levels[-1]
    return levels[1 + free * (len(levels) - 2) // total]


def _parts(intervals: Records, start: datetime, end: datetime) -> Sequence[Records]:
    """Return the intervals that overlap each column."""
    bounds = [start + (end - start) * number / WIDTH for number in range(WIDTH + 1)]
    known = [(_instant(each["start_date"]), _instant(each["end_date"]), each) for each in intervals]
    return [
        [each for first, last, each in known if first < high and last > low] for low, high in pairwise(bounds)
    ]


def _header(start: datetime, end: datetime, zone: tzinfo) -> str:
    """Return the days that begin in the period, above the columns in which they begin."""
    line = ""
    for day in _midnights(start.astimezone(zone), end):
        column = int((day - start) / (end - start) * WIDTH)
        text = f"{day:%a %d}"
        if (not line or column > len(line)) and column + len(text) <= WIDTH:
            line = f"{line:{column}}{text}"
    return line


def _midnights(local: datetime, end: datetime) -> Iterable[datetime]:
    day = local.replace(hour=0, minute=0)
    if day < local:
        day += timedelta(days=1)
    while day < end:
        yield day
        day += timedelta(days=1)


def _instant(date: str) -> datetime:
    return datetime.fromisoformat(date).replace(tzinfo=UTC)
