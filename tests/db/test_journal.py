"""The journal, the outbox and the findings of sweeps."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from samples import HOUR, at, make_lease

from blazar.db.store import SqlStore
from blazar.domain.errors import AlreadyExecuted
from blazar.domain.lease import LeaseId, ReservationId
from blazar.ports.journal import LONGEST_REASON, JournalEntry
from blazar.ports.outbox import Message

LEASE = LeaseId("lease")
MICROSECOND = timedelta(microseconds=1)


def entry(event: str, lease_id: LeaseId | None = LEASE, **fields: str) -> JournalEntry:
    return JournalEntry(at=at(1) + MICROSECOND, lease_id=lease_id, event=event, **fields)  # type: ignore[arg-type]


def send(store: SqlStore, *event_types: str, due: float = 0) -> None:
    messages = [
        Message(event_type=each, lease_id=LEASE, payload={"name": each, "list": [1, None, "ü"]})
        for each in event_types
    ]
    with store.begin() as transaction:
        transaction.outbox.append(messages, at(due))
        transaction.commit()


def taken(store: SqlStore, now: float, until: float, limit: int = 99) -> tuple[Message, ...]:
    with store.begin() as transaction:
        messages = transaction.outbox.take(at(now), at(until), limit)
        transaction.commit()
    return messages


def names(messages: tuple[Message, ...]) -> list[str]:
    return [each.event_type for each in messages]


class TestJournal:
    def test_entries_come_back_in_the_order_in_which_they_were_made(self, store: SqlStore) -> None:
        first = entry("begun", reason="x" * 5000, actor="manager", request_id="req-1")
        second = JournalEntry(at=at(0), lease_id=LEASE, event="e", reservation_id=ReservationId("lease-r0"))

        with store.begin() as transaction:
            transaction.journal.append([first, entry("other", LeaseId("other"))])
            transaction.journal.append([entry("sweep", None)])
            transaction.journal.append([second])
            transaction.journal.append([])
            transaction.commit()

        with store.read() as transaction:
            assert transaction.journal.list("lease") == (first, second)
            assert transaction.journal.list("unknown") == ()

    def test_the_latest_entries_with_some_events_have_short_reasons(self, store: SqlStore) -> None:
        entries = [entry(f"e{number % 3}", reason=str(number) + "ü" * 20_000) for number in range(9)]
        with store.begin() as transaction:
            transaction.journal.append([*entries, entry("e0", LeaseId("other"))])
            transaction.commit()

        with store.read() as transaction:
            found = transaction.journal.list_latest("lease", ["e0", "e2"], 3)
            assert transaction.journal.list_latest("lease", [], 3) == ()

        assert found == tuple(
            replace(entries[number], reason=entries[number].reason[:LONGEST_REASON]) for number in (5, 6, 8)
        )

    def test_a_request_is_executed_once_for_a_lease(self, store: SqlStore) -> None:
        executed = entry("create", executed_request_id="req-1")
        others = [
            entry("create", executed_request_id="req-2"),
            entry("create", LeaseId("other"), executed_request_id="req-1"),
            entry("health"),
            entry("health"),
        ]

        def append(*entries: JournalEntry) -> None:
            with store.begin() as transaction:
                transaction.journal.append(entries)
                transaction.commit()

        append(executed)
        with pytest.raises(AlreadyExecuted):
            append(entry("deleted"), replace(executed, event="update"))
        append(*others)

        with store.read() as transaction:
            assert transaction.journal.list("lease") == (executed, others[0], *others[2:])

    def test_reservations_are_known_by_what_happened_to_them(self, store: SqlStore) -> None:
        ids = [ReservationId(f"lease-r{number}") for number in range(3)]
        with store.begin() as transaction:
            transaction.journal.append([entry("e", reservation_id=each) for each in (*ids[:2], ids[0])])
            transaction.journal.append([entry("e")])
            transaction.commit()

        with store.read() as transaction:
            assert transaction.journal.known_reservations(ids) == set(ids[:2])
            assert transaction.journal.known_reservations(ids[2:]) == frozenset()
            assert transaction.journal.known_reservations([]) == frozenset()

    def test_entries_outlive_their_lease(self, store: SqlStore) -> None:
        lease = make_lease()
        with store.begin() as transaction:
            transaction.leases.insert(lease)
            transaction.journal.append([entry("deleted")])
            transaction.leases.delete(lease)
            transaction.commit()

        with store.read() as transaction:
            assert transaction.journal.list("lease") == (entry("deleted"),)


class TestOutbox:
    def test_messages_are_taken_oldest_first_as_they_went_in(self, store: SqlStore) -> None:
        send(store, "first", "second")
        send(store, "third")

        [first, *others] = taken(store, now=0, until=1)

        assert (first.event_type, first.lease_id, first.attempts) == ("first", "lease", 0)
        assert first.payload == {"name": "first", "list": [1, None, "ü"]}
        assert names(tuple(others)) == ["second", "third"]

    def test_a_taken_message_is_not_taken_again_before_its_deadline(self, store: SqlStore) -> None:
        send(store, "only")

        [first] = taken(store, now=0, until=1)
        assert taken(store, now=0.9, until=2) == ()
        [second] = taken(store, now=1, until=2)

        assert (first.id, first.attempts, second.attempts) == (second.id, 0, 1)

    def test_no_more_are_taken_than_asked_for(self, store: SqlStore) -> None:
        send(store, "a", "b", "c")

        assert [names(taken(store, now=0, until=1, limit=2)) for _ in range(3)] == [["a", "b"], ["c"], []]

    def test_a_message_is_not_taken_before_it_is_due(self, store: SqlStore) -> None:
        send(store, "later", due=2)

        assert taken(store, now=1, until=3) == ()
        assert names(taken(store, now=2, until=3)) == ["later"]

    def test_a_delivered_message_is_gone_and_a_postponed_one_comes_again(self, store: SqlStore) -> None:
        send(store, "delivered", "postponed", "silent")
        delivered, postponed, _ = taken(store, now=0, until=9)

        with store.begin() as transaction:
            transaction.outbox.remove([delivered.id])
            transaction.outbox.remove([])
            transaction.outbox.postpone(postponed.id, at(2), "refused")
            transaction.commit()

        assert taken(store, now=1.9, until=9) == ()
        [again] = taken(store, now=2, until=9)
        assert (again.id, again.attempts) == (postponed.id, 1)
        assert names(taken(store, now=9, until=99)) == ["postponed", "silent"]

    def test_a_failed_message_is_kept_and_sent_again_only_when_it_is_told(self, store: SqlStore) -> None:
        send(store, "failed", "waiting")
        failed, _ = taken(store, now=0, until=1)
        with store.begin() as transaction:
            transaction.outbox.fail(failed.id, at(1), "refused")
            transaction.commit()

        assert names(taken(store, now=9, until=10)) == ["waiting"]
        with store.begin() as transaction:
            [kept] = transaction.outbox.list(failed=True, limit=5)
            assert (kept.id, kept.failed_at, kept.problem) == (failed.id, at(1), "refused")
            assert transaction.outbox.find(failed.id) == kept
            assert [each.event_type for each in transaction.outbox.list(failed=False, limit=5)] == ["waiting"]
            transaction.outbox.resend([failed.id], at(9))
            transaction.commit()

        [again] = taken(store, now=9, until=99)
        assert (again.id, again.attempts, again.created_at) == (failed.id, 0, at(9))

    def test_of_a_rolled_back_transaction_nothing_is_sent(self, store: SqlStore) -> None:
        with store.begin() as transaction:
            transaction.outbox.append([Message(event_type="x", lease_id=LEASE, payload={})], at(0))

        assert taken(store, now=1, until=2) == ()

    def test_several_senders_share_the_messages(self, store: SqlStore) -> None:
        send(store, *(f"m{number:02}" for number in range(20)))

        def drain(_: int) -> list[str]:
            found: list[str] = []
            while messages := taken(store, now=0, until=1, limit=3):
                found += names(messages)
            return found

        with ThreadPoolExecutor(4) as threads:
            shares = list(threads.map(drain, range(4)))

        assert sorted(name for share in shares for name in share) == [f"m{number:02}" for number in range(20)]


class TestFindings:
    def test_a_finding_keeps_the_instant_at_which_it_was_first_seen(self, store: SqlStore) -> None:
        def note(hour: float, *keys: str) -> dict[str, datetime]:
            with store.begin() as transaction:
                seen = dict(transaction.findings.note("me", keys, at(hour)))
                transaction.commit()
            return seen

        assert note(1, "a", "b") == {"a": at(1), "b": at(1)}
        assert note(2, "b", "c") == {"b": at(1), "c": at(2)}
        assert note(3, "a") == {"a": at(3)}
        assert note(4) == {}
        assert note(5, "a", "A") == {"a": at(5), "A": at(5)}

    def test_finders_do_not_forget_what_others_have_found(self, store: SqlStore) -> None:
        with store.begin() as transaction:
            for finder in ("one", "o%", "onetoo"):
                transaction.findings.note(finder, ["a"], at(1))
            transaction.findings.note("o%", [], at(2))
            transaction.findings.note("one", ["b"], at(2))

            assert transaction.findings.note("onetoo", ["a"], at(3)) == {"a": at(1)}
            assert transaction.findings.note("o%", ["a"], at(3)) == {"a": at(3)}
            assert transaction.findings.note("one", ["a", "b"], at(3)) == {"a": at(3), "b": at(2)}

    def test_findings_of_a_rolled_back_transaction_were_never_seen(self, store: SqlStore) -> None:
        with store.begin() as transaction:
            transaction.findings.note("me", ["a"], at(1))

        with store.begin() as transaction:
            assert transaction.findings.note("me", ["a"], at(1) + HOUR) == {"a": at(2)}
