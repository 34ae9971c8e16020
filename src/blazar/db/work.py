"""Planned reconcile passes of leases, and their claims."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from blazar.db.connection import Connection
from blazar.db.numbers import first_number
from blazar.db.tables import events, leases, reservations, resources, work
from blazar.db.waiting import list_waiting
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import EventStatus, EventType, LeaseStatus
from blazar.ports.work import Claim, WaitingLease, is_periodic_task


def _claimable(now: datetime | sa.BindParameter[datetime]) -> sa.ColumnElement[bool]:
    return sa.or_(work.c.claim_deadline.is_(None), work.c.claim_deadline <= now)


# Built once: building a statement takes longer than executing it.
_NOW: Final = sa.bindparam("now", type_=work.c.due_at.type)
_INSERT: Final = sa.insert(work)
_FORGET: Final = sa.delete(work).where(work.c.key == sa.bindparam("of_key"), work.c.claim_deadline.is_(None))
_WANTED_AT: Final = sa.bindparam("wanted_at", type_=work.c.due_at.type)
_IS_WOKEN_LATER: Final = sa.or_(work.c.woken_at.is_(None), work.c.woken_at > _WANTED_AT)
_ADVANCE: Final = (
    sa.update(work)
    .where(work.c.key.in_(sa.bindparam("keys", expanding=True)))
    .values(
        # A row that is already due changes too: another node may be claiming it.
        touches=work.c.touches + 1,
        due_at=sa.case((work.c.due_at > _WANTED_AT, _WANTED_AT), else_=work.c.due_at),
        woken_at=sa.case(
            (work.c.claim_deadline.is_not(None) & _IS_WOKEN_LATER, _WANTED_AT), else_=work.c.woken_at
        ),
    )
)
_HELD: Final = (
    work.c.key == sa.bindparam("held_key"),
    work.c.claim_number == sa.bindparam("held_number"),
)
_RENEW: Final = sa.update(work).where(*_HELD).values(claim_deadline=sa.bindparam("until"))
_KEEP: Final = sa.update(work).where(*_HELD).values(touches=work.c.touches + 1)
_GIVE_BACK: Final = (
    sa.update(work)
    .where(*_HELD)
    .values(
        owner=None,
        claim_deadline=None,
        # A new number invalidates late operations under the claim, such as a renewal.
        claim_number=work.c.claim_number + 1,
        due_at=sa.case((work.c.woken_at < _WANTED_AT, work.c.woken_at), else_=_WANTED_AT),
        woken_at=None,
        attempts=sa.bindparam("new_attempts"),
    )
)
_DELETE_UNWOKEN: Final = sa.delete(work).where(*_HELD, work.c.woken_at.is_(None))
_GIVE_BACK_WOKEN: Final = _GIVE_BACK.values(due_at=sa.func.coalesce(work.c.woken_at, work.c.due_at))
"""For work that was scheduled during the claim, and would not be needed otherwise."""
_LOCKED_BEFORE: Final = (work, resources)
"""Rows of resources are locked before those of work, so that transactions do not wait for each other."""
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
# Both minima use the index on due_at, because there is a row for each lease; claimed work was due
# before.
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

    def __init__(self, connection: Connection, first_number: Callable[[], int]) -> None:
        self._connection = connection
        self._first_number = first_number

    def schedule(self, keys: Collection[str], due_at: datetime) -> None:
        """Schedule reconcile passes for these keys at *due_at*, unless an earlier one is planned.

        A claimed key is reconciled again after its claim is released: the current pass may have missed the
        change for which it is scheduled.
        """
        if len(keys) > 1:
            # Rows are locked in one order; otherwise two transactions could wait for each other.
            query = sa.select(work.c.key).where(work.c.key.in_(list(keys))).order_by(work.c.key)
            known = set(self._connection.scalars(query.with_for_update()))
            self._advance(known, due_at)
        else:
            known = set(keys) if self._advance(keys, due_at) else set()
        self.plan(dict.fromkeys(sorted(set(keys) - known), due_at))

    def _advance(self, keys: Collection[str], due_at: datetime) -> int:
        """Make planned keys due at *due_at* unless they are due earlier; return how many are planned."""
        if not keys:
            return 0
        values = {"keys": list(keys), "wanted_at": due_at}
        return self._connection.execute_apart(_ADVANCE, values, after=_LOCKED_BEFORE).rowcount

    def plan(self, dues: Mapping[str, datetime]) -> None:
        """Schedule keys that are not planned yet, each at its instant. Raises ConcurrentUpdate."""
        rows = [
            {"key": key, "due_at": due_at, "claim_number": self._first_number(), "attempts": 0}
            for key, due_at in dues.items()
        ]
        self._connection.later(_INSERT, rows)

    def list_unplanned(self) -> tuple[str, ...]:
        """Return leases without planned work that may need some."""
        is_deployed = sa.exists().where(reservations.c.lease_id == leases.c.id, reservations.c.is_deployed)
        has_ended = leases.c.status == LeaseStatus.TERMINATED.value
        query = (
            sa.select(leases.c.id)
            .outerjoin(work, work.c.key == leases.c.id)
            .where(work.c.key.is_(None))
            .where(sa.or_(sa.not_(has_ended), leases.c.is_deleting.is_(True), is_deployed))
            .order_by(leases.c.id)
        )
        return tuple(self._connection.scalars(query))

    def is_due(self, key: str, now: datetime) -> bool:
        """Return whether a key is due or claimed."""
        is_open = sa.or_(work.c.due_at <= now, work.c.claim_deadline.is_not(None))
        return self._connection.scalar(sa.select(work.c.key).where(work.c.key == key, is_open)) is not None

    def due_of(self, keys: Collection[str]) -> Mapping[str, datetime]:
        """Return when each of these keys is or was due; keys without planned work are omitted."""
        if not keys:
            return {}
        query = sa.select(work.c.key, work.c.due_at).where(work.c.key.in_(list(keys)))
        return {row.key: row.due_at for row in self._connection.execute(query)}

    def list_waiting(self, before: datetime) -> tuple[WaitingLease, ...]:
        """Return the leases that wait, oldest first, in one statement."""
        return list_waiting(self._connection, before)

    def next_due(self, now: datetime) -> datetime | None:
        """Return when the next key is or was due, or the next claim expires; None for never."""
        instants = self._connection.execute(_NEXT_DUE, {"now": now}).one()
        return min((each for each in instants if each is not None), default=None)

    def claim_due(self, owner: str, now: datetime, deadline: datetime, limit: int) -> tuple[Claim, ...]:
        """Return claims on due keys, most overdue first; keys that others are claiming are omitted."""
        rows = self._connection.execute(_CLAIMABLE, {"now": now, "most": limit})
        found = [_claim(row) for row in rows]
        if found:
            self._connection.execute(
                _CLAIM, {"keys": [each.key for each in found], "by": owner, "until": deadline}
            )
        return tuple(replace(each, number=each.number + 1) for each in found)

    def lock_due_unclaimed(self, now: datetime, limit: int) -> tuple[str, ...]:
        """Lock and return leases due to start or end that are not in progress; locked ones are omitted."""
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
        """Extend claims to *deadline*; return the keys whose claims are still valid."""
        return frozenset(
            claim.key
            for claim in sorted(claims, key=lambda each: each.key)
            if self._update(_RENEW, claim, until=deadline)
        )

    def finish(self, claim: Claim, due_at: datetime | None, attempts: int) -> None:
        """Release a claim, or delete the key; raise ConcurrentUpdate if the claim is void.

        A pass that was scheduled since the claim still takes place.
        """
        if due_at is None:
            if self._connection.execute(_DELETE_UNWOKEN, _held(claim)).rowcount == 1:
                return
            given_back = self._update(_GIVE_BACK_WOKEN, claim, new_attempts=attempts)
        else:
            given_back = self._update(_GIVE_BACK, claim, new_attempts=attempts, wanted_at=due_at)
        if not given_back:
            raise ConcurrentUpdate(f"Another manager took over the claim on {claim.key}")

    def forget(self, key: str) -> None:
        """Delete a key that needs no work. A claimed key stays; its claim holder deletes it with `finish`."""
        if is_periodic_task(key):
            return  # a lease with such an id must not end a periodic task
        self._connection.later(_FORGET, [{"of_key": key}])

    def free_all(self) -> None:
        """Void all claims; for a manager that knows at its start that no other is running."""
        self._connection.execute(
            sa.update(work).values(owner=None, claim_deadline=None, claim_number=work.c.claim_number + 1)
        )

    def renew_claims(self) -> None:
        """Void all claims, including those that were granted after the state of the database."""
        keys = list(self._connection.scalars(sa.select(work.c.key)))
        if not keys:
            return
        voided = (
            sa.update(work)
            .where(work.c.key == sa.bindparam("which"))
            .values(owner=None, claim_deadline=None, claim_number=sa.bindparam("number"))
        )
        self._connection.execute(voided, [{"which": each, "number": first_number()} for each in keys])

    def keep(self, claim: Claim) -> None:
        """Check a claim and lock it until the transaction ends; raise ConcurrentUpdate if it is void.

        The update changes the row, so that another cluster node, which does not see the lock, detects it.
        """
        if not self._update(_KEEP, claim):
            raise ConcurrentUpdate(f"Another manager took over the claim on {claim.key}")

    def _update(self, statement: sa.Update, claim: Claim, **values: Any) -> bool:
        """Return whether the claim was still held, so that the statement changed its row."""
        parameters = {**_held(claim), **values}
        updated = self._connection.execute_apart(statement, parameters, after=_LOCKED_BEFORE)
        return updated.rowcount == 1


def _held(claim: Claim) -> dict[str, Any]:
    """Return the parameters of the statements that change only work under this claim."""
    return {"held_key": claim.key, "held_number": claim.number}


def _claim(row: sa.Row[Any]) -> Claim:
    """Return the claim that a claim on this row would continue."""
    return Claim(
        key=row.key,
        number=row.claim_number,
        attempts=row.attempts,
        due_at=row.due_at,
        taken_from=None if row.claim_deadline is None else row.owner,
    )
