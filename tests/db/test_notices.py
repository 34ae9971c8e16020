"""Stored notices and subscriptions, on every database."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from domain.test_notices import make_subscription
from samples import HOUR, MINUTE, at, make_lease

from blazar.db import tables
from blazar.db.store import SqlStore
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import Lease, LeaseStatus
from blazar.domain.notices import Notice, NoticeType
from blazar.domain.subscriptions import ChannelKind, Conditions, Health, Scope, Subscription
from blazar.ports.notices import Delivery, SubscriptionStore, Told
from blazar.ports.store import Transaction


def write(store: SqlStore, act: Callable[[Transaction], Any]) -> Any:
    with store.begin() as transaction:
        found = act(transaction)
        transaction.commit()
    return found


def read(store: SqlStore, act: Callable[[Transaction], Any]) -> Any:
    with store.read() as transaction:
        return act(transaction)


def make_notice(lease_id: str = "lease", **keys: Any) -> Notice:
    fields: dict[str, Any] = {
        "type": NoticeType.STARTED,
        "lease_id": lease_id,
        "project_id": "project",
        "user_id": "user",
        "data": {"lease": {"id": lease_id}},
        "at": at(1),
        **keys,
    }
    return Notice(**fields)


def make_delivery(subscription: Subscription, lease_id: str = "lease", **keys: Any) -> Delivery:
    fields: dict[str, Any] = {
        "message_id": f"m-{lease_id}",
        "subscription": subscription,
        "type": "lease.started",
        "lease_id": lease_id,
        "data": {"lease": {"id": lease_id}},
        "at": at(1),
        "queued_at": at(1),
        **keys,
    }
    return Delivery(**fields)


def subscribe(store: SqlStore, *names: str, **keys: Any) -> list[Subscription]:
    made = [make_subscription(id=each, **keys) for each in names]
    for each in made:
        write(store, partial(insert, each))
    return made


def queue(store: SqlStore, *deliveries: Delivery) -> None:
    write(store, lambda transaction: transaction.deliveries.append(deliveries))


def insert(subscription: Subscription, transaction: Transaction) -> None:
    transaction.subscriptions.insert(subscription)


def tell(told: Told, transaction: Transaction) -> None:
    transaction.subscriptions.tell(told)


def confirm(address: str, project_id: str, transaction: Transaction) -> None:
    transaction.subscriptions.note_confirmation(address, project_id, at(1))


def count_confirmations(store: SqlStore, after: float = 0, **which: str) -> int:
    keys: dict[str, Any] = {"address": None, "project_id": None, **which}
    number: int = read(store, lambda each: each.subscriptions.count_confirmations(at(after), **keys))
    return number


class TestNotices:
    def test_they_are_taken_in_the_order_of_their_transactions(self, store: SqlStore) -> None:
        first, second = make_notice("a"), make_notice("b", project_id=None, user_id=None)
        write(store, lambda each: each.notices.append([first]))
        write(store, lambda each: each.notices.append([second]))

        found = write(store, lambda each: each.notices.take(10))
        write(store, lambda each: each.notices.remove([found[0].id]))
        left = write(store, lambda each: each.notices.take(10))

        assert [replace(each, id=0) for each in found] == [first, second]
        assert [each.lease_id for each in left] == ["b"]
        assert len(write(store, lambda each: each.notices.take(1))) == 1

    def test_while_one_manager_has_some_others_get_none_and_do_not_wait(
        self, store: SqlStore, engine: sa.Engine
    ) -> None:
        if engine.dialect.name == "sqlite":
            return  # Only one transaction writes at a time there.
        write(store, lambda each: each.notices.append([make_notice("a"), make_notice("b")]))

        with store.begin() as slow:
            assert [each.lease_id for each in slow.notices.take(1)] == ["a"]
            meanwhile = write(store, lambda each: each.notices.take(10))

        assert meanwhile == ()
        assert len(write(store, lambda each: each.notices.take(10))) == 2

    def test_rows_that_cannot_be_read_are_deleted(self, store: SqlStore, engine: sa.Engine) -> None:
        write(store, lambda each: each.notices.append([make_notice("a"), make_notice("b"), make_notice("c")]))
        with engine.begin() as connection:
            damage = {"a": {"data": "["}, "b": {"type": "lease.unknown"}}
            for key, values in damage.items():
                which = tables.notices.c.lease_id == key
                connection.execute(sa.update(tables.notices).where(which).values(**values))

        found = write(store, lambda each: each.notices.take(10))

        assert [each.lease_id for each in found] == ["c"]
        with engine.connect() as connection:
            assert connection.scalar(sa.select(sa.func.count()).select_from(tables.notices)) == 1


class TestSubscriptions:
    def test_they_are_read_as_they_were_written(self, store: SqlStore) -> None:
        full = make_subscription(
            id="s2",
            scope=Scope.LEASE,
            lease_id="lease",
            kind=ChannelKind.MAIL,
            target="someone@example.org",
            leads=(24 * HOUR, HOUR),
            time_zone="Europe/Berlin",
            language="de",
            conditions=Conditions(resource_type="physical:host", below=3, waits=10 * MINUTE),
            is_enabled=False,
            is_default=True,
            code="1234",
            code_attempts=2,
            health=Health(succeeded_at=at(1), failing_since=at(2), retry_at=at(3), problem="away"),
            created_at=at(1),
            updated_at=at(2),
        )
        plain = make_subscription(
            target="https://hooks.example.org/",
            secret="whsec_a",
            former_secret="whsec_b",
            former_until=at(9),
            leads=(),
        )
        for each in (full, plain):
            write(store, partial(insert, each))

        assert read(store, lambda each: each.subscriptions.list()) == [plain, full]
        assert read(store, lambda each: each.subscriptions.find("s2")) == full
        assert read(store, lambda each: each.subscriptions.find("s3")) is None
        assert read(store, lambda each: each.subscriptions.list(Scope.LEASE)) == [full]
        assert read(store, lambda each: each.subscriptions.list(project_id="other")) == []
        assert read(store, lambda each: each.subscriptions.count("project")) == 2

    def test_a_changed_one_replaces_it(self, store: SqlStore) -> None:
        (before,) = subscribe(store, "s1")
        after = replace(before, types=frozenset({NoticeType.ENDED}), updated_at=at(2))

        write(store, lambda each: each.subscriptions.replace(before, after))

        assert read(store, lambda each: each.subscriptions.find("s1")) == after
        assert write(store, lambda each: each.subscriptions.delete("s1"))
        assert not write(store, lambda each: each.subscriptions.delete("s1"))
        with pytest.raises(ConcurrentUpdate):
            write(store, lambda each: each.subscriptions.replace(after, before))

    @pytest.mark.parametrize(
        "first",
        [
            lambda each, before: each.replace(before, replace(before, secret="new", former_secret="old")),
            lambda each, before: each.note_failure(before.id, at(1), "away", at(2)),
            lambda each, before: each.note_outage(before.id, "no mail server", at(2)),
            lambda each, before: each.disable(before.id, "gone"),
        ],
        ids=["rotation", "failure", "outage", "disabling"],
    )
    def test_a_change_made_since_it_was_read_is_not_undone(
        self, store: SqlStore, engine: sa.Engine, first: Callable[[SubscriptionStore, Subscription], None]
    ) -> None:
        subscribe(store, "s1", secret="old")
        # On SQLite, writing transactions wait for each other, but a reading one does not.
        begin = store.read if engine.dialect.name == "sqlite" else store.begin

        with begin() as second:
            before = second.subscriptions.find("s1")
            assert before is not None
            write(store, lambda each: first(each.subscriptions, before))
            changed = read(store, lambda each: each.subscriptions.find("s1"))
            if engine.dialect.name != "sqlite":
                with pytest.raises(ConcurrentUpdate):
                    second.subscriptions.replace(before, replace(before, language="de"))
        with pytest.raises(ConcurrentUpdate):
            write(store, lambda each: each.subscriptions.replace(before, replace(before, language="de")))

        assert changed != before
        assert read(store, lambda each: each.subscriptions.find("s1")) == changed

    def test_of_two_changes_at_the_same_time_one_is_refused(self, store: SqlStore) -> None:
        (before,) = subscribe(store, "s1", secret="old")
        both = threading.Barrier(2)

        def rotate(secret: str) -> bool:
            both.wait()
            try:
                write(store, lambda each: each.subscriptions.replace(before, replace(before, secret=secret)))
            except ConcurrentUpdate:
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(rotate, ["one", "two"]))

        assert sorted(done) == [False, True]
        assert (
            read(store, lambda each: each.subscriptions.find("s1")).secret == ["one", "two"][done.index(True)]
        )

    def test_those_that_may_cover_a_notice_are_found(self, store: SqlStore) -> None:
        subscribe(store, "project")
        subscribe(store, "own", scope=Scope.OWN)
        subscribe(store, "lease", scope=Scope.LEASE, lease_id="lease")
        subscribe(store, "site", scope=Scope.SITE, project_id=None)
        subscribe(store, "disabled", is_enabled=False)
        subscribe(store, "foreign", project_id="other")
        subscribe(store, "other lease", scope=Scope.LEASE, lease_id="other")

        def covering(*notices: Notice) -> set[str]:
            return {each.id for each in read(store, lambda each: each.subscriptions.covering(notices))}

        assert covering(make_notice()) == {"project", "own", "lease", "site"}
        assert covering(make_notice("new", project_id=None)) == {"site"}
        assert covering() == set()

    def test_those_with_a_type_are_found(self, store: SqlStore) -> None:
        subscribe(store, "s1", types=frozenset({NoticeType.ENDS_SOON, NoticeType.ENDED}))
        subscribe(store, "s2", types=frozenset({NoticeType.STARTED}))
        subscribe(store, "s3", types=frozenset({NoticeType.ENDS_SOON}), is_enabled=False)

        found = read(
            store, lambda each: each.subscriptions.of_types({NoticeType.ENDS_SOON, NoticeType.LEASE_WAITS})
        )

        assert [each.id for each in found] == ["s1"]

    def test_the_success_of_deliveries_is_recorded(self, store: SqlStore) -> None:
        subscribe(store, "s1")

        write(store, lambda each: each.subscriptions.note_failure("s1", at(1), "away", at(2)))
        write(store, lambda each: each.subscriptions.note_failure("s1", at(3), "500", None))
        failing = read(store, lambda each: each.subscriptions.find("s1")).health
        write(store, lambda each: each.subscriptions.note_outage("s1", "no mail server", at(4)))
        outage = read(store, lambda each: each.subscriptions.find("s1")).health
        write(store, lambda each: each.subscriptions.note_success("s1", at(4)))
        working = read(store, lambda each: each.subscriptions.find("s1")).health
        write(store, lambda each: each.subscriptions.disable("s1", "gone"))
        disabled = read(store, lambda each: each.subscriptions.find("s1"))

        assert failing == Health(failing_since=at(1), problem="500")
        assert outage == Health(retry_at=at(4), problem="no mail server")
        assert working == Health(succeeded_at=at(4))
        assert (disabled.is_enabled, disabled.health.problem) == (False, "gone")

    def test_what_was_told_is_recorded_once_for_each_subject(self, store: SqlStore) -> None:
        subscribe(store, "s1")
        first = Told(subscription_id="s1", type=NoticeType.ENDS_SOON, about="lease", date=at(9), lead=HOUR)
        later = replace(first, date=at(99), lead=2 * HOUR)
        other = Told(subscription_id="s1", type=NoticeType.LEASE_WAITS, about="lease", date=at(1))

        for each in (first, later, other):
            write(store, partial(tell, each))

        assert read(store, lambda each: each.subscriptions.list_told({NoticeType.ENDS_SOON})) == [later]
        assert read(store, lambda each: each.subscriptions.list_told({NoticeType.LEASE_WAITS})) == [other]
        write(store, lambda each: each.subscriptions.forget(later))
        assert read(store, lambda each: each.subscriptions.list_told({NoticeType.ENDS_SOON})) == []

    def test_what_is_not_needed_any_more_is_deleted(self, store: SqlStore) -> None:
        subscribe(store, "gone", "waiting", scope=Scope.LEASE, lease_id="gone")
        subscribe(store, "present", scope=Scope.LEASE, lease_id="lease")
        subscribe(store, "new", scope=Scope.LEASE, lease_id="gone", created_at=at(9.5))
        subscribe(store, "project")
        write(store, lambda each: each.leases.insert(make_lease()))
        waiting = read(store, lambda each: each.subscriptions.find("waiting"))
        queue(store, make_delivery(waiting, "gone"))
        old = Told(subscription_id="project", type=NoticeType.ENDS_SOON, about="lease", date=at(1))
        kept = Told(subscription_id="project", type=NoticeType.LEASE_WAITS, about="lease", date=at(1))
        for each in (old, kept):
            write(store, partial(tell, each))
        write(store, lambda each: each.subscriptions.note_confirmation("a@example.org", "project", at(1)))

        deleted = write(store, lambda each: each.subscriptions.purge(at(10)))

        assert deleted == 1
        names = {each.id for each in read(store, lambda each: each.subscriptions.list())}
        assert names == {"waiting", "present", "new", "project"}
        assert read(store, lambda each: each.subscriptions.list_told(list(NoticeType))) == [kept]
        assert count_confirmations(store) == 0

    def test_confirmations_are_counted_by_address_and_project(self, store: SqlStore) -> None:
        for address, project in (("a@x.org", "p1"), ("b@x.org", "p1"), ("a@x.org", "p2")):
            write(store, partial(confirm, address, project))

        assert count_confirmations(store, address="a@x.org") == 2
        assert count_confirmations(store, project_id="p1") == 2
        assert count_confirmations(store, 1) == 0

    def test_leases_that_begin_or_end_soon_are_found(self, store: SqlStore) -> None:
        write(store, lambda each: each.leases.insert(make_lease("a", start=1, end=5)))
        write(store, lambda each: each.leases.insert(make_lease("b", start=3, end=9)))
        deleting = replace(make_lease("c", start=1, end=5), is_deleting=True, status=LeaseStatus.DELETING)
        write(store, lambda each: each.leases.insert(deleting))

        ending = read(store, lambda each: each.subscriptions.list_ending(at(4), at(5)))
        starting = read(store, lambda each: each.subscriptions.list_starting(at(1), at(3)))

        assert [(each.id, each.start, each.end) for each in ending] == [("a", at(1), at(5))]
        assert [each.id for each in starting] == ["b"]

    def test_a_damaged_lease_does_not_keep_others_from_being_found(
        self, store: SqlStore, engine: sa.Engine
    ) -> None:
        for name in ("a", "b"):
            write(store, partial(_insert_lease, make_lease(name, start=1, end=5)))
        with engine.begin() as connection:
            connection.execute(sa.update(tables.leases).where(tables.leases.c.id == "a").values(status="?"))

        found = read(store, lambda each: each.subscriptions.list_ending(at(4), at(5)))

        assert [(each.id, each.status) for each in found] == [
            ("a", LeaseStatus.ERROR),
            ("b", LeaseStatus.PENDING),
        ]


def _insert_lease(lease: Lease, transaction: Transaction) -> None:
    transaction.leases.insert(lease)
