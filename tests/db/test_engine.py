"""Setup of connections."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from databases import make_empty_database
from pymysql.constants import CLIENT

from blazar.db.drivers import LATEST, WRITES
from blazar.db.engine import make_engine


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_a_thread_goes_on_after_a_transaction(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    naps: list[float] = []
    with make_empty_database(kind, tmp_path) as engine:
        monkeypatch.setattr("time.sleep", naps.append)

        with engine.begin() as connection:
            connection.execute(sa.text("SELECT 1"))

    assert naps == []


@pytest.mark.parametrize(
    "written",
    [
        "CAST('2031-04-05 06:07:08' AS DATETIME)",
        "CAST('2031-04-05 06:07:08.123' AS DATETIME(3))",
        "CAST('2031-04-05 06:07:08.1234' AS DATETIME(4))",
        "CAST('2031-04-05 06:07:08.000009' AS DATETIME(6))",
        "CAST('0001-12-31 23:59:59' AS DATETIME(6))",
        "CAST('0000-00-00 00:00:00' AS DATETIME)",
        "CAST(NULL AS DATETIME(6))",
    ],
)
def test_mariadb_instants_are_what_its_driver_makes_of_them(tmp_path: Path, written: str) -> None:
    def read(engine: sa.Engine) -> object:
        with engine.connect() as connection:
            connection.exec_driver_sql("SET SESSION sql_mode = ''")
            return connection.exec_driver_sql(f"SELECT {written}").scalar()

    with make_empty_database("mariadb", tmp_path) as engine:
        driver = sa.create_engine(engine.url)

        assert read(engine) == read(driver)
        driver.dispose()


def make_counter(engine: sa.Engine) -> None:
    """Make a table with one row."""
    with engine.connect() as connection:
        writing = connection.execution_options(**{WRITES: True})
        writing.exec_driver_sql("CREATE TABLE counted (number INTEGER)")
        writing.exec_driver_sql("INSERT INTO counted VALUES (1)")
        writing.commit()


def count_up(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        writing = connection.execution_options(**{WRITES: True})
        writing.exec_driver_sql("UPDATE counted SET number = number + 1")
        writing.commit()


def read(connection: sa.Connection) -> object:
    return connection.exec_driver_sql("SELECT number FROM counted").scalar()


@pytest.mark.parametrize("before", [{}, {LATEST: True}, {WRITES: True}])
@pytest.mark.parametrize(
    ("kind", "options", "then"),
    [
        ("mariadb", {}, 1),
        ("postgresql", {}, 1),
        ("sqlite", {}, 1),
        ("mariadb", {LATEST: True}, 2),
        ("postgresql", {LATEST: True}, 2),
    ],
)
def test_a_transaction_sees_one_instant_or_the_latest_commits_after_any_other(
    kind: str, options: dict[str, bool], then: int, before: dict[str, bool], tmp_path: Path
) -> None:
    with make_empty_database(kind, tmp_path) as engine:
        make_counter(engine)
        with engine.connect() as connection:
            assert read(connection.execution_options(**before)) == 1

        with engine.connect() as connection:
            reading = connection.execution_options(**options)
            assert read(reading) == 1
            count_up(engine)
            assert read(reading) == then


def test_the_rollback_of_a_writing_transaction_after_others_undoes_it(tmp_path: Path) -> None:
    with make_empty_database("postgresql", tmp_path) as engine:
        make_counter(engine)
        for options in ({LATEST: True}, {}, {LATEST: True}):
            with engine.connect() as connection:
                assert read(connection.execution_options(**options)) == 1

            with engine.connect() as connection:
                writing = connection.execution_options(**{WRITES: True})
                writing.exec_driver_sql("UPDATE counted SET number = 7")

        with engine.connect() as connection:
            assert read(connection) == 1


def test_flags_in_the_url_of_mariadb_are_kept(tmp_path: Path) -> None:
    with make_empty_database("mariadb", tmp_path) as engine:
        url = engine.url.update_query_dict({"client_flag": str(CLIENT.IGNORE_SPACE)})
        other = make_engine(url.render_as_string(hide_password=False))
        with other.connect() as connection:
            driver = connection.connection.driver_connection
            assert driver is not None
            assert driver.client_flag & CLIENT.IGNORE_SPACE
            assert driver.client_flag & CLIENT.MULTI_STATEMENTS
        other.dispose()
