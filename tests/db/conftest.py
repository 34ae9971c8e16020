from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from clocks import ManualClock
from databases import KINDS, empty_tables, make_database, make_empty_database

from blazar.db.store import SqlStore


@pytest.fixture(scope="session", params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[sa.Engine]:
    with make_database(request.param, tmp_path_factory.mktemp("database")) as engine:
        yield engine


@pytest.fixture
def engine(database: sa.Engine) -> Iterator[sa.Engine]:
    yield database
    empty_tables(database)


@pytest.fixture
def mariadb(tmp_path: Path) -> Iterator[sa.Engine]:
    """Yield an engine on a database without a schema."""
    with make_empty_database("mariadb", tmp_path) as engine:
        yield engine


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(engine: sa.Engine, clock: ManualClock) -> SqlStore:
    # Generations start at 0 here, so that tests can name them.
    return SqlStore(engine, clock, {}, first_number=lambda: 0)
