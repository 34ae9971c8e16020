"""Messages whose sender is killed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import pytest
import sqlalchemy as sa
from reconcile.reconciler_env import ReconcilerEnv

from blazar.cloud.simulated import SimulatedCrash
from blazar.db import tables
from blazar.domain.errors import BadRequest, Unavailable
from blazar.domain.lease import LeaseId
from blazar.enforcement.base import Filter
from blazar.ports.enforcement import JsonObject, Occasion
from blazar.ports.outbox import Letter, Message
from blazar.reconcile.outbox import SENT_AT_ONCE, OutboxSender

TAKEOVER = timedelta(seconds=15)
"""The time within which the work of a dead manager is taken over."""


class Deadly:
    """Notifier that kills the manager that uses it."""

    def notify(self, event_type: str, payload: Mapping[str, object]) -> None:
        raise SimulatedCrash(event_type)


def test_what_a_killed_manager_was_about_to_notify_is_notified_by_another(env: ReconcilerEnv) -> None:
    lease_id = env.create("lease", 1, 2)
    other = OutboxSender(env.store, env.clock, env.sent, {})
    with pytest.raises(SimulatedCrash):
        OutboxSender(env.store, env.clock, Deadly(), {}).send_due()

    at_once = other.send_due()
    env.clock.advance(TAKEOVER)
    later = other.send_due()

    assert (at_once, later) == (0, 1)
    assert env.sent.counts == {(lease_id, "lease.create"): 1}


def test_all_that_is_due_is_sent_however_much_it_is(env: ReconcilerEnv) -> None:
    leases = [env.create(f"lease {number}", 1 + number, 2 + number) for number in range(5)]
    message = Message(
        event_type="lease.many", lease_id=leases[0], payload={"lease_id": leases[0], "status": "PENDING"}
    )
    with env.store.begin() as transaction:
        transaction.outbox.append([message] * (2 * SENT_AT_ONCE), env.clock.now())
        transaction.commit()

    env.manager.reconciler.send_outbox()

    assert env.sent.counts[leases[0], "lease.many"] == 2 * SENT_AT_ONCE
    assert all(env.sent.counts[lease, "lease.create"] == 1 for lease in leases)


class Choosy:
    """Notifier that raises *error* for the lease named *broken* and delivers all other messages."""

    def __init__(self, broken: str, error: Exception) -> None:
        self.broken = broken
        self.error = error
        self.delivered: list[str] = []
        self.tries: list[float] = []

    def notify(self, event_type: str, payload: Mapping[str, object]) -> None:
        if payload["name"] == self.broken:
            self.tries.append(0)
            raise self.error
        self.delivered.append(str(payload["name"]))


def put(env: ReconcilerEnv, *names: str) -> None:
    with env.store.begin() as transaction:
        transaction.outbox.append(
            [
                Message(event_type="lease.test", lease_id=LeaseId("lease"), payload={"name": name})
                for name in names
            ],
            env.clock.now(),
        )
        transaction.commit()


def letters(env: ReconcilerEnv, *, failed: bool) -> tuple[Letter, ...]:
    with env.store.read() as transaction:
        return transaction.outbox.list(failed=failed, limit=9)


@pytest.mark.parametrize("error", [BadRequest("not now"), RuntimeError("a bug"), OSError("no CA file")])
def test_a_message_that_raises_anything_delays_only_itself(
    env: ReconcilerEnv, unexpected_errors: list[str], error: Exception
) -> None:
    put(env, *(f"{number}" for number in range(2 * SENT_AT_ONCE)))
    choosy = Choosy("0", error)
    sender = OutboxSender(env.store, env.clock, choosy, {})

    for _ in range(4):
        sender.send_due()

    assert choosy.delivered == [f"{number}" for number in range(1, 2 * SENT_AT_ONCE)]
    [waiting] = letters(env, failed=False)
    assert "not now" in str(waiting.problem) or type(error).__name__ in str(waiting.problem)
    unexpected_errors.clear()


def test_notifications_keep_their_order_while_the_bus_is_away(env: ReconcilerEnv) -> None:
    names = [f"{number}" for number in range(2 * SENT_AT_ONCE)]
    put(env, *names)
    choosy = Choosy("0", Unavailable("not now"))
    sender = OutboxSender(env.store, env.clock, choosy, {})

    for _ in range(60):
        sender.send_due()
        env.clock.advance(timedelta(seconds=1))
    assert choosy.delivered == []
    assert 3 < len(choosy.tries) < 10
    choosy.broken = "none"
    for _ in range(60):
        sender.send_due()
        env.clock.advance(timedelta(seconds=1))

    assert choosy.delivered == names


def test_a_message_is_tried_less_and_less_often_and_then_given_up(env: ReconcilerEnv) -> None:
    put(env, "bad")
    choosy = Choosy("bad", Unavailable("not now"))
    sender = OutboxSender(env.store, env.clock, choosy, {}, give_up_after=timedelta(hours=1))

    for _ in range(2 * 3600):
        sender.send_due()
        env.clock.advance(timedelta(seconds=1))

    assert 10 < len(choosy.tries) < 25
    assert letters(env, failed=False) == ()
    [given_up] = letters(env, failed=True)
    assert given_up.problem == "not now"
    assert given_up.failed_at is not None


def test_a_message_is_tried_for_ever_where_the_option_says_so(env: ReconcilerEnv) -> None:
    put(env, "bad")
    sender = OutboxSender(
        env.store, env.clock, Choosy("bad", Unavailable("not now")), {}, give_up_after=timedelta(0)
    )

    for _ in range(10):
        env.clock.advance(timedelta(days=1000))
        sender.send_due()

    assert len(letters(env, failed=False)) == 1


def test_a_damaged_message_is_set_aside_and_the_others_leave(env: ReconcilerEnv) -> None:
    put(env, "a", "b", "c", "d")
    with env.engine.begin() as connection:
        for name, payload in (("a", "{broken"), ("b", "[1]")):
            this = tables.outbox.c.payload.contains(f'"{name}"')
            connection.execute(sa.update(tables.outbox).where(this).values(payload=payload))
    choosy = Choosy("none", RuntimeError())

    OutboxSender(env.store, env.clock, choosy, {}).send_due()

    assert choosy.delivered == ["c", "d"]
    assert [each.payload for each in letters(env, failed=True)] == ["{broken", "[1]"]


def test_notifications_do_not_wait_for_a_filter_that_does_not_answer(env: ReconcilerEnv) -> None:
    class Slow(Filter):
        told = 0

        def deliver(self, occasion: Occasion, document: JsonObject, key: str) -> None:
            self.told += 1
            env.clock.advance(timedelta(seconds=10))
            raise Unavailable("no answer")

    slow, choosy = Slow(), Choosy("none", RuntimeError())
    told = Message(
        event_type="enforcement.on-end",
        lease_id=LeaseId("lease"),
        payload={"filter": "slow", "key": "k", "lease": {}},
    )
    with env.store.begin() as transaction:
        transaction.outbox.append([told] * 4 * SENT_AT_ONCE, env.clock.now())
        transaction.commit()
    put(env, "notice")
    sender = OutboxSender(env.store, env.clock, choosy, {"slow": slow})

    began = env.clock.now()
    while not choosy.delivered:
        sender.send_due()

    assert env.clock.now() - began <= timedelta(seconds=10)
    assert slow.told == 1
