"""Stored answers to requests that have an idempotency key."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

import sqlalchemy as sa
from oslo_db.exception import DBDuplicateEntry

from blazar.db.connection import Connection
from blazar.db.tables import answers
from blazar.domain.errors import AlreadyAnswered
from blazar.ports.answers import StoredAnswer


class SqlAnswers:
    """Implements :class:`blazar.ports.answers.AnswerStore`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, key: str) -> StoredAnswer | None:
        """Return the stored answer, or None."""
        row = self._connection.execute(sa.select(answers).where(answers.c.key == key)).one_or_none()
        return None if row is None else StoredAnswer(**row._mapping)

    def insert(self, answer: StoredAnswer) -> None:
        """Add an answer; the unique key makes concurrent transactions wait for each other."""
        try:
            self._connection.execute(sa.insert(answers), [asdict(answer)])
        except DBDuplicateEntry as error:
            raise AlreadyAnswered("A concurrent request has this Idempotency-Key") from error

    def delete_before(self, instant: datetime) -> int:
        """Delete the answers that were stored before an instant; return their number."""
        return self._connection.execute(sa.delete(answers).where(answers.c.created_at < instant)).rowcount
