"""Metrics of lease events: lag and duration."""

from __future__ import annotations

from datetime import datetime

from blazar.domain.lease import Event, EventStatus, Lease
from blazar.ports import metrics
from blazar.ports.meter import Meter

_FINISHED = (EventStatus.DONE, EventStatus.ERROR)


def measure(meter: Meter, before: Lease, after: Lease, now: datetime) -> None:
    """Record which events of a lease were begun or finished by a stored change.

    Events that passed while no manager was running, such as the start of a lease that is over, count as late.
    """
    for old in before.events:
        new = after.find_event(old.event_type)
        if new is None or new.status is old.status:
            continue
        name = old.event_type.value
        if old.status is EventStatus.UNDONE:
            meter.observe(metrics.EVENT_LAG_SECONDS, _seconds(_due(old), now), name)
        if new.status in _FINISHED:
            begun = old.updated_at if old.status is EventStatus.IN_PROGRESS else now
            meter.observe(metrics.EVENT_SECONDS, _seconds(begun or now, now), name)
            meter.count(metrics.EVENTS, name, new.status.value.lower())


def _due(event: Event) -> datetime:
    """Return when an event was due. A start at the last full minute is not due before it was requested."""
    return max(event.time, *(each for each in (event.created_at, event.updated_at, event.time) if each))


def _seconds(since: datetime, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds())
