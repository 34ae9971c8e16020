"""Notices for which no deliveries exist yet."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa

from blazar.db.columns import read_object
from blazar.db.connection import Connection
from blazar.db.tables import notices
from blazar.domain.notices import Notice, NoticeType

if TYPE_CHECKING:
    from blazar.ports.notices import NoticeStore

_INSERT: Final = sa.insert(notices)


class SqlNotices:
    """Implements :class:`blazar.ports.notices.NoticeStore`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def append(self, notices: Sequence[Notice]) -> None:
        """Add notices."""
        rows = [
            {
                "type": each.type.value,
                "lease_id": each.lease_id,
                "project_id": each.project_id,
                "user_id": each.user_id,
                "data": json.dumps(dict(each.data)),
                "at": each.at,
            }
            for each in notices
        ]
        self._connection.later(_INSERT, rows)

    def take(self, limit: int) -> Sequence[Notice]:
        """Return the oldest notices, and lock them; a row that cannot be read is deleted."""
        query = sa.select(notices).order_by(notices.c.id).limit(limit).with_for_update(skip_locked=True)
        rows = list(self._connection.execute(query))
        oldest = self._connection.scalar(sa.select(sa.func.min(notices.c.id)))
        if not rows or rows[0].id != oldest:
            # Another manager has older ones, which may be of the same leases.
            return ()
        found = {row.id: _notice(row) for row in rows}
        self.remove([key for key, each in found.items() if each is None])
        return [each for each in found.values() if each is not None]

    def remove(self, notice_ids: Collection[int]) -> None:
        """Delete notices."""
        if notice_ids:
            self._connection.execute(sa.delete(notices).where(notices.c.id.in_(list(notice_ids))))


def _notice(row: sa.Row[Any]) -> Notice | None:
    data = read_object(row.data)
    if data is None or row.type not in set(NoticeType):
        return None
    return Notice(
        id=row.id,
        type=NoticeType(row.type),
        lease_id=row.lease_id,
        project_id=row.project_id,
        user_id=row.user_id,
        data=data,
        at=row.at,
    )


if TYPE_CHECKING:

    def _witness(each: SqlNotices) -> NoticeStore:
        return each
