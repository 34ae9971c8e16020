"""A lease as an entry for calendars (RFC 5545), attached to mail.

It has the identifier of the lease in feeds, so that a program which knows both shows one entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import icalendar


def calendar_entry(lease: Mapping[str, object], at: datetime, *, is_cancelled: bool) -> bytes:
    """Return a calendar with one entry for a lease, which replaces an earlier one of the same lease.

    Args:
        lease: The lease as notices show it.
        at: Time of the notice; later entries take precedence.
        is_cancelled: Whether the lease was deleted.
    """
    start, end = (datetime.fromisoformat(str(lease[key])).replace(tzinfo=UTC) for key in _DATES)
    event = icalendar.Event()
    event.add("uid", f"{lease['id']}@blazar")
    event.add("dtstamp", at.astimezone(UTC))
    event.add("sequence", int(at.timestamp()) % 2**31)
    event.add("dtstart", start)
    # An event without an end lasts for an instant; an end that is not later than the start is not allowed.
    if end > start:
        event.add("dtend", end)
    event.add("summary", _line(str(lease["name"])))
    event.add("status", "CANCELLED" if is_cancelled else "CONFIRMED")
    event.add("transp", "TRANSPARENT")
    calendar = icalendar.Calendar()
    calendar.add("prodid", "-//OpenStack//Blazar//EN")
    calendar.add("version", "2.0")
    calendar.add("method", "PUBLISH")
    calendar.add_component(event)
    return bytes(calendar.to_ical())


def _line(text: str) -> str:
    """Return a text in one line, without characters that calendars do not allow."""
    return "".join(each for each in " ".join(text.split()) if each.isprintable())


_DATES = ("start_date", "end_date")
