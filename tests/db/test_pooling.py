"""Commands on a connection other than queries, as counted by the servers."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from clocks import ManualClock
from databases import end_other_connections, make_database, make_empty_database

from blazar.db import pooling
from blazar.db.drivers import WRITES
from blazar.db.store import SqlStore
from blazar.domain.errors import Unavailable

SERVERS = ["mariadb", "postgresql"]


@pytest.fixture
def never_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat every connection as alive, even if a busy machine delays the test between two uses."""
    monkeypatch.setattr(pooling, "ALIVE_SECONDS", 3_600)


def write(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        connection.execution_options(**{WRITES: True}).exec_driver_sql("SELECT 1")
        connection.commit()


def counted(engine: sa.Engine) -> dict[str, int]:
    """Return the commands that MariaDB has counted on the pool's only connection."""
    with engine.connect() as connection:
        rows = connection.exec_driver_sql(
            "SHOW SESSION STATUS WHERE Variable_name IN ('Com_rollback', 'Com_commit', 'Com_admin_commands')"
        )
        return {name: int(number) for name, number in rows}


def end_all(engine: sa.Engine) -> None:
    """End the connections of an engine on the server, without the engine's knowledge."""
    other = sa.create_engine(engine.url)
    end_other_connections(other)
    other.dispose()


def test_a_transaction_that_was_committed_is_all_that_is_said(mariadb: sa.Engine, never_silent: None) -> None:
    before = counted(mariadb)

    for _ in range(3):
        write(mariadb)

    after = counted(mariadb)
    # The read of the counters itself is rolled back.
    assert {key: after[key] - before[key] for key in before} == {
        "Com_commit": 3,
        "Com_rollback": 1,
        "Com_admin_commands": 0,
    }


def test_after_a_silence_the_server_is_asked_whether_it_is_there(
    mariadb: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = counted(mariadb)
    monkeypatch.setattr(pooling, "ALIVE_SECONDS", 0)

    write(mariadb)

    assert counted(mariadb)["Com_admin_commands"] - before["Com_admin_commands"] == 2


@pytest.mark.parametrize("kind", SERVERS)
def test_connections_that_ended_in_a_silence_are_replaced(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make_empty_database(kind, tmp_path) as engine:
        write(engine)
        end_all(engine)
        monkeypatch.setattr(pooling, "ALIVE_SECONDS", 0)

        write(engine)


@pytest.mark.parametrize("kind", SERVERS)
def test_who_meets_the_end_of_a_connection_is_told_and_the_next_one_is_not(
    kind: str, tmp_path: Path, never_silent: None
) -> None:
    with make_empty_database(kind, tmp_path) as engine:
        with engine.connect(), engine.connect():
            pass
        end_all(engine)

        with pytest.raises(Exception, match=r"Lost connection|terminat|gone away|closed"):
            write(engine)
        write(engine)
        with engine.connect(), engine.connect():
            pass


@pytest.mark.parametrize("kind", SERVERS)
def test_what_was_not_committed_is_undone(kind: str, tmp_path: Path) -> None:
    with make_empty_database(kind, tmp_path) as engine:
        with engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE numbers (number INTEGER)")
        with engine.connect() as connection:
            connection.execution_options(**{WRITES: True}).exec_driver_sql("INSERT INTO numbers VALUES (1)")

        with engine.connect() as connection:
            connection.execution_options(**{WRITES: True})
            assert connection.exec_driver_sql("SELECT COUNT(*) FROM numbers").scalar() == 0
            connection.commit()


@pytest.mark.parametrize("kind", SERVERS)
@pytest.mark.parametrize("of_one_instant", [True, False])
def test_an_end_that_is_met_at_the_beginning_means_that_the_database_is_unavailable(
    kind: str, of_one_instant: bool, tmp_path: Path, never_silent: None
) -> None:
    def read(store: SqlStore) -> None:
        with store.read(of_one_instant=of_one_instant) as transaction:
            assert transaction.leases.list() == ()

    with make_database(kind, tmp_path) as engine:
        store = SqlStore(engine, ManualClock(), {})
        read(store)
        end_all(engine)

        with pytest.raises(Unavailable):
            read(store)
