"""The outbox."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa

from blazar.db.connection import Connection
from blazar.db.tables import outbox
from blazar.domain.lease import LeaseId
from blazar.ports.outbox import Letter, Message

if TYPE_CHECKING:
    from blazar.ports.outbox import Outbox

_INSERT: Final = sa.insert(outbox)
_NOT_JSON: Final = "its payload is not a JSON object"


class SqlOutbox:
    """Implements :class:`blazar.ports.outbox.Outbox`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def append(self, messages: Sequence[Message], at: datetime) -> None:
        """Add messages."""
        self._connection.later(
            _INSERT,
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
        """Return due messages, oldest first; no other sender gets them before *until*."""
        query = (
            sa.select(outbox)
            .where(outbox.c.failed_at.is_(None), outbox.c.due_at <= now)
            .order_by(outbox.c.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        rows = list(self._connection.execute(query))
        messages = {row.id: _message(row) for row in rows}
        taken = tuple(each for each in messages.values() if each is not None)
        for message_id, message in messages.items():
            if message is None:
                self.fail(message_id, now, _NOT_JSON)
        if taken:
            self._connection.execute(
                sa.update(outbox)
                .where(outbox.c.id.in_([each.id for each in taken]))
                .values(due_at=until, attempts=outbox.c.attempts + 1)
            )
        return taken

    def remove(self, message_ids: Collection[int]) -> None:
        """Delete messages."""
        if message_ids:
            self._connection.execute(sa.delete(outbox).where(outbox.c.id.in_(list(message_ids))))

    def postpone(self, message_id: int, until: datetime, problem: str) -> None:
        """Schedule another attempt at *until*."""
        self._connection.execute(
            sa.update(outbox).where(outbox.c.id == message_id).values(due_at=until, problem=problem)
        )

    def fail(self, message_id: int, at: datetime, problem: str) -> None:
        """Mark a message as failed."""
        self._connection.execute(
            sa.update(outbox).where(outbox.c.id == message_id).values(failed_at=at, problem=problem)
        )

    def resend(self, message_ids: Collection[int], at: datetime) -> None:
        """Make messages, including failed ones, due at *at*."""
        if message_ids:
            self._connection.execute(
                sa.update(outbox)
                .where(outbox.c.id.in_(list(message_ids)))
                .values(due_at=at, created_at=at, attempts=0, failed_at=None, problem=None)
            )

    def find(self, message_id: int) -> Letter | None:
        """Return a message, or None."""
        row = self._connection.execute(sa.select(outbox).where(outbox.c.id == message_id)).one_or_none()
        return None if row is None else _letter(row)

    def list(self, *, failed: bool, limit: int) -> tuple[Letter, ...]:
        """Return messages, oldest first."""
        which = outbox.c.failed_at.is_not(None) if failed else outbox.c.failed_at.is_(None)
        query = sa.select(outbox).where(which).order_by(outbox.c.id).limit(limit)
        return tuple(_letter(row) for row in self._connection.execute(query))


def _message(row: sa.Row[Any]) -> Message | None:
    """Return a stored message; None if its payload cannot be read."""
    try:
        payload = json.loads(row.payload)
    except ValueError:
        return None
    if not isinstance(payload, dict):
        return None
    return Message(
        id=row.id,
        event_type=row.event_type,
        lease_id=LeaseId(row.lease_id),
        payload=payload,
        attempts=row.attempts,
        created_at=row.created_at,
    )


def _letter(row: sa.Row[Any]) -> Letter:
    return Letter(**row._mapping)


if TYPE_CHECKING:

    def _witness(each: SqlOutbox) -> Outbox:
        return each
