"""Stored answers, on every database."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from clocks import EPOCH

from blazar.db.store import SqlStore
from blazar.domain.errors import AlreadyAnswered
from blazar.ports.answers import StoredAnswer

ANSWER = StoredAnswer(key="a" * 64, request_digest="d" * 64, answer='{"id": "\u00e4"}', created_at=EPOCH)


def insert(store: SqlStore, answer: StoredAnswer) -> None:
    with store.begin() as transaction:
        transaction.answers.insert(answer)
        transaction.commit()


def find(store: SqlStore, key: str) -> StoredAnswer | None:
    with store.read() as transaction:
        return transaction.answers.find(key)


def test_an_answer_is_found_by_its_key(store: SqlStore) -> None:
    insert(store, ANSWER)

    assert find(store, ANSWER.key) == ANSWER
    assert find(store, "b" * 64) is None


def test_a_key_has_one_answer(store: SqlStore) -> None:
    insert(store, ANSWER)

    with pytest.raises(AlreadyAnswered):
        insert(store, ANSWER)


def test_a_second_transaction_waits_for_the_outcome_of_the_first(store: SqlStore) -> None:
    has_inserted, outcomes = threading.Event(), []

    def second() -> None:
        has_inserted.wait()
        try:
            insert(store, ANSWER)
        except AlreadyAnswered:
            outcomes.append("refused")

    with ThreadPoolExecutor(1) as executor:
        running = executor.submit(second)
        with store.begin() as transaction:
            transaction.answers.insert(ANSWER)
            has_inserted.set()
            transaction.commit()
            outcomes.append("committed")
        running.result()

    assert sorted(outcomes) == ["committed", "refused"]


def test_a_transaction_that_is_rolled_back_leaves_the_key_to_others(store: SqlStore) -> None:
    with store.begin() as transaction:
        transaction.answers.insert(ANSWER)

    insert(store, ANSWER)

    assert find(store, ANSWER.key) == ANSWER


def test_only_older_answers_are_deleted(store: SqlStore) -> None:
    insert(store, ANSWER)

    for instant, number in ((EPOCH, 0), (EPOCH + timedelta(microseconds=1), 1)):
        with store.begin() as transaction:
            assert transaction.answers.delete_before(instant) == number
            transaction.commit()

    assert find(store, ANSWER.key) is None
