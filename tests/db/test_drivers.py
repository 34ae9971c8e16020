"""Messages that the drivers' connections send for a transaction, and its effects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pymysql
import pytest
import sqlalchemy as sa
from databases import make_empty_database

from blazar.db.connection import Connection
from blazar.db.drivers import LATEST, WRITES

KINDS = ["mariadb", "postgresql"]
ONE_INSTANT: Mapping[str, bool] = {}
NUMBERS = sa.table("numbers", sa.column("number", sa.Integer))
ADD = sa.insert(NUMBERS)


@contextmanager
def database(kind: str, folder: Path) -> Iterator[sa.Engine]:
    """Yield a database that has the table and one open connection."""
    with make_empty_database(kind, folder) as engine:
        with engine.connect() as connection:
            writing = connection.execution_options(**{WRITES: True})
            writing.exec_driver_sql("CREATE TABLE numbers (number INTEGER PRIMARY KEY)")
            writing.commit()
        yield engine


@contextmanager
def transaction(engine: sa.Engine, options: Mapping[str, bool]) -> Iterator[Connection]:
    with engine.connect() as connection:
        yield Connection(connection.execution_options(**options))


def stored(engine: sa.Engine) -> list[int]:
    with transaction(engine, {LATEST: True}) as connection:
        return list(connection.scalars(sa.select(NUMBERS.c.number).order_by(NUMBERS.c.number)))


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the messages that PyMySQL sends from now on."""
    sent: list[bytes] = []
    send = pymysql.connections.Connection._execute_command  # type: ignore[attr-defined]

    def note(self: pymysql.Connection, command: int, sql: str | bytes) -> None:
        sent.append(sql if isinstance(sql, bytes) else sql.encode())
        send(self, command, sql)

    monkeypatch.setattr(pymysql.connections.Connection, "_execute_command", note)
    monkeypatch.setattr("blazar.db.pooling.ALIVE_SECONDS", 3_600)
    return sent


def test_a_read_of_the_latest_is_one_message(tmp_path: Path, messages: list[bytes]) -> None:
    with database("mariadb", tmp_path) as engine:
        messages.clear()

        assert stored(engine) == []

        assert len(messages) == 1


def test_a_read_of_one_instant_begins_with_its_first_statement(tmp_path: Path, messages: list[bytes]) -> None:
    with database("mariadb", tmp_path) as engine:
        messages.clear()

        with transaction(engine, ONE_INSTANT) as connection:
            for _ in range(2):
                assert connection.scalar(sa.select(sa.func.count()).select_from(NUMBERS)) == 0

        first, second, end = messages
        assert first.startswith(b"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION; SELECT")
        assert second.startswith(b"SELECT")
        assert end == b"ROLLBACK"


def test_a_change_ends_with_its_last_statements(tmp_path: Path, messages: list[bytes]) -> None:
    with database("mariadb", tmp_path) as engine:
        messages.clear()

        with transaction(engine, {WRITES: True}) as connection:
            connection.execute(sa.update(NUMBERS).values(number=1))
            connection.later(ADD, [{"number": 2}])
            connection.later(ADD, [{"number": 3}, {"number": 4}])
            connection.commit()

        first, last = messages
        assert first.startswith(b"START TRANSACTION; UPDATE")
        assert last.startswith(b"BEGIN NOT ATOMIC INSERT")
        assert last.endswith(b"; COMMIT; END")
        assert stored(engine) == [2, 3, 4]


def test_a_transaction_without_statements_sends_nothing(tmp_path: Path, messages: list[bytes]) -> None:
    with database("mariadb", tmp_path) as engine:
        messages.clear()

        with transaction(engine, {WRITES: True}) as connection:
            connection.commit()

        assert messages == []
        assert stored(engine) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_committed", [True, False])
