"""Statements without a result are sent together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pymysql
import pytest
import sqlalchemy as sa
from oslo_db.exception import DBDeadlock
from samples import make_lease

from blazar.db.connection import Connection
from blazar.db.drivers import WRITES
from blazar.db.store import SqlStore, translated
from blazar.db.tables import events, journal, work
from blazar.domain.errors import ConcurrentUpdate, Unavailable

AT = datetime(2031, 4, 5, 6, 7, 8, 900_000, tzinfo=UTC)
INSERT_WORK = sa.insert(work)
INSERT_ENTRY = sa.insert(journal)
POSTPONE = sa.update(work).where(work.c.key == sa.bindparam("which"))
AWKWARD = "%s %(key)s %% ; -- ' \" \\ \\' ü 🚀 :name"


@contextmanager
def writing(engine: sa.Engine) -> Iterator[Connection]:
    """Yield a connection for a transaction that writes."""
    with translated(), engine.connect() as connection:
        yield Connection(connection.execution_options(**{WRITES: True}))


@pytest.fixture
def sent(engine: sa.Engine) -> Iterator[list[str]]:
    """Return the statements that are executed one by one from now on."""
    texts: list[str] = []

    def note(connection: object, cursor: object, statement: str, *_: object) -> None:
        texts.append(statement)

    sa.event.listen(engine, "before_cursor_execute", note)
    yield texts
    sa.event.remove(engine, "before_cursor_execute", note)


def work_row(key: str) -> dict[str, object]:
    return {"key": key, "due_at": AT, "claim_number": 2**40, "attempts": 0}


def entry(request_id: str | None) -> dict[str, object]:
    ids = {"lease_id": None, "reservation_id": None, "request_id": request_id}
    return {**ids, "at": AT, "event": "create", "reason": AWKWARD, "actor": ""}


def add(engine: sa.Engine, *rows: list[dict[str, object]]) -> None:
    """Add work, collected in one transaction."""
    with writing(engine) as connection:
        for each in rows:
            connection.later(INSERT_WORK, each)
        connection.later(INSERT_ENTRY, [entry(None)])
        connection.commit()


def stored(engine: sa.Engine, *columns: sa.ColumnElement[object]) -> list[tuple[object, ...]]:
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(sa.select(*columns).order_by(columns[0]))]


def test_every_value_arrives(engine: sa.Engine) -> None:
    with writing(engine) as connection:
        connection.later(INSERT_WORK, [work_row(AWKWARD), work_row("")])
        connection.later(INSERT_ENTRY, [entry(None), entry("req-1")])
        connection.commit()

    assert stored(engine, work.c.key, work.c.due_at, work.c.claim_number) == [
        ("", AT, 2**40),
        (AWKWARD, AT, 2**40),
    ]
    assert stored(engine, journal.c.id, journal.c.at, journal.c.reason, journal.c.request_id) == [
        (1, AT, AWKWARD, None),
        (2, AT, AWKWARD, "req-1"),
    ]


def test_statements_are_sent_in_their_order(engine: sa.Engine) -> None:
    later = datetime(2032, 1, 1, tzinfo=UTC)
    with writing(engine) as connection:
        connection.later(INSERT_WORK, [work_row("one"), work_row("two")])
        connection.later(POSTPONE, [{"which": "one", "due_at": later}, {"which": "two", "due_at": later}])
        connection.later(INSERT_WORK, [work_row("three")])
        connection.commit()

    assert stored(engine, work.c.key, work.c.due_at) == [("one", later), ("three", AT), ("two", later)]


def test_a_read_finds_what_was_collected(engine: sa.Engine) -> None:
    with writing(engine) as connection:
        connection.later(INSERT_WORK, [work_row("one")])
        assert connection.scalar(sa.select(work.c.key)) == "one"
        connection.later(INSERT_WORK, [work_row("two")])
        assert connection.scalars(sa.select(work.c.key).order_by(work.c.key)).all() == ["one", "two"]
        connection.later(INSERT_WORK, [work_row("three")])
        assert len(connection.execute(sa.select(work.c.key)).all()) == 3


@pytest.mark.parametrize("shares_a_table", [False, True])
def test_an_update_overtakes_only_statements_for_other_tables(
    engine: sa.Engine, shares_a_table: bool
) -> None:
    add(engine, [work_row("one")])
    with writing(engine) as connection:
        connection.later(INSERT_ENTRY, [entry("req-1")])
        if shares_a_table:
            connection.later(INSERT_WORK, [work_row("two")])
        postpone = sa.update(work).values(attempts=5)
        changed = connection.execute_apart(postpone, {}, after=[work])
        assert changed.rowcount == (2 if shares_a_table else 1)
        connection.commit()

    rows = [("one", 5), ("two", 5)] if shares_a_table else [("one", 5)]
    assert stored(engine, work.c.key, work.c.attempts) == rows
    assert sorted(stored(engine, journal.c.reason, journal.c.request_id), key=str) == [
        (AWKWARD, "req-1"),
        (AWKWARD, None),
    ]


def test_what_is_not_committed_is_not_stored(engine: sa.Engine) -> None:
    with writing(engine) as connection:
        connection.later(INSERT_WORK, [work_row("one")])
        assert connection.scalar(sa.select(work.c.key)) == "one"
        connection.later(INSERT_WORK, [work_row("two")])

    assert stored(engine, work.c.key) == []


@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_error_of_any_of_them_is_raised_and_nothing_is_stored(engine: sa.Engine, place: int) -> None:
    rows = [[work_row("one")], [work_row("two")], [work_row("three")]]
    rows.insert(place, [work_row("known")])
    add(engine, [work_row("known")])

    with pytest.raises(ConcurrentUpdate):
        add(engine, *rows)

    assert stored(engine, work.c.key) == [("known",)]


def test_an_error_of_one_of_several_changes_is_raised(engine: sa.Engine) -> None:
    add(engine, [work_row("one"), work_row("two"), work_row("three")])
    rename = sa.update(work).where(work.c.key == sa.bindparam("which"))

    def rename_both() -> None:
        with writing(engine) as connection:
            connection.later(rename, [{"which": "one", "key": "four"}, {"which": "two", "key": "three"}])
            connection.commit()

    with pytest.raises(ConcurrentUpdate):
        rename_both()

    assert stored(engine, work.c.key) == [("one",), ("three",), ("two",)]


def test_the_connection_is_usable_after_an_error(engine: sa.Engine) -> None:
    for number in range(3):
        with pytest.raises(ConcurrentUpdate):
            add(engine, [work_row("one"), work_row("one")])
        add(engine, [work_row(str(number))])

    assert stored(engine, work.c.key) == [("0",), ("1",), ("2",)]


def test_thousands_of_rows_arrive(engine: sa.Engine) -> None:
    with writing(engine) as connection:
        for first in range(0, 3000, 150):
            connection.later(INSERT_WORK, [work_row(f"{each:04}") for each in range(first, first + 150)])
        connection.later(INSERT_WORK, [work_row(f"{each:04}") for each in range(3000, 5000)])
        connection.commit()

    assert stored(engine, work.c.key) == [(f"{each:04}",) for each in range(5000)]


def test_a_lease_with_its_children_goes_with_the_commit(
    store: SqlStore, engine: sa.Engine, sent: list[str]
) -> None:
    with store.begin() as transaction:
        transaction.leases.insert(make_lease(reservations=2))
        transaction.work.plan({"lease": AT})
        transaction.commit()

    inserts = [each for each in sent if "INSERT" in each]
    assert len(inserts) == (4 if engine.dialect.name == "sqlite" else 0)
    assert len(stored(engine, events.c.id)) == len(make_lease(reservations=2).events)


@pytest.mark.parametrize(
    "text",
    [
        'Got error 6 "No such device or address" during COMMIT',
        "Error while appending streaming replication fragment"
        "(provider status: Not connected to Primary Component)",
    ],
)
def test_a_commit_on_a_cluster_without_a_majority_is_unavailable(text: str) -> None:
    failure = pymysql.err.OperationalError(1180, text)

    with pytest.raises(Unavailable), translated():
        raise sa.exc.OperationalError("COMMIT", {}, failure)


@pytest.mark.parametrize(("writes", "meaning"), [(True, ConcurrentUpdate), (False, Unavailable)])
def test_a_transaction_that_only_reads_has_no_part_in_a_deadlock(
    writes: bool, meaning: type[Exception]
) -> None:
    with pytest.raises(meaning), translated(writes=writes):
        raise DBDeadlock
