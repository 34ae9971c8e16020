"""Sentences about the end of leases, from the plugins of their reservations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from blazar.booking.context import Plugin
from blazar.booking.views import JsonObject
from blazar.damage import damaged_rows
from blazar.domain.formats import API, Format
from blazar.domain.lease import EventType, Lease, Reservation, ReservationStatus, StoredSpec
from blazar.domain.lifecycle import has_ended
from blazar.plugins.capabilities import DescribesEnd
from blazar.plugins.end_texts import NEUTRAL, EndText

_OVER: Final = (ReservationStatus.DELETED, ReservationStatus.ERROR)


def end_texts_of(plugin: Plugin) -> Sequence[EndText]:
    """Return all sentences that can apply to reservations of a type."""
    return plugin.end_texts if isinstance(plugin, DescribesEnd) else (NEUTRAL,)


def at_end_view(
    reservation: Reservation, lease: Lease, plugins: Mapping[str, Plugin], show: Format
) -> list[JsonObject]:
    """Return what happens at the end of a reservation, in the order of time.

    Args:
        reservation: A reservation of the lease.
        lease: The lease.
        plugins: The plugins by resource type.
        show: Formats an instant.

    Returns:
        Each with its ``text`` and its ``time``; nothing if the end has come, the lease is being deleted, or
        the reservation failed.
    """
    if has_ended(lease) or lease.is_deleting or reservation.status in _OVER:
        return []
    event = lease.find_event(EventType.BEFORE_END)
    texts = _describe(plugins.get(reservation.resource_type), reservation)
    before = [] if event is None else [(each.text, event.time) for each in texts if each.is_before_end]
    after = [(each.text, lease.end) for each in texts if not each.is_before_end]
    return [{"text": text, "time": show(time)} for text, time in (*before, *after)]


def at_end(lease: Lease, plugins: Mapping[str, Plugin]) -> JsonObject:
    """Return the detail of a notice that says what happens at the end of each reservation."""
    return {
        "at_end": [
            {"reservation_id": each.id, "resource_type": each.resource_type, **view}
            for each in lease.reservations
            for view in at_end_view(each, lease, plugins, API.date)
        ]
    }


def _describe(plugin: Plugin | None, reservation: Reservation) -> Sequence[EndText]:
    if not isinstance(plugin, DescribesEnd) or isinstance(reservation.spec, StoredSpec):
        return (NEUTRAL,)
    try:
        return plugin.describe_end(reservation.spec)
    except Exception:
        # One reservation must not hide the others in a list.
        damaged_rows.note("reservations", "spec", reservation.id)
        return (NEUTRAL,)