def test_all_rows_of_a_first_statement_are_in_its_transaction(
    kind: str, is_committed: bool, tmp_path: Path
) -> None:
    with database(kind, tmp_path) as engine:
        with transaction(engine, {WRITES: True}) as connection:
            connection.execute(ADD, [{"number": number} for number in range(300)])
            if is_committed:
                connection.commit()

        assert stored(engine) == (list(range(300)) if is_committed else [])


@pytest.mark.parametrize("kind", KINDS)
def test_a_first_statement_that_fails_leaves_no_transaction(kind: str, tmp_path: Path) -> None:
    with database(kind, tmp_path) as engine:
        with transaction(engine, {WRITES: True}) as connection:
            connection.execute(ADD, {"number": 1})
            connection.commit()
        with (
            pytest.raises(Exception, match=r"(?i)duplicate"),
            transaction(engine, {WRITES: True}) as connection,
        ):
            connection.execute(ADD, {"number": 1})

        with transaction(engine, {WRITES: True}) as connection:
            connection.execute(ADD, {"number": 2})
            connection.commit()

        assert stored(engine) == [1, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_among_the_last_statements_undoes_all(kind: str, tmp_path: Path) -> None:
    with database(kind, tmp_path) as engine:
        with transaction(engine, {WRITES: True}) as connection:
            connection.execute(ADD, {"number": 1})
            connection.later(ADD, [{"number": 2}])
            connection.later(ADD, [{"number": 1}])
            with pytest.raises(Exception, match=r"(?i)duplicate"):
                connection.commit()

        assert stored(engine) == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_rows_is_that_of_the_statement(kind: str, tmp_path: Path) -> None:
    with database(kind, tmp_path) as engine:
        with transaction(engine, {WRITES: True}) as connection:
            connection.execute(ADD, [{"number": number} for number in range(5)])
            connection.commit()

        with transaction(engine, {WRITES: True}) as connection:
            assert connection.execute(sa.delete(NUMBERS).where(NUMBERS.c.number < 3)).rowcount == 3
            assert connection.execute(sa.delete(NUMBERS).where(NUMBERS.c.number < 3)).rowcount == 0
            connection.commit()


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_those_of_the_statement_that_carries_others(kind: str, tmp_path: Path) -> None:
    with database(kind, tmp_path) as engine, transaction(engine, {WRITES: True}) as connection:
        connection.later(ADD, [{"number": 1}, {"number": 2}])
        connection.later(ADD, [{"number": 3}])
        assert sorted(connection.scalars(sa.select(NUMBERS.c.number))) == [1, 2, 3]
        connection.later(ADD, [{"number": 4}])
        assert connection.scalar(sa.select(sa.func.count()).select_from(NUMBERS)) == 4
        connection.later(ADD, [{"number": 5}])
        assert connection.execute(sa.delete(NUMBERS).where(NUMBERS.c.number < 3)).rowcount == 2
        connection.commit()

        assert stored(engine) == [3, 4, 5]


@pytest.mark.parametrize("kind", KINDS)
def test_many_rows_come_after_what_was_collected(kind: str, tmp_path: Path) -> None:
    with database(kind, tmp_path) as engine, transaction(engine, {WRITES: True}) as connection:
        raise_one = sa.update(NUMBERS).where(NUMBERS.c.number == sa.bindparam("which"))
        connection.later(ADD, [{"number": 1}])
        connection.later(raise_one, [{"which": each, "number": each + 1_000} for each in range(300)])
        connection.commit()

        assert stored(engine) == [1_001]


@pytest.mark.parametrize("kind", KINDS)
def test_a_carried_statement_that_fails_before_rows_undoes_all(kind: str, tmp_path: Path) -> None:
    with database(kind, tmp_path) as engine:
        with transaction(engine, {WRITES: True}) as connection:
            connection.later(ADD, [{"number": 1}])
            connection.later(ADD, [{"number": 1}])
            with pytest.raises(Exception, match=r"(?i)duplicate"):
                connection.scalars(sa.select(NUMBERS.c.number))

        assert stored(engine) == []
