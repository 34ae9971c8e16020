"""What a change of a lease says in the journal."""

from __future__ import annotations

from datetime import datetime

from blazar.domain.lease import Lease
from blazar.ports.store import JournalEntry


def transitions(before: Lease, after: Lease, at: datetime, actor: str) -> list[JournalEntry]:
    """Return an entry for each status or flag that changed, and for each new reason to wait."""
    entries = []
    if before.status is not after.status:
        entries.append(
            JournalEntry(
                at=at,
                lease_id=after.id,
                event="lease.status",
                reason=f"{before.status} -> {after.status}",
                actor=actor,
            )
        )
    for old, new in zip(before.reservations, after.reservations, strict=True):
        if old.status is not new.status:
            reason = f"{old.status} -> {new.status}" + (f": {new.problem}" if new.problem else "")
        elif new.problem and old.problem != new.problem:
            reason = new.problem
        else:
            continue
        entries.append(
            JournalEntry(
                at=at,
                lease_id=after.id,
                reservation_id=new.id,
                event="reservation.status" if old.status is not new.status else "reservation.waits",
                reason=reason,
                actor=actor,
            )
        )
    entries += _flags(before, after, at, actor)
    for old_event, new_event in zip(before.events, after.events, strict=True):
        if old_event.status is not new_event.status:
            entries.append(
                JournalEntry(
                    at=at,
                    lease_id=after.id,
                    event="event.status",
                    reason=f"{new_event.event_type}: {old_event.status} -> {new_event.status}",
                    actor=actor,
                )
            )
    return entries


def _flags(before: Lease, after: Lease, at: datetime, actor: str) -> list[JournalEntry]:
    return [
        JournalEntry(
            at=at,
            lease_id=after.id,
            reservation_id=new.id,
            event="reservation.flags",
            reason=f"{name}: {str(is_set).lower()}",
            actor=actor,
        )
        for old, new in zip(before.reservations, after.reservations, strict=True)
        for name, was_set, is_set in (
            ("missing_resources", old.missing_resources, new.missing_resources),
            ("resources_changed", old.resources_changed, new.resources_changed),
        )
        if was_set is not is_set
    ]
