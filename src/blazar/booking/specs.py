"""The specs of reservations, including those that could not be read from their row."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from blazar.booking.context import Plugin
from blazar.damage import damaged_rows
from blazar.domain.interval import Interval
from blazar.domain.lease import Reservation, ReservationId, StoredSpec
from blazar.domain.need import Need
from blazar.domain.requirements import Requirement
from blazar.plugins.capabilities import (
    HoldsAfterEnd,
    RequiresProperties,
    StatesNeed,
    ToleratesDamagedSpec,
)

JsonObject = Mapping[str, object]

_logger = logging.getLogger(__name__)


def intact_spec(plugin: Plugin, reservation: Reservation) -> Any:
    """Return the spec of a reservation whose row can be read. Raises the plugin's own error otherwise."""
    spec = reservation.spec
    return plugin.decode(spec.content) if isinstance(spec, StoredSpec) else spec


def spec_for_work(plugin: Plugin, reservation: Reservation) -> Any:
    """Return the spec of a reservation; if it is damaged, a substitute that only serves to end it.

    Raises:
        Exception: The plugin's own error, if it has no substitute.
    """
    if not isinstance(reservation.spec, StoredSpec):
        return reservation.spec
    if isinstance(plugin, ToleratesDamagedSpec):
        return plugin.least_spec()
    return intact_spec(plugin, reservation)


def requirement_of(plugin: Plugin, spec: Any) -> Requirement:
    """Return the requirement for resources in a spec; the empty one if its type names no properties."""
    return plugin.requirement(spec) if isinstance(plugin, RequiresProperties) else Requirement()


def need_of(plugin: Plugin, spec: Any) -> Need:
    """Return the need in a spec; no units, only the requirement, if its type does not state it."""
    if isinstance(plugin, StatesNeed):
        return plugin.need(spec)
    return Need(least=0, most=0, requirement=requirement_of(plugin, spec))


def booked_window(plugin: Plugin, spec: Any, window: Interval) -> Interval:
    """Return the window in which a reservation books its resources, for the window of its lease."""
    if not isinstance(plugin, HoldsAfterEnd):
        return window
    return window.lengthened(plugin.hold_after_end(spec))


def booked_window_of(plugins: Mapping[str, Plugin], reservation: Reservation, window: Interval) -> Interval:
    """Return the booked window of a reservation; *window* itself if its spec cannot be read."""
    plugin, spec = plugins.get(reservation.resource_type), reservation.spec
    if plugin is None or isinstance(spec, StoredSpec):
        return window
    return booked_window(plugin, spec, window)


def booked_together(
    plugins: Mapping[str, Plugin], reservations: Iterable[Reservation], window: Interval
) -> Iterator[tuple[list[ReservationId], Interval]]:
    """Yield the reservations that book their resources in the same window, with that window."""
    found: dict[datetime, list[ReservationId]] = {}
    for each in reservations:
        found.setdefault(booked_window_of(plugins, each, window).end, []).append(each.id)
    for end, ids in found.items():
        yield ids, replace(window, end=end)


def rendered_spec(plugin: Plugin | None, reservation: Reservation) -> JsonObject:
    """Return the spec of a reservation as its plugin renders it, or as stored if the plugin cannot.

    Args:
        plugin: The plugin of its type; None if the type is not enabled.
        reservation: The reservation.
    """
    spec = reservation.spec
    if isinstance(spec, StoredSpec):
        return spec.content
    for shown_by in () if plugin is None else (plugin.render, plugin.encode):
        try:
            return shown_by(spec)
        except Exception:
            # One reservation must not hide the others in a list, nor prevent the end of its lease.
            damaged_rows.note("reservations", "spec", reservation.id)
    return {}


def with_notes(plugin: Plugin, reservation: Reservation, notes: JsonObject) -> Reservation:
    """Return a reservation with the values of some keys of its stored spec, as read from the cloud."""
    spec = reservation.spec
    if isinstance(spec, StoredSpec):
        return replace(reservation, spec=StoredSpec({**spec.content, **notes}))
    try:
        return replace(reservation, spec=plugin.decode({**plugin.encode(spec), **notes}))
    except Exception:
        # A faulty note must not stop the other reservations of the lease.
        _logger.exception("plugin cannot decode what it recorded: reservation_id=%s", reservation.id)
        return reservation
