"""The journal, the outbox, and the sweep's findings."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from blazar.db.tables import journal, outbox, sweep_findings
from blazar.ports.store import JournalEntry, Message

_INSERT_ENTRY: Final = sa.insert(journal)
_INSERT_MESSAGE: Final = sa.insert(outbox)


class SqlJournal:
    """Implements :class:`blazar.ports.store.Journal`."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def append(self, entries: Sequence[JournalEntry]) -> None:
        """Add entries."""
        if entries:
            self._connection.execute(_INSERT_ENTRY, [asdict(entry) for entry in entries])

    def knows_leases(self) -> bool:
        """Return whether there is an entry of any lease."""
        of_leases = sa.select(journal.c.id).where(journal.c.lease_id.is_not(None)).limit(1)
        return self._connection.scalar(of_leases) is not None

    def known_reservations(self, reservation_ids: Collection[str]) -> frozenset[str]:
        """Return those of the ids that are of reservations to which anything ever happened."""
        if not reservation_ids:
            return frozenset()
        of_these = journal.c.reservation_id.in_(sorted(reservation_ids))
        return frozenset(
            self._connection.scalars(sa.select(journal.c.reservation_id).where(of_these).distinct())
        )

    def list_event(self, event: str) -> tuple[JournalEntry, ...]:
        """Return the entries of one event, of all leases, oldest first."""
        return self._list(journal.c.event == event)

    def list(self, lease_id: str) -> tuple[JournalEntry, ...]:
        """Return a lease's entries, oldest first."""
        return self._list(journal.c.lease_id == lease_id)

    def _list(self, which: sa.ColumnElement[bool]) -> tuple[JournalEntry, ...]:
        query = sa.select(journal).where(which).order_by(journal.c.id)
        return tuple(
            JournalEntry(**{key: value for key, value in row._mapping.items() if key != "id"})
            for row in self._connection.execute(query)
        )


class SqlOutbox:
    """Implements :class:`blazar.ports.store.Outbox`."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def append(self, messages: Sequence[Message], at: datetime) -> None:
        """Add messages."""
        if messages:
            self._connection.execute(
                _INSERT_MESSAGE,
                [
                    {
                        "event_type": each.event_type,
                        "lease_id": each.lease_id,
                        "payload": json.dumps(dict(each.payload)),
                        "due_at": at,
                        "attempts": 0,
                        "created_at": at,
                    }
                    for each in messages
                ],
            )

    def take(self, now: datetime, until: datetime, limit: int) -> tuple[Message, ...]:
        """Return messages that are due, oldest first; nobody else is given them before *until*."""
        query = (
            sa.select(outbox)
            .where(outbox.c.due_at <= now)
            .order_by(outbox.c.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        messages = tuple(
            Message(
                id=row.id,
                event_type=row.event_type,
                lease_id=row.lease_id,
                payload=json.loads(row.payload),
                attempts=row.attempts,
            )
            for row in self._connection.execute(query)
        )
        if messages:
            self._connection.execute(
                sa.update(outbox)
                .where(outbox.c.id.in_([each.id for each in messages]))
                .values(due_at=until, attempts=outbox.c.attempts + 1)
            )
        return messages

    def remove(self, message_ids: Collection[int]) -> None:
        """Forget messages that have been delivered."""
        if message_ids:
            self._connection.execute(sa.delete(outbox).where(outbox.c.id.in_(list(message_ids))))

    def postpone(self, message_id: int, until: datetime) -> None:
        """Have a message that could not be delivered tried again."""
        self._connection.execute(sa.update(outbox).where(outbox.c.id == message_id).values(due_at=until))


class SqlFindings:
    """Implements :class:`blazar.ports.store.Findings`."""

    def __init__(self, connection: sa.Connection) -> None:
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
