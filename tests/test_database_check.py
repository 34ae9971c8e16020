"""A manager's check that its database answers."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from blazar.manager.database_check import DatabaseCheck

LONG_SECONDS = 30


class Database:
    """A database that can be away, or not answer."""

    def __init__(self) -> None:
        self.is_away = False
        self.is_free = threading.Event()
        self.is_free.set()

    def connect(self) -> sqlite3.Connection:
        self.is_free.wait(LONG_SECONDS)
        if self.is_away:
            raise sqlite3.OperationalError("away")
        return sqlite3.connect(":memory:", check_same_thread=False)


@pytest.fixture
def database() -> Database:
    return Database()


@pytest.fixture
def reports(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[queue.Queue[bool]]:
    """Yield what a check of the database reports, with shorter times."""
    monkeypatch.setattr("blazar.manager.database_check._INTERVAL_SECONDS", 0.01)
    monkeypatch.setattr("blazar.manager.database_check._PATIENCE_SECONDS", 0.05)
    engine = sa.create_engine("sqlite://", creator=database.connect, poolclass=sa.NullPool)
    reports: queue.Queue[bool] = queue.Queue()
    check = DatabaseCheck(engine, reports.put)
    check.start()
    yield reports
    check.stop()
    database.is_free.set()


def hears(reports: queue.Queue[bool], wanted: bool) -> bool:
    """Wait until the check reports what is wanted."""
    while reports.get(timeout=LONG_SECONDS) is not wanted:
        pass
    return True


def test_a_database_is_reported_to_answer_until_it_is_away(
    database: Database, reports: queue.Queue[bool]
) -> None:
    assert hears(reports, True)

    database.is_away = True

    assert hears(reports, False)

    database.is_away = False

    assert hears(reports, True)


def test_a_database_that_leaves_a_query_unanswered_is_reported_meanwhile(
    database: Database, reports: queue.Queue[bool]
) -> None:
    assert hears(reports, True)

    database.is_free.clear()

    assert hears(reports, False)

    database.is_free.set()

    assert hears(reports, True)
