"""Deliveries of notices to subscribers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa

from blazar.db.columns import read_object
from blazar.db.connection import Connection
from blazar.db.subscription_rows import may_be_tried, subscription_of
from blazar.db.tables import deliveries, subscriptions
from blazar.ports.notices import Delivery

if TYPE_CHECKING:
    from blazar.ports.notices import DeliveryStore

_INSERT: Final = sa.insert(deliveries)
_CANDIDATES: Final = 10
"""The number of due subscriptions read per delivery, so that different projects can be chosen."""
_IS_TRIED: Final = deliveries.c.failed_at.is_(None)


class SqlDeliveries:
    """Implements :class:`blazar.ports.notices.DeliveryStore`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def append(self, deliveries: Sequence[Delivery]) -> None:
        """Add deliveries, which are due at once."""
        rows = [
            {
                "message_id": each.message_id,
                "subscription_id": each.subscription.id,
                "type": each.type,
                "lease_id": each.lease_id,
                "data": json.dumps(dict(each.data)),
                "at": each.at,
                "date_at": each.date,
                "queued_at": each.queued_at,
                "due_at": each.queued_at,
                "attempts": 0,
                "failed_at": None,
                "problem": None,
            }
            for each in deliveries
        ]
        if rows:
            self._connection.execute(_INSERT, rows)

    def count_waiting(self, subscription_ids: Collection[str]) -> Mapping[str, int]:
        """Return the number of undelivered notices of each of these subscriptions."""
        if not subscription_ids:
            return {}
        query = (
            sa.select(deliveries.c.subscription_id, sa.func.count().label("all"))
            .where(deliveries.c.subscription_id.in_(sorted(subscription_ids)), _IS_TRIED)
            .group_by(deliveries.c.subscription_id)
        )
        return {row.subscription_id: row.all for row in self._connection.execute(query)}

    def take(self, now: datetime, until: datetime, limit: int, per_project: int) -> Sequence[Delivery]:
        """Return due deliveries; no other manager gets them before *until*."""
        chosen = self._choose(now, limit, per_project)
        if not chosen:
            return ()
        # Other managers may have chosen the same ones.
        query = (
            sa.select(deliveries.c.id)
            .where(deliveries.c.id.in_(chosen), _IS_TRIED, deliveries.c.due_at <= now)
            .with_for_update(skip_locked=True)
        )
        taken = [row.id for row in self._connection.execute(query)]
        if not taken:
            return ()
        self._connection.execute(
            sa.update(deliveries)
            .where(deliveries.c.id.in_(taken))
            .values(due_at=until, attempts=deliveries.c.attempts + 1)
        )
        return self._read(deliveries.c.id.in_(taken))

    def _choose(self, now: datetime, limit: int, per_project: int) -> Sequence[int]:
        """Return the oldest due delivery of each subscription, only a few for each project."""
        earlier = deliveries.alias("earlier")
        is_first = ~(
            sa.select(earlier.c.id)
            .where(
                earlier.c.subscription_id == deliveries.c.subscription_id,
                earlier.c.lease_id == deliveries.c.lease_id,
                earlier.c.failed_at.is_(None),
                earlier.c.id < deliveries.c.id,
            )
            .exists()
        )
        query = (
            sa.select(subscriptions.c.project_id, sa.func.min(deliveries.c.id).label("id"))
            .select_from(deliveries.join(subscriptions))
            .where(
                _IS_TRIED,
                deliveries.c.due_at <= now,
                subscriptions.c.is_enabled,
                may_be_tried(now),
                is_first,
            )
            .group_by(subscriptions.c.id, subscriptions.c.project_id)
            .order_by(sa.func.min(deliveries.c.due_at), subscriptions.c.id)
            .limit(limit * _CANDIDATES)
        )
        chosen: list[int] = []
        counts: Counter[str | None] = Counter()
        for row in self._connection.execute(query):
            if counts[row.project_id] < per_project and len(chosen) < limit:
                counts[row.project_id] += 1
                chosen.append(row.id)
        return chosen

    def remove(self, delivery_id: int) -> None:
        """Delete a delivery."""
        self._connection.execute(sa.delete(deliveries).where(deliveries.c.id == delivery_id))

    def postpone(self, delivery_id: int, until: datetime, problem: str) -> None:
        """Schedule another attempt at *until*."""
        self._set(deliveries.c.id == delivery_id, due_at=until, problem=problem)

    def fail(self, delivery_id: int, at: datetime, problem: str) -> None:
        """Give up a delivery."""
        self._set(deliveries.c.id == delivery_id, failed_at=at, problem=problem)

    def fail_all(self, subscription_id: str, at: datetime, problem: str) -> None:
        """Give up all deliveries of a subscription."""
        which = sa.and_(deliveries.c.subscription_id == subscription_id, _IS_TRIED)
        self._set(which, failed_at=at, problem=problem)

    def resend(self, subscription_id: str, at: datetime) -> int:
        """Schedule the given-up deliveries of a subscription again; return their number."""
        which = sa.and_(deliveries.c.subscription_id == subscription_id, ~_IS_TRIED)
        return self._set(which, failed_at=None, queued_at=at, due_at=at, attempts=0, problem=None)

    def list(self, subscription_id: str, limit: int) -> Sequence[Delivery]:
        """Return the deliveries of a subscription, oldest first."""
        return self._read(deliveries.c.subscription_id == subscription_id, limit)

    def purge(self, before: datetime) -> int:
        """Delete deliveries that were given up before an instant; return their number."""
        return self._connection.execute(sa.delete(deliveries).where(deliveries.c.failed_at < before)).rowcount

    def _set(self, which: sa.ColumnElement[bool], **values: object) -> int:
        return self._connection.execute(sa.update(deliveries).where(which).values(**values)).rowcount

    def _read(self, which: sa.ColumnElement[bool], limit: int | None = None) -> Sequence[Delivery]:
        query = sa.select(deliveries, subscriptions).select_from(deliveries.join(subscriptions)).where(which)
        query = query.order_by(deliveries.c.id).limit(limit)
        return [_delivery(row._mapping) for row in self._connection.execute(query)]


def _delivery(row: sa.RowMapping) -> Delivery:
    return Delivery(
        id=row[deliveries.c.id],
        message_id=row[deliveries.c.message_id],
        subscription=subscription_of(row),
        type=row[deliveries.c.type],
        lease_id=row[deliveries.c.lease_id],
        data=read_object(row[deliveries.c.data]) or {},
        at=row[deliveries.c.at],
        date=row[deliveries.c.date_at],
        queued_at=row[deliveries.c.queued_at],
        attempts=row[deliveries.c.attempts],
        problem=row[deliveries.c.problem],
        failed_at=row[deliveries.c.failed_at],
    )


if TYPE_CHECKING:

    def _witness(each: SqlDeliveries) -> DeliveryStore:
        return each
