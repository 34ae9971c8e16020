"""Offers, and the allocations that they hold."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from blazar.db.connection import Connection
from blazar.db.shares import read_share, share_columns
from blazar.db.specs import SpecColumn
from blazar.db.tables import offer_allocations, offers
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, Holdings, LeaseId, ReservationId, ResourceId
from blazar.domain.offers import Offer, OfferedChange

_IS_UNDECIDED: Final = sa.and_(offers.c.committed_at.is_(None), offers.c.outdated_at.is_(None))
_INSERT: Final = sa.insert(offers)
_INSERT_ALLOCATIONS: Final = sa.insert(offer_allocations)
_HELD_FOR: Final = (
    sa.select(offers.c.id, offer_allocations.c.resource_id)
    .select_from(offers.outerjoin(offer_allocations))
    .where(offers.c.lease_id == sa.bindparam("lease_id"))
    .distinct()
)


class SqlOffers:
    """Implements :class:`blazar.ports.offers.OfferStore`."""

    def __init__(self, connection: Connection, specs: SpecColumn) -> None:
        self._connection = connection
        self._specs = specs

    def find(self, offer_id: str) -> Offer | None:
        """Return an offer, or None."""
        return next(iter(self._read(offers.c.id == offer_id)), None)

    def list_open(self, project_id: str | None, now: datetime) -> Sequence[Offer]:
        """Return the open offers of a project, oldest first."""
        return self._read(is_open_for(project_id, now))

    def count_open(self, project_id: str | None, now: datetime) -> int:
        """Return the number of open offers of a project."""
        query = sa.select(sa.func.count()).select_from(offers).where(is_open_for(project_id, now))
        return self._connection.scalar(query) or 0

    def list_expired(self, after: datetime, until: datetime) -> Sequence[Offer]:
        """Return the offers that expired in this time without being committed, oldest first."""
        return self._read(sa.and_(offers.c.expires_at > after, offers.c.expires_at <= until, _IS_UNDECIDED))

    def insert(self, offer: Offer) -> None:
        """Add an offer with its allocations."""
        row = {
            "id": offer.id,
            "name": offer.name,
            "user_id": offer.user_id,
            "project_id": offer.project_id,
            "start_at": offer.start,
            "end_at": offer.end,
            "before_end_at": offer.before_end,
            "reservations": self._specs.encode_requested(offer.reservations),
            "expires_at": offer.expires_at,
            "created_at": offer.created_at,
            "committed_at": None,
            "lease_id": None if offer.change is None else offer.change.lease_id,
            "planned_change": None if offer.change is None else _encode_change(offer.change),
            "outdated_at": None,
            "expiry_notice": offer.expiry_notice,
        }
        self._connection.execute(_INSERT, [row])
        types = {each.id: each.resource_type for each in offer.reservations}
        rows = [
            {
                "offer_id": offer.id,
                "resource_id": each.resource_id,
                "reservation_id": each.reservation_id,
                "resource_type": types[each.reservation_id],
                "start_at": each.window.start,
                "end_at": each.window.end,
                "expires_at": offer.expires_at,
                **share_columns(each.share),
            }
            for each in offer.allocations
        ]
        if rows:
            self._connection.execute(_INSERT_ALLOCATIONS, rows)

    def commit(self, offer: Offer, at: datetime) -> None:
        """Mark an offer as committed; its row tells concurrent transactions that they are too late."""
        marked = self._connection.execute(
            sa.update(offers).where(offers.c.id == offer.id, _IS_UNDECIDED).values(committed_at=at)
        )
        if marked.rowcount != 1:
            raise ConcurrentUpdate("The offer was committed or deleted, or became outdated, concurrently")
        self._connection.execute(sa.delete(offer_allocations).where(offer_allocations.c.offer_id == offer.id))

    def held_for(self, lease_id: LeaseId) -> Mapping[LeaseId, frozenset[ResourceId]]:
        """Return what each offer for a lease holds."""
        held: dict[LeaseId, frozenset[ResourceId]] = defaultdict(frozenset)
        for offer_id, resource_id in self._connection.execute(_HELD_FOR, {"lease_id": lease_id}):
            held[offer_id] |= frozenset({resource_id} - {None})
        return held

    def outdate(self, lease_id: LeaseId, at: datetime) -> None:
        """Mark the open offers for a lease as outdated, and delete their allocations."""
        which = sa.and_(offers.c.lease_id == lease_id, is_open(at))
        self._connection.execute(sa.update(offers).where(which).values(outdated_at=at))
        self._release_for(lease_id)

    def delete_for(self, lease_id: LeaseId) -> None:
        """Delete all offers for a lease."""
        self._release_for(lease_id)
        self._connection.execute(sa.delete(offers).where(offers.c.lease_id == lease_id))

    def _release_for(self, lease_id: LeaseId) -> None:
        own = sa.select(offers.c.id).where(offers.c.lease_id == lease_id)
        self._connection.execute(sa.delete(offer_allocations).where(offer_allocations.c.offer_id.in_(own)))

    def delete(self, offer: Offer) -> None:
        """Delete an offer that is not committed."""
        # Do not rely on the cascade, which does not tell whether another transaction was faster.
        self._connection.execute(sa.delete(offer_allocations).where(offer_allocations.c.offer_id == offer.id))
        is_committed = offers.c.committed_at.is_not(None)
        deleted = self._connection.execute(sa.delete(offers).where(offers.c.id == offer.id, ~is_committed))
        if deleted.rowcount != 1:
            raise ConcurrentUpdate("The offer was committed or deleted concurrently")

    def release_expired(self, now: datetime) -> int:
        """Delete the allocations of expired offers; return their number."""
        expired = offer_allocations.c.expires_at <= now
        return self._connection.execute(sa.delete(offer_allocations).where(expired)).rowcount

    def purge(self, before: datetime) -> int:
        """Delete the offers that expired before an instant; return their number."""
        return self._connection.execute(sa.delete(offers).where(offers.c.expires_at < before)).rowcount

    def _read(self, which: sa.ColumnElement[bool]) -> list[Offer]:
        query = sa.select(offers).where(which).order_by(offers.c.created_at, offers.c.id)
        rows = [row._mapping for row in self._connection.execute(query)]
        held = self._held([row["id"] for row in rows])
        return [self._offer_of(row, held[row["id"]]) for row in rows]

    def _held(self, offer_ids: Sequence[str]) -> Mapping[str, list[Allocation]]:
        found: dict[str, list[Allocation]] = defaultdict(list)
        if offer_ids:
            query = sa.select(offer_allocations).where(offer_allocations.c.offer_id.in_(offer_ids))
            for row in self._connection.execute(query.order_by(offer_allocations.c.id)):
                found[row.offer_id].append(
                    Allocation(
                        resource_id=ResourceId(row.resource_id),
                        reservation_id=ReservationId(row.reservation_id),
                        window=Interval(row.start_at, row.end_at),
                        share=read_share(row.slots, row.demand),
                    )
                )
        return found

    def _offer_of(self, row: Mapping[Any, Any], held: Iterable[Allocation]) -> Offer:
        return Offer(
            id=LeaseId(row["id"]),
            name=row["name"],
            user_id=row["user_id"],
            project_id=row["project_id"],
            start=row["start_at"],
            end=row["end_at"],
            before_end=row["before_end_at"],
            expires_at=row["expires_at"],
            reservations=self._specs.decode_requested(
                row["reservations"], LeaseId(row["lease_id"] or row["id"]), row["created_at"]
            ),
            allocations=tuple(held),
            created_at=row["created_at"],
            committed_at=row["committed_at"],
            change=None if row["planned_change"] is None else _decode_change(row),
            outdated_at=row["outdated_at"],
            expiry_notice=row["expiry_notice"],
        )


def is_open_for(project_id: str | None, now: datetime) -> sa.ColumnElement[bool]:
    """Return the condition that an offer belongs to a project, and can be committed."""
    return sa.and_(offers.c.project_id == project_id, is_open(now))


def is_open(now: datetime) -> sa.ColumnElement[bool]:
    """Return the condition that an offer is neither committed, expired nor outdated."""
    return sa.and_(offers.c.expires_at > now, _IS_UNDECIDED)


def _encode_change(change: OfferedChange) -> str:
    parts = {"before": change.before, "after": change.after}
    holdings = {name: {key: _encode_held(each) for key, each in part.items()} for name, part in parts.items()}
    return json.dumps({"asked": change.asked, **holdings})


def _encode_held(held: Holdings) -> Mapping[str, object]:
    return {key: None if share is None else share_columns(share) for key, share in held.items()}


def _decode_change(row: Mapping[Any, Any]) -> OfferedChange:
    stored = json.loads(row["planned_change"])
    return OfferedChange(
        lease_id=LeaseId(row["lease_id"]),
        asked=stored["asked"],
        before={ReservationId(key): _decode_held(each) for key, each in stored["before"].items()},
        after={ReservationId(key): _decode_held(each) for key, each in stored["after"].items()},
    )


def _decode_held(stored: Mapping[str, Any]) -> Holdings:
    return {
        ResourceId(key): None if each is None else read_share(each["slots"], each["demand"])
        for key, each in stored.items()
    }
