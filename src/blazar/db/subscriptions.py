"""Subscriptions, and the notices that subscribers have already received."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa

from blazar.db.connection import Connection
from blazar.db.lease_rows import lease_of
from blazar.db.subscription_rows import columns_of, subscription_of
from blazar.db.tables import Instant, confirmations, deliveries, leases, notices, subscriptions
from blazar.db.tables import told as told_table
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import Lease
from blazar.domain.notices import REMINDERS, Notice, NoticeType
from blazar.domain.subscriptions import Scope, Subscription
from blazar.ports.notices import Told

if TYPE_CHECKING:
    from blazar.ports.notices import SubscriptionStore

_INSERT: Final = sa.insert(subscriptions)
_MINUTE: Final = timedelta(minutes=1)
_LEAST_AGE: Final = timedelta(hours=1)
"""Age below which a subscription is kept even if its lease is not found: it may be about to be stored."""


class SqlSubscriptions:
    """Implements :class:`blazar.ports.notices.SubscriptionStore`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, subscription_id: str) -> Subscription | None:
        """Return a subscription, or None."""
        return next(iter(self._read(subscriptions.c.id == subscription_id)), None)

    def list(self, scope: Scope | None = None, project_id: str | None = None) -> Sequence[Subscription]:
        """Return subscriptions, oldest first."""
        which: sa.ColumnElement[bool] = sa.true()
        if scope is not None:
            which = sa.and_(which, subscriptions.c.scope == scope.value)
        if project_id is not None:
            which = sa.and_(which, subscriptions.c.project_id == project_id)
        return self._read(which)

    def count(self, project_id: str | None) -> int:
        """Return the number of subscriptions of a project."""
        which = subscriptions.c.project_id == project_id
        query = sa.select(sa.func.count()).select_from(subscriptions).where(which)
        return self._connection.scalar(query) or 0

    def insert(self, subscription: Subscription) -> None:
        """Add a subscription."""
        self._connection.execute(_INSERT, [columns_of(subscription)])

    def replace(self, before: Subscription, after: Subscription) -> None:
        """Replace a subscription; raise ConcurrentUpdate if it was changed or deleted meanwhile."""
        own = subscriptions.c.id == before.id
        # Deliveries refer only to the id, so they can be added to a locked subscription.
        locked = sa.select(subscriptions).where(own).with_for_update(key_share=True)
        if [subscription_of(row._mapping) for row in self._connection.execute(locked)] != [before]:
            raise ConcurrentUpdate("The subscription was changed or deleted concurrently")
        self._connection.execute(sa.update(subscriptions).where(own).values(**columns_of(after)))

    def delete(self, subscription_id: str) -> bool:
        """Delete a subscription with its deliveries; return whether it existed."""
        which = subscriptions.c.id == subscription_id
        return self._connection.execute(sa.delete(subscriptions).where(which)).rowcount == 1

    def covering(self, notices: Collection[Notice]) -> Sequence[Subscription]:
        """Return the enabled subscriptions that may cover one of these notices, oldest first."""
        lease_ids = {each.lease_id for each in notices}
        project_ids = {each.project_id for each in notices if each.project_id is not None}
        if not notices:
            return ()
        of_project = subscriptions.c.project_id.in_(sorted(project_ids))
        which = sa.or_(
            subscriptions.c.scope == Scope.SITE.value,
            sa.and_(subscriptions.c.scope != Scope.LEASE.value, of_project),
            subscriptions.c.lease_id.in_(sorted(lease_ids)),
        )
        return self._read(sa.and_(subscriptions.c.is_enabled, which))

    def of_types(self, types: Collection[NoticeType]) -> Sequence[Subscription]:
        """Return the enabled subscriptions that have one of these types, oldest first."""
        # The only character of the names with a meaning in a pattern is the underscore, so the values are
        # checked again.
        named = [subscriptions.c.types.like(f'%"{each.value}"%') for each in types]
        found = self._read(sa.and_(subscriptions.c.is_enabled, sa.or_(*named)))
        return [each for each in found if not each.types.isdisjoint(types)]

    def note_success(self, subscription_id: str, at: datetime) -> None:
        """Record that a delivery succeeded."""
        self._set(subscription_id, succeeded_at=at, failing_since=None, retry_at=None, problem=None)

    def note_failure(
        self, subscription_id: str, at: datetime, problem: str, retry_at: datetime | None
    ) -> None:
        """Record that an attempt failed."""
        since = sa.func.coalesce(subscriptions.c.failing_since, sa.literal(at, Instant()))
        self._set(subscription_id, failing_since=since, problem=problem, retry_at=retry_at)

    def note_outage(self, subscription_id: str, problem: str, retry_at: datetime | None) -> None:
        """Record that the site could not make an attempt."""
        self._set(subscription_id, failing_since=None, problem=problem, retry_at=retry_at)

    def disable(self, subscription_id: str, problem: str) -> None:
        """Stop deliveries until the subscriber enables them again."""
        self._set(subscription_id, is_enabled=False, problem=problem)

    def list_told(self, types: Collection[NoticeType]) -> Sequence[Told]:
        """Return the notices of these types that subscribers have already received."""
        which = told_table.c.type.in_(sorted(each.value for each in types))
        return [
            Told(
                subscription_id=row.subscription_id,
                type=NoticeType(row.type),
                about=row.about,
                date=row.date_at,
                lead=None if row.lead_minutes is None else row.lead_minutes * _MINUTE,
            )
            for row in self._connection.execute(sa.select(told_table).where(which))
        ]

    def tell(self, told: Told) -> None:
        """Record a notice to a subscriber, in place of an earlier entry."""
        self.forget(told)
        row = {
            "subscription_id": told.subscription_id,
            "type": told.type.value,
            "about": told.about,
            "date_at": told.date,
            "lead_minutes": None if told.lead is None else told.lead // _MINUTE,
        }
        self._connection.execute(sa.insert(told_table), [row])

    def forget(self, told: Told) -> None:
        """Delete the record of a notice to a subscriber."""
        self._connection.execute(
            sa.delete(told_table).where(
                told_table.c.subscription_id == told.subscription_id,
                told_table.c.type == told.type.value,
                told_table.c.about == told.about,
            )
        )

    def purge(self, before: datetime) -> int:
        """Delete old records of reminders, and subscriptions for leases that are gone."""
        names = sorted(each.value for each in (*REMINDERS, NoticeType.OFFER_EXPIRED))
        self._connection.execute(
            sa.delete(told_table).where(told_table.c.type.in_(names), told_table.c.date_at < before)
        )
        self._connection.execute(sa.delete(confirmations).where(confirmations.c.sent_at < before))
        is_waiting = (
            sa.select(deliveries.c.id)
            .where(deliveries.c.subscription_id == subscriptions.c.id, deliveries.c.failed_at.is_(None))
            .exists()
        )
        gone = sa.and_(
            subscriptions.c.scope == Scope.LEASE.value,
            subscriptions.c.created_at < before - _LEAST_AGE,
            ~sa.select(leases.c.id).where(leases.c.id == subscriptions.c.lease_id).exists(),
            ~sa.select(notices.c.id).where(notices.c.lease_id == subscriptions.c.lease_id).exists(),
            ~is_waiting,
        )
        return self._connection.execute(sa.delete(subscriptions).where(gone)).rowcount

    def count_confirmations(self, after: datetime, *, address: str | None, project_id: str | None) -> int:
        """Return the number of confirmations that were mailed since an instant."""
        which = [confirmations.c.sent_at > after]
        if address is not None:
            which.append(confirmations.c.address == address)
        if project_id is not None:
            which.append(confirmations.c.project_id == project_id)
        query = sa.select(sa.func.count()).select_from(confirmations).where(*which)
        return self._connection.scalar(query) or 0

    def note_confirmation(self, address: str, project_id: str | None, at: datetime) -> None:
        """Record that a confirmation is mailed to an address."""
        row = {"address": address, "project_id": project_id, "sent_at": at}
        self._connection.execute(sa.insert(confirmations), [row])

    def list_starting(self, after: datetime, until: datetime) -> Sequence[Lease]:
        """Return the leases that start in this time and are not being deleted, without their parts."""
        return self._list_leases(leases.c.start_at > after, leases.c.start_at <= until)

    def list_ending(self, after: datetime, until: datetime) -> Sequence[Lease]:
        """Return the leases that end in this time and are not being deleted, without their parts."""
        return self._list_leases(leases.c.end_at > after, leases.c.end_at <= until)

    def _list_leases(self, *which: sa.ColumnElement[bool]) -> Sequence[Lease]:
        query = sa.select(leases).where(*which, leases.c.is_deleting.is_(False)).order_by(leases.c.id)
        return [lease_of(dict(row._mapping), (), (), None) for row in self._connection.execute(query)]

    def _read(self, which: sa.ColumnElement[bool]) -> Sequence[Subscription]:
        query = sa.select(subscriptions).where(which)
        query = query.order_by(subscriptions.c.created_at, subscriptions.c.id)
        return [subscription_of(row._mapping) for row in self._connection.execute(query)]

    def _set(self, subscription_id: str, **values: object) -> None:
        self._connection.execute(
            sa.update(subscriptions).where(subscriptions.c.id == subscription_id).values(**values)
        )


if TYPE_CHECKING:

    def _witness(each: SqlSubscriptions) -> SubscriptionStore:
        return each
