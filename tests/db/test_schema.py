"""The migrations make what the tables say, and can be repeated and undone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from databases import KINDS, make_empty_database

from blazar.db.schema import alembic_config, current_revision, head_revision, upgrade
from blazar.db.tables import NO_DOUBLE_PROMISE, metadata

pytestmark = pytest.mark.filterwarnings(
    "ignore:Unknown schema content:sqlalchemy.exc.SAWarning"
)  # MariaDB's PERIOD

GUARDS = {NO_DOUBLE_PROMISE, "ix_allocations_exclusive"}
"""What refuses overlaps: each database has its own, which tables cannot express."""


@pytest.fixture(params=KINDS)
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[sa.Engine]:
    with make_empty_database(request.param, tmp_path) as engine:
        yield engine


def differences(engine: sa.Engine) -> list[Any]:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return [each for each in compare_metadata(context, metadata) if not is_guard(each)]


def is_guard(difference: Any) -> bool:
    return difference[0] in ("remove_index", "remove_constraint") and difference[1].name in GUARDS


def test_weakness_55_migrations_make_exactly_the_tables(engine: sa.Engine) -> None:
    assert differences(engine) == []


def test_a_database_without_a_schema_has_no_revision(empty: sa.Engine) -> None:
    assert current_revision(empty) is None


def test_upgrading_a_second_time_changes_nothing(empty: sa.Engine) -> None:
    upgrade(empty)
    upgrade(empty)

    assert current_revision(empty) == head_revision()
    assert differences(empty) == []


def test_a_downgrade_to_the_base_leaves_nothing_and_can_be_undone(empty: sa.Engine) -> None:
    upgrade(empty)

    with empty.connect() as connection:
        command.downgrade(alembic_config(connection), "base")
        connection.commit()
    left = sa.inspect(empty).get_table_names()
    upgrade(empty)

    assert left == ["alembic_version"]
    assert differences(empty) == []
