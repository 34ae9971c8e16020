"""Migrations create exactly the declared tables, and can be repeated and undone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from clocks import ManualClock
from databases import KINDS, make_empty_database
from samples import HOUR, at, make_lease

from blazar.db.guard import TRIGGERS, ensure_guard, missing_triggers
from blazar.db.revisions import (
    VERSION_TABLE,
    current_revision,
    head_revision,
    is_usable,
    oldest_usable_revision,
)
from blazar.db.schema import RELEASED, alembic_config, begin, complete, contract, is_declared, upgrade
from blazar.db.store import SqlStore
from blazar.db.tables import (
    NO_DOUBLE_PROMISE,
    failed_periods,
    metadata,
    reservation_states,
    resources,
    usage_start,
)
from blazar.domain.lease import ReservationStatus

GUARDS = {NO_DOUBLE_PROMISE, "ix_allocations_exclusive"}
"""The constraints against overlaps on PostgreSQL and SQLite, which the table declarations cannot express."""
BEFORE_CLUSTERS = "0010"
BEFORE_USAGE = "0019"
LARGE = 2**62


@pytest.fixture(params=KINDS)
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[sa.Engine]:
    with make_empty_database(request.param, tmp_path) as engine:
        yield engine


def differences(engine: sa.Engine) -> list[Any]:
    with engine.connect() as connection:
        options: dict[str, Any] = {
            "compare_type": True,
            "version_table": VERSION_TABLE,
            "include_name": is_declared,
        }
        context = MigrationContext.configure(connection, opts=options)
        return [each for each in compare_metadata(context, metadata) if not is_guard(each)]


def is_guard(difference: Any) -> bool:
    return difference[0] in ("remove_index", "remove_constraint") and difference[1].name in GUARDS


def test_weakness_55_migrations_make_exactly_the_tables(engine: sa.Engine) -> None:
    assert differences(engine) == []


def test_the_newest_revision_is_that_of_the_last_migration() -> None:
    assert head_revision() == ScriptDirectory.from_config(alembic_config()).get_current_head()


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

    assert sorted(left) == ["alembic_version", "schema_revision"]
    assert differences(empty) == []


def test_counters_survive_a_downgrade(empty: sa.Engine) -> None:
    upgrade(empty)
    with empty.connect() as connection:
        connection.execute(sa.insert(resources).values(id="1", collection="host", generation=LARGE))
        connection.commit()

        command.downgrade(alembic_config(connection), BEFORE_CLUSTERS)
        connection.commit()
    upgrade(empty)

    assert differences(empty) == []
    with empty.connect() as connection:
        assert connection.scalar(sa.select(resources.c.generation)) is not None


def test_the_states_of_present_leases_are_recorded_by_an_upgrade(empty: sa.Engine) -> None:
    upgrade(empty)
    with SqlStore(empty, ManualClock(), {}).begin() as transaction:
        transaction.leases.insert(make_lease("waits"))
        running = make_lease("runs")
        active = replace(running.reservations[0], status=ReservationStatus.ACTIVE)
        transaction.leases.insert(replace(running, reservations=(active,)))
        transaction.commit()
    with empty.connect() as connection:
        connection.execute(
            sa.insert(resources).values(id="1", collection="host", generation=1, health="failed")
        )
        command.downgrade(alembic_config(connection), BEFORE_USAGE)
        connection.commit()

    upgrade(empty)

    with empty.connect() as connection:
        (state,) = connection.execute(sa.select(reservation_states)).all()
        (failure,) = connection.execute(sa.select(failed_periods)).all()
        began_at = connection.scalar(sa.select(usage_start.c.at))
    assert (state.reservation_id, state.since_at, state.status) == ("runs-r0", at(1), "active")
    assert began_at is not None
    assert abs(began_at - failure.start_at) < HOUR
    assert (failure.resource_id, failure.end_at) == ("1", None)


def test_the_usage_of_a_new_installation_is_complete(empty: sa.Engine) -> None:
    upgrade(empty)

    with empty.connect() as connection:
        assert connection.scalar(sa.select(usage_start.c.at)) is None


class TestReleases:
    """An upgrade leaves the schema usable for the release before; ``contract`` ends that."""

    PREVIOUS = RELEASED[-1]

    @pytest.fixture
    def of_previous_release(self, empty: sa.Engine) -> sa.Engine:
        """Return a database as the release before left it: it has one table with its revision."""
        upgrade(empty, self.PREVIOUS)
        with empty.begin() as connection:
            connection.execute(sa.text(f"DROP TABLE {VERSION_TABLE}"))
        return empty

    def stored(self, engine: sa.Engine) -> tuple[str | None, str | None]:
        return current_revision(engine), oldest_usable_revision(engine)

    def test_a_new_schema_is_for_this_release_only(self, empty: sa.Engine) -> None:
        assert self.stored(empty) == (None, None)
        assert not is_usable(empty)

        upgrade(empty)

        assert self.stored(empty) == (head_revision(), head_revision())
        assert is_usable(empty)

    def test_the_release_before_goes_on_until_the_contraction(self, of_previous_release: sa.Engine) -> None:
        assert self.stored(of_previous_release) == (self.PREVIOUS, self.PREVIOUS)
        assert not is_usable(of_previous_release)

        for _ in range(2):
            upgrade(of_previous_release)

            assert self.stored(of_previous_release) == (head_revision(), self.PREVIOUS)
            assert is_usable(of_previous_release)
            assert differences(of_previous_release) == []
        contract(of_previous_release)
        assert self.stored(of_previous_release) == (head_revision(), head_revision())

    def test_an_upgrade_in_steps_leaves_the_same(self, of_previous_release: sa.Engine) -> None:
        upgrade(of_previous_release, "+1")
        upgrade(of_previous_release, "+2")
        upgrade(of_previous_release)

        assert self.stored(of_previous_release) == (head_revision(), self.PREVIOUS)

    def test_this_release_can_use_what_the_next_has_added_to(self, empty: sa.Engine) -> None:
        upgrade(empty)
        with empty.begin() as connection:
            connection.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))

        assert is_usable(empty)

    def test_a_downgrade_is_for_the_release_of_the_revision(self, empty: sa.Engine) -> None:
        upgrade(empty)
        with empty.connect() as connection:
            before = begin(connection)
            command.downgrade(alembic_config(connection), self.PREVIOUS)
            complete(connection, before)
            connection.commit()

        assert self.stored(empty) == (self.PREVIOUS, self.PREVIOUS)


class TestTriggersOfMariaDB:
    @pytest.fixture
    def empty(self, tmp_path: Path) -> Iterator[sa.Engine]:
        with make_empty_database("mariadb", tmp_path) as engine:
            yield engine

    def test_the_key_in_which_appliers_of_a_cluster_block_is_gone(self, empty: sa.Engine) -> None:
        upgrade(empty)

        with empty.connect() as connection:
            (_, statement) = connection.exec_driver_sql("SHOW CREATE TABLE allocations").one()
        assert "WITHOUT OVERLAPS" not in statement
        assert "PERIOD" not in statement

    def test_a_missing_trigger_is_created_by_the_next_upgrade(self, empty: sa.Engine) -> None:
        upgrade(empty)
        first, _ = TRIGGERS
        with empty.connect() as connection:
            connection.exec_driver_sql(f"DROP TRIGGER {first}")
            assert missing_triggers(connection) == [first]

        upgrade(empty)

        with empty.connect() as connection:
            assert missing_triggers(connection) == []

    def test_an_account_that_may_not_create_triggers_can_still_upgrade(self, empty: sa.Engine) -> None:
        upgrade(empty)
        with empty.connect() as connection:
            for name in TRIGGERS:
                connection.exec_driver_sql(f"DROP TRIGGER {name}")
            refuse = _Refusing(connection)

            assert ensure_guard(refuse) is False  # type: ignore[arg-type]
            assert refuse.asked == [next(iter(TRIGGERS.values()))]


class _Refusing:
    """Connection of an account that may not create triggers while the binary log is on."""

    def __init__(self, connection: sa.Connection) -> None:
        self.dialect = connection.dialect
        self.asked: list[str] = []
        self._connection = connection

    def exec_driver_sql(self, statement: str) -> Any:
        if not statement.startswith("CREATE TRIGGER"):
            return self._connection.exec_driver_sql(statement)
        self.asked.append(statement)
        raise sa.exc.OperationalError(statement, None, Exception(1419, "You do not have the SUPER privilege"))
