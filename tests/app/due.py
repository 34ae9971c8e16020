"""The instants at which a reconciler has something to do."""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa

from blazar.db import tables

_MINUTE = timedelta(minutes=1)


def next_minute(engine: sa.Engine, now: datetime) -> datetime | None:
    """Return the first full minute after *now* at which work, a takeover, a message or a notice is due.

    None if nothing is due, now or later.
    """
    work, outbox, deliveries = tables.work.c, tables.outbox.c, tables.deliveries.c
    first = sa.select(
        sa.select(sa.func.min(work.due_at)).where(work.claim_deadline.is_(None)).scalar_subquery(),
        sa.select(sa.func.min(work.claim_deadline)).scalar_subquery(),
        sa.select(sa.func.min(outbox.due_at)).where(outbox.failed_at.is_(None)).scalar_subquery(),
        sa.select(sa.func.min(deliveries.due_at)).where(deliveries.failed_at.is_(None)).scalar_subquery(),
    )
    with engine.connect() as connection:
        instants: list[datetime] = [each for each in connection.execute(first).one() if each is not None]
    if not instants:
        return None
    due = min(instants)
    minute = due.replace(second=0, microsecond=0)
    after = now.replace(second=0, microsecond=0) + _MINUTE
    return max(after, minute if minute == due else minute + _MINUTE)
