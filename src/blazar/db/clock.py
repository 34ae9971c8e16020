"""The database's clock."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa

from blazar.db.store import translated
from blazar.ports.clock import Clock, ClockReading

if TYPE_CHECKING:
    from blazar.ports.clock import ReferenceClock

_NOW: Final = {
    "mysql": sa.text("SELECT UTC_TIMESTAMP(6)"),
    "postgresql": sa.text("SELECT clock_timestamp()"),
    "sqlite": sa.text("SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')"),
}
"""Queries by dialect. None of them returns the time at which the transaction began."""


class SqlClock:
    """Implements :class:`blazar.ports.clock.ReferenceClock`. SQLite uses the clock of this machine."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._statement = _NOW[engine.dialect.name]

    def compare(self, clock: Clock) -> ClockReading:
        """Return a comparison of both clocks. Raises Unavailable."""
        with translated(writes=False), self._engine.connect() as connection:
            # Only the statement is timed: connecting may take much longer.
            connection.execute(sa.text("SELECT 1"))
            before = clock.now()
            there = connection.scalar(self._statement)
            after = clock.now()
        return ClockReading(before=before, there=_instant(there), after=after)


def _instant(found: object) -> datetime:
    instant = found if isinstance(found, datetime) else datetime.fromisoformat(str(found))
    return instant.replace(tzinfo=UTC) if instant.utcoffset() is None else instant.astimezone(UTC)


if TYPE_CHECKING:

    def _witness(clock: SqlClock) -> ReferenceClock:
        return clock
