"""The journal, and the findings of checks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import chain
from typing import Any, Final

import sqlalchemy as sa

from blazar.db.connection import Connection
from blazar.db.tables import journal, sweep_findings
from blazar.domain.lease import LeaseId
from blazar.domain.portions import in_portions
from blazar.ports.journal import DELETE, LONGEST_REASON, JournalEntry

_INSERT_ENTRY: Final = sa.insert(journal)
_WITH_SHORT_REASON: Final = [
    sa.func.substr(each, 1, LONGEST_REASON).label(each.name) if each is journal.c.reason else each
    for each in journal.c
]
# Built once: building a statement takes longer than executing it.
_EVENT_OF_LEASES: Final = (
    sa.select(journal)
    .where(
        journal.c.lease_id.in_(sa.bindparam("of", expanding=True)),
        journal.c.event == sa.bindparam("wanted_event"),
    )
    .order_by(journal.c.id)
)
_AT_ONCE: Final = 1_000
"""The most ids in one statement."""


class SqlJournal:
    """Implements :class:`blazar.ports.store.Journal`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def append(self, entries: Sequence[JournalEntry]) -> None:
        """Add entries."""
        self._connection.later(_INSERT_ENTRY, [asdict(entry) for entry in entries])

    def knows_leases(self) -> bool:
        """Return whether the journal has an entry for any lease."""
        of_leases = sa.select(journal.c.id).where(journal.c.lease_id.is_not(None)).limit(1)
        return self._connection.scalar(of_leases) is not None

    def known_reservations(self, reservation_ids: Collection[str]) -> frozenset[str]:
        """Return the given ids that name reservations with journal entries."""
        if not reservation_ids:
            return frozenset()
        of_these = journal.c.reservation_id.in_(sorted(reservation_ids))
        return frozenset(
            self._connection.scalars(sa.select(journal.c.reservation_id).where(of_these).distinct())
        )

    def has_delete(self, lease_id: str) -> bool:
        """Return whether a request to delete the lease was recorded."""
        which = journal.c.lease_id == lease_id, journal.c.event == DELETE
        return self._connection.scalar(sa.select(journal.c.id).where(*which).limit(1)) is not None

    def list_event(
        self, event: str, lease_ids: Collection[LeaseId] | None = None
    ) -> tuple[JournalEntry, ...]:
        """Return the entries with this event, of these leases or of all; of each, oldest first."""
        if lease_ids is None:
            return self._list(journal.c.event == event)
        parts = in_portions(sorted(lease_ids), _AT_ONCE)
        found = (self._entries(_EVENT_OF_LEASES, {"wanted_event": event, "of": some}) for some in parts)
        return tuple(chain.from_iterable(found))

    def list_latest(self, lease_id: str, events: Collection[str], limit: int) -> tuple[JournalEntry, ...]:
        """Return a lease's latest entries with these events, oldest first; long reasons are cut."""
        which = (journal.c.lease_id == lease_id) & journal.c.event.in_(sorted(events))
        latest = sa.select(*_WITH_SHORT_REASON).where(which).order_by(journal.c.id.desc()).limit(limit)
        return self._entries(latest)[::-1]

    def list(self, lease_id: str) -> tuple[JournalEntry, ...]:
        """Return a lease's entries, oldest first."""
        return self._list(journal.c.lease_id == lease_id)

    def _list(self, which: sa.ColumnElement[bool]) -> tuple[JournalEntry, ...]:
        return self._entries(sa.select(journal).where(which).order_by(journal.c.id))

    def _entries(
        self, query: sa.Select[Any], values: Mapping[str, Any] | None = None
    ) -> tuple[JournalEntry, ...]:
        return tuple(
            JournalEntry(**{key: value for key, value in row._mapping.items() if key != "id"})
            for row in self._connection.execute(query, values)
        )


class SqlFindings:
    """Implements :class:`blazar.ports.store.Findings`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def note(self, finder: str, keys: Collection[str], at: datetime) -> Mapping[str, datetime]:
        """Replace a finder's findings by these; return when each was first seen."""
        sign = f"{finder} "
        query = sa.select(sweep_findings).where(sweep_findings.c.key.startswith(sign, autoescape=True))
        known = {row.key: row.first_seen_at for row in self._connection.execute(query)}
        signed = {sign + key: key for key in keys}
        gone = [each for each in known if each not in signed]
        if gone:
            self._connection.execute(sa.delete(sweep_findings).where(sweep_findings.c.key.in_(gone)))
        new = sorted(signed.keys() - known.keys())
        if new:
            self._connection.execute(
                sa.insert(sweep_findings), [{"key": each, "first_seen_at": at} for each in new]
            )
        return {key: known.get(each, at) for each, key in signed.items()}
