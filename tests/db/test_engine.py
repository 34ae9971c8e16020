"""Setup of connections."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from databases import make_empty_database


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
