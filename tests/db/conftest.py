from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from clocks import ManualClock
from databases import KINDS, empty_tables, make_database

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
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(engine: sa.Engine, clock: ManualClock) -> SqlStore:
    # Generations start at 0 here, so that tests can name them.
    return SqlStore(engine, clock, {}, first_number=lambda: 0)
