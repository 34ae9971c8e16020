"""Stored deliveries, on every database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from db.test_notices import make_delivery, queue, read, subscribe, write
from samples import MINUTE, at

from blazar.db import tables
from blazar.db.store import SqlStore
from blazar.domain.notices import NoticeType
from blazar.domain.subscriptions import Health
from blazar.ports.notices import Delivery, Told


def take(store: SqlStore, hours: float = 1, limit: int = 10, per_project: int = 10) -> Sequence[Delivery]:
    now = at(hours)
    found: Sequence[Delivery] = write(
        store, lambda each: each.deliveries.take(now, now + MINUTE, limit, per_project)
    )
    return found


class TestDeliveries:
    def test_they_are_taken_once(self, store: SqlStore) -> None:
        (subscription,) = subscribe(store, "s1")
        queue(store, make_delivery(subscription, date=at(9)))

        early, (taken,), again = take(store, 0.5), take(store), take(store)
        later = take(store, 1 + 1 / 60)

        assert (early, again) == ((), ())
        assert replace(taken, id=0) == make_delivery(subscription, date=at(9), attempts=1)
        assert [each.attempts for each in later] == [2]

    def test_those_of_a_lease_keep_their_order(self, store: SqlStore) -> None:
        (subscription,) = subscribe(store, "s1")
        names = ("first", "second", "third")
        queue(store, *(make_delivery(subscription, message_id=each) for each in names))

        (first,) = take(store, 1)
        write(store, lambda each: each.deliveries.postpone(first.id, at(1), "500"))
        (again,) = take(store, 1)
        write(store, lambda each: each.deliveries.remove(first.id))
        (second,) = take(store, 1)
        write(store, lambda each: each.deliveries.remove(second.id))
        (third,) = take(store, 1)

        assert (again.message_id, again.problem) == ("first", "500")
        assert tuple(each.message_id for each in (first, second, third)) == names

    def test_the_next_one_does_not_wait_for_one_that_was_given_up(self, store: SqlStore) -> None:
        (subscription,) = subscribe(store, "s1")
        queue(store, *(make_delivery(subscription, message_id=each) for each in ("first", "second")))
        (first,) = take(store)

        write(store, lambda each: each.deliveries.fail(first.id, at(1), "500"))
        (second,) = take(store)
        listed = read(store, lambda each: each.deliveries.list("s1", 10))

        assert second.message_id == "second"
        assert [(each.message_id, each.failed_at, each.problem) for each in listed] == [
            ("first", at(1), "500"),
            ("second", None, None),
        ]

    def test_another_lease_does_not_wait(self, store: SqlStore) -> None:
        (subscription,) = subscribe(store, "s1")
        queue(store, make_delivery(subscription, "a"), make_delivery(subscription, "b"))
        (first,) = take(store)

        write(store, lambda each: each.deliveries.postpone(first.id, at(9), "500"))
        (second,) = take(store)

        assert (first.lease_id, second.lease_id) == ("a", "b")

    def test_at_most_one_of_a_subscription_is_taken_at_a_time(self, store: SqlStore) -> None:
        one, two = subscribe(store, "s1", "s2")
        queue(store, *(make_delivery(one, f"l{number}") for number in range(5)), make_delivery(two))

        assert {each.subscription.id for each in take(store)} == {"s1", "s2"}

    def test_a_project_gets_only_its_share(self, store: SqlStore) -> None:
        greedy = subscribe(store, *(f"g{number}" for number in range(8)), project_id="greedy")
        modest = subscribe(store, "m1", project_id="modest")
        queue(store, *map(make_delivery, (*greedy, *modest)))

        taken = take(store, limit=4, per_project=2)

        assert [each.subscription.project_id for each in taken] == ["greedy", "greedy", "modest"]

    @pytest.mark.parametrize(
        "keys", [{"is_enabled": False}, {"health": Health(retry_at=at(2))}], ids=["disabled", "silent"]
    )
    def test_those_that_may_not_be_sent_now_are_not_taken(
        self, store: SqlStore, keys: dict[str, Any]
    ) -> None:
        (subscription,) = subscribe(store, "s1", **keys)
        queue(store, make_delivery(subscription))

        assert take(store) == ()
        assert len(take(store, 3)) == ("health" in keys)

    def test_all_of_a_subscription_are_given_up_and_sent_again(self, store: SqlStore) -> None:
        one, two = subscribe(store, "s1", "s2")
        queue(store, make_delivery(one, "a"), make_delivery(one, "b"), make_delivery(two))

        write(store, lambda each: each.deliveries.fail_all("s1", at(1), "gone"))
        waiting = read(store, lambda each: each.deliveries.count_waiting({"s1", "s2"}))
        number = write(store, lambda each: each.deliveries.resend("s1", at(5)))

        assert waiting == {"s2": 1}
        assert number == 2
        assert read(store, lambda each: each.deliveries.count_waiting({"s1"})) == {"s1": 2}
        assert {each.queued_at for each in read(store, lambda each: each.deliveries.list("s1", 9))} == {at(5)}
        assert read(store, lambda each: each.deliveries.count_waiting(())) == {}

    def test_old_ones_that_were_given_up_are_deleted(self, store: SqlStore) -> None:
        (subscription,) = subscribe(store, "s1")
        queue(store, make_delivery(subscription, "a"), make_delivery(subscription, "b"))
        (first,) = take(store)
        write(store, lambda each: each.deliveries.fail(first.id, at(1), "500"))

        assert write(store, lambda each: each.deliveries.purge(at(1))) == 0
        assert write(store, lambda each: each.deliveries.purge(at(2))) == 1
        assert [each.lease_id for each in read(store, lambda each: each.deliveries.list("s1", 9))] == ["b"]

    def test_they_are_deleted_with_their_subscription(self, store: SqlStore, engine: sa.Engine) -> None:
        (subscription,) = subscribe(store, "s1")
        queue(store, make_delivery(subscription))
        told = Told(subscription_id="s1", type=NoticeType.ENDS_SOON, about="lease", date=at(9))
        write(store, lambda each: each.subscriptions.tell(told))

        write(store, lambda each: each.subscriptions.delete("s1"))

        with engine.connect() as connection:
            for table in (tables.deliveries, tables.told):
                assert connection.scalar(sa.select(sa.func.count()).select_from(table)) == 0
