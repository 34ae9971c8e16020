"""Claims on work: one worker per key, takeover of expired claims, no lost wake-up."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from samples import at

from blazar.db.store import SqlStore
from blazar.domain.errors import ConcurrentUpdate
from blazar.ports.work import Claim

SECOND = timedelta(seconds=1)
BEGIN = at(0)
DEADLINE = BEGIN + 10 * SECOND


def schedule(store: SqlStore, *keys: str, due: float = 0) -> None:
    with store.begin() as transaction:
        transaction.work.schedule(keys, at(due))
        transaction.commit()


def due_keys(store: SqlStore, now: datetime, limit: int = 99) -> list[str]:
    """Return the keys that could be claimed; the claims are not committed."""
    with store.begin() as transaction:
        return [each.key for each in transaction.work.claim_due("test", now, now, limit)]


def claim_due(store: SqlStore, limit: int, owner: str = "manager", now: datetime = BEGIN) -> list[str]:
    with store.begin() as transaction:
        claims = transaction.work.claim_due(owner, now, now + 10 * SECOND, limit)
        transaction.commit()
    return [each.key for each in claims]


def take(store: SqlStore, key: str = "a", now: datetime = BEGIN, owner: str = "manager") -> Claim:
    with store.begin() as transaction:
        [claim] = transaction.work.claim_due(owner, now, now + 10 * SECOND, 1)
        transaction.commit()
    assert claim.key == key
    return claim


def finish(store: SqlStore, claim: Claim, due: float | None, attempts: int = 0) -> None:
    with store.begin() as transaction:
        transaction.work.finish(claim, None if due is None else at(due), attempts)
        transaction.commit()


def next_due(store: SqlStore, now: datetime = BEGIN) -> datetime | None:
    with store.read() as transaction:
        return transaction.work.next_due(now)


def is_due(store: SqlStore, key: str, now: datetime) -> bool:
    with store.read() as transaction:
        return transaction.work.is_due(key, now)


class TestSchedule:
    def test_a_key_is_due_until_its_claim_holder_has_finished(self, store: SqlStore) -> None:
        schedule(store, "a", due=1)
        assert [is_due(store, "a", at(hour)) for hour in (0.9, 1)] == [False, True]

        claim = take(store, now=at(1))
        assert is_due(store, "a", at(1))

        finish(store, claim, due=2)
        assert not is_due(store, "a", at(1))
        assert not is_due(store, "unknown", at(9))

    def test_a_key_is_due_from_its_instant_most_overdue_first(self, store: SqlStore) -> None:
        schedule(store, "c", due=1)
        schedule(store, "b", "a", due=2)
        schedule(store, due=0)

        assert due_keys(store, at(0.9)) == []
        assert due_keys(store, at(1)) == ["c"]
        assert due_keys(store, at(9)) == ["c", "a", "b"]
        assert due_keys(store, at(9), limit=2) == ["c", "a"]
        assert next_due(store) == at(1)

    def test_the_earliest_instant_counts(self, store: SqlStore) -> None:
        for due in (3, 1, 2):
            schedule(store, "a", due=due)

        assert next_due(store) == at(1)
        assert due_keys(store, at(1)) == ["a"]

    def test_nothing_is_ever_due_where_nothing_was_scheduled(self, store: SqlStore) -> None:
        assert next_due(store) is None
        assert due_keys(store, at(9)) == []

    def test_new_and_known_keys_may_be_mixed_and_repeated(self, store: SqlStore) -> None:
        schedule(store, "a", due=5)
        schedule(store, "b", "a", "c", "b", due=1)

        assert due_keys(store, at(1)) == ["a", "b", "c"]

    def test_concurrent_scheduling_of_a_new_key_creates_one(self, store: SqlStore) -> None:
        barrier = threading.Barrier(4)

        def try_to_schedule(number: int) -> bool:
            barrier.wait(timeout=10)
            try:
                schedule(store, "a", due=number)
            except ConcurrentUpdate:
                return False
            return True

        with ThreadPoolExecutor(4) as threads:
            outcomes = list(threads.map(try_to_schedule, range(4)))

        assert any(outcomes)
        assert due_keys(store, at(9)) == ["a"]


class TestClaim:
    def test_a_claimed_key_is_not_claimed_again(self, store: SqlStore) -> None:
        schedule(store, "a", "b")

        claim = take(store, "a")

        assert (claim.key, claim.number, claim.attempts, claim.due_at) == ("a", 1, 0, at(0))
        assert due_keys(store, DEADLINE - SECOND) == ["b"]

    def test_claims_are_on_what_is_most_overdue_and_no_more_than_wanted(self, store: SqlStore) -> None:
        schedule(store, "later", due=1)
        schedule(store, "b", "a", "c")

        assert claim_due(store, limit=2) == ["a", "b"]
        assert claim_due(store, limit=2) == ["c"]
        assert claim_due(store, limit=2) == []

    def test_of_several_that_claim_at_the_same_time_none_has_what_another_has(self, store: SqlStore) -> None:
        schedule(store, *"abcdefgh")
        barrier = threading.Barrier(4)

        def claim(number: int) -> list[str]:
            barrier.wait(timeout=10)
            return claim_due(store, limit=3, owner=f"manager-{number}")

        with ThreadPoolExecutor(4) as threads:
            claims = [each for keys in threads.map(claim, range(4)) for each in keys]

        assert len(claims) == len(set(claims))
        # A key that was locked briefly is found by the next claim.
        assert sorted([*claims, *claim_due(store, limit=8)]) == [*"abcdefgh"]

    def test_a_claim_that_ran_out_is_taken_over(self, store: SqlStore) -> None:
        schedule(store, "a")
        stale = take(store)

        assert next_due(store) == DEADLINE
        assert due_keys(store, DEADLINE) == ["a"]
        taken_over = take(store, now=DEADLINE, owner="other")

        assert taken_over.number == stale.number + 1
        with store.begin() as transaction:
            assert transaction.work.renew([stale, taken_over], DEADLINE + 20 * SECOND) == {"a"}
            transaction.commit()
        for due in (1, None):
            with pytest.raises(ConcurrentUpdate):
                finish(store, stale, due)
        with pytest.raises(ConcurrentUpdate), store.begin() as transaction:
            transaction.work.keep(stale)
        finish(store, taken_over, due=5)
        assert next_due(store) == at(5)

    def test_a_renewed_claim_is_not_taken_over(self, store: SqlStore) -> None:
        schedule(store, "a", "b")
        claims = [take(store, "a"), take(store, "b")]

        with store.begin() as transaction:
            assert transaction.work.renew(claims, at(1)) == {"a", "b"}
            transaction.commit()

        assert due_keys(store, at(1) - SECOND) == []
        assert due_keys(store, at(1)) == ["a", "b"]

    def test_a_claim_that_ran_out_unnoticed_is_still_valid(self, store: SqlStore) -> None:
        schedule(store, "a")
        claim = take(store)

        with store.begin() as transaction:
            transaction.work.keep(claim)
            transaction.commit()
        finish(store, claim, due=3)

        assert next_due(store) == at(3)

    def test_a_claim_that_is_kept_cannot_be_taken_over_before_the_transaction_ends(
        self, store: SqlStore
    ) -> None:
        schedule(store, "a")
        claim = take(store)

        def import_database() -> list[str]:
            return claim_due(store, limit=1, owner="other", now=DEADLINE)

        with ThreadPoolExecutor(1) as thread:
            with store.begin() as transaction:
                transaction.work.keep(claim)
                outcome = thread.submit(import_database)
                transaction.work.finish(claim, at(5), 0)
                transaction.commit()
            assert outcome.result(timeout=10) == []

        assert next_due(store) == at(5)


class TestFinish:
    def test_a_finished_key_is_due_again_when_asked_for(self, store: SqlStore) -> None:
        schedule(store, "a")

        finish(store, take(store), due=2, attempts=3)

        assert due_keys(store, at(1.9)) == []
        assert take(store, now=at(2)).attempts == 3

    def test_a_released_claim_is_void(self, store: SqlStore) -> None:
        schedule(store, "a")
        claim = take(store)
        finish(store, claim, due=2)

        with store.begin() as transaction:
            assert transaction.work.renew([claim], at(9)) == frozenset()
            transaction.commit()
        with pytest.raises(ConcurrentUpdate):
            finish(store, claim, due=None)

        assert due_keys(store, at(2)) == ["a"]

    def test_a_key_can_be_forgotten_and_scheduled_again(self, store: SqlStore) -> None:
        schedule(store, "a")
        finish(store, take(store), due=None)

        assert next_due(store) is None
        schedule(store, "a", due=1)

        assert due_keys(store, at(1)) == ["a"]

    @pytest.mark.parametrize("due", [0, 0.001])
    @pytest.mark.parametrize("planned", [5, None])
    def test_a_key_that_was_scheduled_during_the_work_is_looked_at_again(
        self, store: SqlStore, planned: float | None, due: float
    ) -> None:
        schedule(store, "a")
        claim = take(store)
        schedule(store, "a", due=due)
        schedule(store, "a", due=due + 1)

        assert due_keys(store, at(0.002)) == []
        finish(store, claim, planned)

        assert next_due(store) == at(due)
        finish(store, take(store, now=at(0.002)), planned)
        assert next_due(store) == (None if planned is None else at(planned))

    def test_what_was_scheduled_for_later_than_planned_changes_nothing(self, store: SqlStore) -> None:
        schedule(store, "a")
        claim = take(store)
        schedule(store, "a", due=9)

        finish(store, claim, due=5)

        assert next_due(store) == at(5)

    def test_a_wake_up_survives_the_worker_it_was_meant_for(self, store: SqlStore) -> None:
        schedule(store, "a")
        take(store)
        schedule(store, "a", due=1)

        finish(store, take(store, now=DEADLINE, owner="other"), due=None)

        assert next_due(store) == at(1)

    def test_other_keys_are_left_alone(self, store: SqlStore) -> None:
        schedule(store, "a", "b", due=0)
        other = take(store, "a")
        claim = take(store, "b")

        finish(store, other, due=None)

        with store.begin() as transaction:
            transaction.work.keep(claim)
