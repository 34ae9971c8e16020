"""Lateness of the starts and ends of leases, by the journal."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from blazar.db import tables

_STATUS = re.compile(r"-> ([A-Z]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """One start or end."""

    what: str
    """``start`` until the lease is ACTIVE, or ``end`` until it is TERMINATED."""
    due: datetime
    """The date of the lease, or when a request created or last changed it, if that was later."""
    began_at: datetime
    """When a manager began with it."""
    done_at: datetime


def read_lateness(engine: sa.Engine) -> list[Late]:
    """Return the starts and ends of all leases that exist; those of deleted leases are not known."""
    leases, journal = tables.leases.c, tables.journal.c
    with engine.connect() as connection:
        found = connection.execute(
            sa.select(leases.id, leases.start_at, leases.end_at, leases.created_at).order_by(leases.id)
        ).all()
        entries: dict[str, list[sa.Row[tuple[str, str, str, datetime]]]] = defaultdict(list)
        query = sa.select(journal.lease_id, journal.event, journal.reason, journal.at)
        for row in connection.execute(query.where(journal.lease_id.is_not(None)).order_by(journal.id)):
            entries[row.lease_id].append(row)
    result = []
    for lease in found:
        changes = [row.at for row in entries[lease.id] if row.event == "update"]
        statuses = [
            (status[1], row.at)
            for row in entries[lease.id]
            if row.event == "lease.status" and (status := _STATUS.search(row.reason))
        ]
        for what, date, first, last in (
            ("start", lease.start_at, "STARTING", "ACTIVE"),
            ("end", lease.end_at, "TERMINATING", "TERMINATED"),
        ):
            done = [at for status, at in statuses if status == last]
            if done:
                done_at = done[0] if what == "start" else done[-1]
                began = [at for status, at in statuses if status == first and at <= done_at]
                due = _due(date, lease.created_at, (each for each in changes if each <= done_at))
                began_at = max(began, default=done_at)
                result.append(Late(what=what, due=due, began_at=_utc(began_at), done_at=_utc(done_at)))
    return result


def outside(found: Iterable[Late], periods: Collection[tuple[datetime, datetime]]) -> list[Late]:
    """Return the starts and ends that were due in none of the periods."""
    return [each for each in found if not any(begin <= each.due <= end for begin, end in periods)]


def _due(date: datetime, created_at: datetime, changes: Iterable[datetime]) -> datetime:
    return max(_utc(each) for each in (date, created_at, *changes))


def _utc(instant: datetime) -> datetime:
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant
