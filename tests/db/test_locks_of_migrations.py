"""Migrations succeed beside transactions that wait for what they have locked, as in an upgrade under load."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest
import sqlalchemy as sa
from clocks import EPOCH
from databases import make_empty_database

from blazar.db.revisions import current_revision, head_revision
from blazar.db.schema import upgrade
from blazar.db.tables import resources, stock, work
from cloudlab.waiting import wait_until

BEFORE_CHANGES_OF_COLUMNS: Final = "0011"
SECONDS: Final = 60
WAITING: Final = {
    "mariadb": "SELECT COUNT(*) FROM information_schema.processlist"
    " WHERE db = DATABASE() AND info LIKE 'ALTER TABLE resources%'",
    "postgresql": "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE work%'",
}
"""The number of statements of a migration that wait for a lock."""


@pytest.fixture(params=sorted(WAITING))
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[sa.Engine]:
    with make_empty_database(request.param, tmp_path) as engine:
        upgrade(engine, BEFORE_CHANGES_OF_COLUMNS)
        with engine.begin() as connection:
            connection.execute(sa.insert(resources).values(id="1", collection="host", generation=1))
            connection.execute(sa.insert(work).values(key="1", due_at=EPOCH, claim_number=0, attempts=0))
        yield engine


def hold_locks(connection: sa.Connection) -> None:
    """Lock what the migration needs: on MariaDB the row to which a new row refers, on PostgreSQL a table."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.update(work).values(attempts=1))
    else:
        connection.execute(sa.insert(stock).values(id="1", name="host-1", facts="{}", amounts="{}"))


def is_waiting(engine: sa.Engine) -> bool:
    kind = "postgresql" if engine.dialect.name == "postgresql" else "mariadb"
    with engine.connect() as connection:
        return bool(connection.scalar(sa.text(WAITING[kind])))


def test_an_upgrade_and_a_transaction_that_wait_for_each_other_both_succeed(engine: sa.Engine) -> None:
    with ThreadPoolExecutor(1) as pool, engine.connect() as running:
        hold_locks(running)
        upgrading = pool.submit(upgrade, engine)
        wait_until(lambda: is_waiting(engine), "the migration waits for a lock", seconds=SECONDS)

        running.execute(sa.update(resources).values(generation=2))
        running.commit()
        upgrading.result()

    assert current_revision(engine) == head_revision()
    with engine.connect() as connection:
        assert connection.scalar(sa.select(resources.c.generation)) == 2
