"""Which leases are to be looked at, when, and who is at it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from oslo_db.exception import DBDuplicateEntry

from blazar.db.tables import events, leases, work
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import EventStatus, EventType
from blazar.ports.work import Claim


def _claimable(now: datetime | sa.BindParameter[datetime]) -> sa.ColumnElement[bool]:
    return sa.or_(work.c.claim_deadline.is_(None), work.c.claim_deadline <= now)


# Made once: to put a statement together takes longer than to execute it.
_NOW: Final = sa.bindparam("now", type_=work.c.due_at.type)
_INSERT: Final = sa.insert(work)
_DUE: Final = (
    sa.select(work)
    .where(work.c.due_at <= _NOW, _claimable(_NOW))
    .order_by(work.c.due_at, work.c.key)
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_CLAIMABLE: Final = _DUE.with_for_update(skip_locked=True)
_CLAIM: Final = (
    sa.update(work)
    .where(work.c.key.in_(sa.bindparam("keys", expanding=True)))
    .values(
        owner=sa.bindparam("by"),
        claim_deadline=sa.bindparam("until"),
        claim_number=work.c.claim_number + 1,
    )
)
_BEGINNING: Final = _DUE.where(
    sa.exists().where(
        leases.c.id == work.c.key,
        leases.c.is_deleting.is_(False),
        events.c.lease_id == leases.c.id,
        events.c.event_type.in_([EventType.START.value, EventType.END.value]),
        events.c.status == EventStatus.UNDONE.value,
        events.c.time_at <= _NOW,
    )
).with_for_update(of=work, skip_locked=True)
# Both minima are found by the index of what is due when, as there is a row for each lease: what is claimed
# was due.
_NEXT_DUE: Final = sa.select(
    sa.select(work.c.due_at)
    .where(work.c.claim_deadline.is_(None))
    .order_by(work.c.due_at)
    .limit(1)
    .scalar_subquery(),
    sa.select(sa.func.min(work.c.claim_deadline)).where(work.c.due_at <= _NOW).scalar_subquery(),
)


class SqlWork:
    """Implements :class:`blazar.ports.store.WorkStore`."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def schedule(self, keys: Collection[str], due_at: datetime) -> None:
        """Have these keys looked at by *due_at*, or sooner if that was planned.

        A key that somebody works on is looked at again after that: the work may have passed by what
        it is scheduled for.
        """
        if not keys:
            return
        query = sa.select(work.c.key).where(work.c.key.in_(list(keys))).order_by(work.c.key)
        known = list(self._connection.scalars(query.with_for_update()))
        if known:
            is_woken_later = sa.or_(work.c.woken_at.is_(None), work.c.woken_at > due_at)
            is_claimed = work.c.claim_deadline.is_not(None)
            self._connection.execute(
                sa.update(work)
                .where(work.c.key.in_(known))
                .values(
                    due_at=sa.case((work.c.due_at > due_at, due_at), else_=work.c.due_at),
                    woken_at=sa.case((is_claimed & is_woken_later, due_at), else_=work.c.woken_at),
                )
            )
        self.plan(dict.fromkeys(sorted(set(keys) - set(known)), due_at))

    def plan(self, dues: Mapping[str, datetime]) -> None:
        """Have keys that are not planned yet looked at, each at its instant. Raises ConcurrentUpdate."""
        rows = [
            {"key": key, "due_at": due_at, "claim_number": 0, "attempts": 0} for key, due_at in dues.items()
        ]
        if rows:
            try:
                self._connection.execute(_INSERT, rows)
            except DBDuplicateEntry as error:
                raise ConcurrentUpdate("The same work was scheduled by somebody else") from error

    def is_due(self, key: str, now: datetime) -> bool:
        """Return whether a key is due, or somebody is at it."""
        is_open = sa.or_(work.c.due_at <= now, work.c.claim_deadline.is_not(None))
        return self._connection.scalar(sa.select(work.c.key).where(work.c.key == key, is_open)) is not None

    def next_due(self, now: datetime) -> datetime | None:
        """Return when something will next be due, or was, or a claim run out; None for never."""
        instants = self._connection.execute(_NEXT_DUE, {"now": now}).one()
        return min((each for each in instants if each is not None), default=None)

    def claim_due(self, owner: str, now: datetime, deadline: datetime, limit: int) -> tuple[Claim, ...]:
        """Return claims on what is due, most overdue first; what others are claiming is left out."""
        rows = self._connection.execute(_CLAIMABLE, {"now": now, "most": limit})
        found = [_claim(row) for row in rows]
        if found:
            self._connection.execute(
                _CLAIM, {"keys": [each.key for each in found], "by": owner, "until": deadline}
            )
        return tuple(replace(each, number=each.number + 1) for each in found)

    def lock_beginning(self, now: datetime, limit: int) -> tuple[str, ...]:
        """Return leases to start or end that nobody has begun with, locked; what others lock is left out."""
        rows = self._connection.execute(_BEGINNING, {"now": now, "most": limit})
        return tuple(row.key for row in rows)

    def take(self, key: str, owner: str, now: datetime, deadline: datetime) -> Claim | None:
        """Return a claim on a key, due or not; None if another owner has it."""
        self.schedule([key], now)
        row = self._connection.execute(sa.select(work).where(work.c.key == key)).one()
        taken = self._connection.execute(
            sa.update(work)
            .where(work.c.key == key, work.c.claim_number == row.claim_number)
            .where(sa.or_(_claimable(now), work.c.owner == owner))
            .values(owner=owner, claim_deadline=deadline, claim_number=row.claim_number + 1)
        )
        if taken.rowcount != 1:
            return None
        return Claim(key=key, number=row.claim_number + 1, attempts=row.attempts, due_at=row.due_at)

    def renew(self, claims: Collection[Claim], deadline: datetime) -> frozenset[str]:
        """Move deadlines; return the keys whose claims are still valid."""
        return frozenset(
            claim.key
            for claim in sorted(claims, key=lambda each: each.key)
            if self._update(claim, {"claim_deadline": deadline})
        )

    def finish(self, claim: Claim, due_at: datetime | None, attempts: int) -> None:
        """Give a claim back, or forget the key; raise ConcurrentUpdate if the claim is void.

        What was scheduled since the claim still counts.
        """
        if due_at is None:
            unwoken = sa.delete(work).where(*_held(claim), work.c.woken_at.is_(None))
            if self._connection.execute(unwoken).rowcount == 1:
                return
            due: Any = sa.func.coalesce(work.c.woken_at, work.c.due_at)
        else:
            due = sa.case((work.c.woken_at < due_at, work.c.woken_at), else_=due_at)
        # With the number goes whatever was done under it and comes late, such as a renewal.
        given_back = {
            "owner": None,
            "claim_deadline": None,
            "claim_number": claim.number + 1,
            "woken_at": None,
        }
        if not self._update(claim, {**given_back, "due_at": due, "attempts": attempts}):
            raise ConcurrentUpdate(f"The claim on {claim.key} was taken over")

    def forget(self, key: str) -> None:
        """Forget a key for which there is nothing to do; whoever is at it finds out by himself."""
        self._connection.execute(sa.delete(work).where(work.c.key == key, work.c.claim_deadline.is_(None)))

    def free_all(self) -> None:
        """Void all claims: for a manager that starts and knows that there is no other."""
        self._connection.execute(
            sa.update(work).values(owner=None, claim_deadline=None, claim_number=work.c.claim_number + 1)
        )

    def keep(self, claim: Claim) -> None:
        """Check, and lock until the transaction ends, a claim; raise ConcurrentUpdate if it is void."""
        if not self._update(claim, {"claim_number": claim.number}):
            raise ConcurrentUpdate(f"The claim on {claim.key} was taken over")

    def _update(self, claim: Claim, values: dict[str, Any]) -> bool:
        updated = self._connection.execute(sa.update(work).where(*_held(claim)).values(values))
        return updated.rowcount == 1


def _claim(row: sa.Row[Any]) -> Claim:
    """Return what a claim on a row would continue."""
    return Claim(
        key=row.key,
        number=row.claim_number,
        attempts=row.attempts,
        due_at=row.due_at,
        taken_from=None if row.claim_deadline is None else row.owner,
    )


def _held(claim: Claim) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return work.c.key == claim.key, work.c.claim_number == claim.number
