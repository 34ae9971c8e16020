"""An upgrade that is interrupted at any statement can be run again, and has the same result then."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.ddl.mysql import MySQLImpl
from db.test_schema import BEFORE_USAGE, differences

from blazar.db.guard import missing_triggers
from blazar.db.revisions import current_revision, head_revision
from blazar.db.schema import RELEASED, change, upgrade
from blazar.db.schema_progress import PROGRESS_TABLE, OtherChange
from blazar.db.tables import failed_periods, resources

MANY = 1000
BEFORE_THE_LAST = "0024"
STATEMENTS = 60
"""Fewer than those of all migrations since the last release."""


class Interrupted(Exception):
    """The end of the program after a statement, before anything else is done."""


class Interruptions:
    """Ends each run after the first statement after which none has ended yet."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.statements: list[str] = []
        self._patch = monkeypatch

    def run(self, change_once: Callable[[], None]) -> None:
        """Run a change of the schema until it is not interrupted any more."""
        real = MySQLImpl._exec

        def end_after(impl: MySQLImpl, construct: Any, *arguments: Any, **options: Any) -> Any:
            result = real(impl, construct, *arguments, **options)
            text = construct if isinstance(construct, str) else str(construct.compile(dialect=impl.dialect))
            if text not in self.statements:
                self.statements.append(text)
                raise Interrupted
            return result

        with self._patch.context() as patch:
            patch.setattr(MySQLImpl, "_exec", end_after)
            for _ in range(MANY):
                with suppress(Interrupted):
                    change_once()
                    return
        raise AssertionError("there is no progress")


@pytest.fixture
def interruptions(monkeypatch: pytest.MonkeyPatch) -> Interruptions:
    return Interruptions(monkeypatch)


def test_an_upgrade_is_completed_after_an_interruption_at_any_statement(
    mariadb: sa.Engine, interruptions: Interruptions
) -> None:
    upgrade(mariadb, RELEASED[-1])
    with mariadb.begin() as connection:
        columns = {"collection": "host", "generation": 1, "health": "failed"}
        connection.execute(sa.insert(resources).values(id="1", **columns))

    interruptions.run(lambda: upgrade(mariadb))

    assert len(interruptions.statements) > STATEMENTS
    assert current_revision(mariadb) == head_revision()
    assert differences(mariadb) == []
    with mariadb.connect() as connection:
        assert not missing_triggers(connection)
        # A statement that changes rows has its effect once.
        assert connection.scalar(sa.select(sa.func.count()).select_from(failed_periods)) == 1
    assert not sa.inspect(mariadb).has_table(PROGRESS_TABLE)


def test_a_downgrade_is_completed_too(mariadb: sa.Engine, interruptions: Interruptions) -> None:
    upgrade(mariadb)

    interruptions.run(lambda: change(mariadb, lambda config: command.downgrade(config, BEFORE_THE_LAST)))
    upgrade(mariadb)

    assert interruptions.statements
    assert differences(mariadb) == []


def test_another_change_is_refused_until_the_interrupted_one_is_complete(
    mariadb: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade(mariadb, BEFORE_USAGE)
    real = MySQLImpl._exec

    def fail_at_an_index(impl: MySQLImpl, construct: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(construct, sa.schema.CreateIndex):
            raise Interrupted
        return real(impl, construct, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(MySQLImpl, "_exec", fail_at_an_index)
        with pytest.raises(Interrupted):
            upgrade(mariadb)

    with pytest.raises(OtherChange, match="was interrupted"):
        change(mariadb, lambda config: command.downgrade(config, "-1"))

    upgrade(mariadb)
    assert differences(mariadb) == []
