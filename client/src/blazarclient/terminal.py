"""Tables on a terminal: local times, short ids, natural order, colours.

Output to pipes, and in other formats, is for programs and is not changed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, TextIO

from blazarclient import utils
from blazarclient.base import Records

DATES = ("start_date", "end_date", "before_end_date", "time", "created_at", "updated_at")
"""Keys of dates in UTC."""
IDS = ("id", "reservation_id")
"""Columns of lists in which ids are shortened; commands accept short ids."""

_SHORTEST_ID, _WHOLE_ID = 8, 36
_GREEN, _YELLOW, _RED, _GREY = "32", "33", "31", "90"
_COLOURS = {
    "ACTIVE": _GREEN,
    "ERROR": _RED,
    "TERMINATED": _GREY,
    "DELETED": _GREY,
    **dict.fromkeys(("CREATING", "STARTING", "UPDATING", "TERMINATING", "DELETING"), _YELLOW),
}
_STATUS_CELL = re.compile(rf"(?<=\| )({'|'.join(_COLOURS)})(?= *\|)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """A terminal, with the user's time zone."""

    zone: tzinfo
    has_colours: bool

    def localized(self, value: Any) -> Any:
        """Return a value of a response with its dates in the user's time zone."""
        match value:
            case Mapping():
                return {
                    key: self._local(each) if key in DATES else self.localized(each)
                    for key, each in value.items()
                }
            case list():
                return [self.localized(each) for each in value]
            case _:
                return value

    def rows(self, records: Records) -> Records:
        """Return the rows of a list with local dates and short ids."""
        lengths = {key: _length(each.get(key) for each in records) for key in IDS}
        return [
            self.localized(each)
            | {key: _short(each[key], length) for key, length in lengths.items() if key in each}
            for each in records
        ]

    def coloured(self, table: str) -> str:
        """Return *table* with coloured statuses, if the terminal has colours."""
        if not self.has_colours:
            return table
        return _STATUS_CELL.sub(lambda match: f"\x1b[{_COLOURS[match[1].upper()]}m{match[1]}\x1b[0m", table)

    def _local(self, date: Any) -> Any:
        try:
            instant = datetime.fromisoformat(date)
        except (TypeError, ValueError):
            return date
        return f"{instant.replace(tzinfo=instant.tzinfo or UTC).astimezone(self.zone):%Y-%m-%d %H:%M %Z}"


def of(stream: TextIO, zone: tzinfo) -> Terminal | None:
    """Return the terminal that *stream* writes to, or None if it is not a terminal.

    Colours are off if the environment variable ``NO_COLOR`` is not empty, or ``TERM`` is ``dumb``.
    """
    if not stream.isatty():
        return None
    has_colours = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Terminal(zone=zone, has_colours=has_colours)


def natural(text: str) -> list[Any]:
    """Return a sort key for natural order: host-2 sorts before host-10."""
    parts = re.split(r"(\d+)", text.casefold())
    return [int(part) if index % 2 else part for index, part in enumerate(parts)]


def _length(ids: Iterable[Any]) -> int:
    """Return the shortest length, of at least 8 characters, that makes prefixes of *ids* unique."""
    full = {each for each in ids if isinstance(each, str)}
    lengths = range(_SHORTEST_ID, _WHOLE_ID)
    return next((each for each in lengths if len({found[:each] for found in full}) == len(full)), _WHOLE_ID)


def _short(found: Any, length: int) -> Any:
    return found[:length] if isinstance(found, str) and re.fullmatch(utils.UUID, found) else found
