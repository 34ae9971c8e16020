"""An upgrade that is interrupted at any statement can be run again, and has the same result then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.ddl.mysql import MySQLImpl
from databases import make_empty_database
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
def engine(tmp_path: Path) -> Iterator[sa.Engine]:
    with make_empty_database("mariadb", tmp_path) as engine:
        yield engine


@pytest.fixture
def interruptions(monkeypatch: pytest.MonkeyPatch) -> Interruptions:
    return Interruptions(monkeypatch)


def test_an_upgrade_is_completed_after_an_interruption_at_any_statement(
    engine: sa.Engine, interruptions: Interruptions
) -> None:
    upgrade(engine, RELEASED[-1])
    with engine.begin() as connection:
        columns = {"collection": "host", "generation": 1, "health": "failed"}
        connection.execute(sa.insert(resources).values(id="1", **columns))

    interruptions.run(lambda: upgrade(engine))

    assert len(interruptions.statements) > STATEMENTS
    assert current_revision(engine) == head_revision()
    assert differences(engine) == []
    with engine.connect() as connection:
        assert not missing_triggers(connection)
        # A statement that changes rows has its effect once.
        assert connection.scalar(sa.select(sa.func.count()).select_from(failed_periods)) == 1
    assert not sa.inspect(engine).has_table(PROGRESS_TABLE)


def test_a_downgrade_is_completed_too(engine: sa.Engine, interruptions: Interruptions) -> None:
    upgrade(engine)

    interruptions.run(lambda: change(engine, lambda config: command.downgrade(config, BEFORE_THE_LAST)))
    upgrade(engine)

    assert interruptions.statements
    assert differences(engine) == []


def test_another_change_is_refused_until_the_interrupted_one_is_complete(
    engine: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade(engine, BEFORE_USAGE)
    real = MySQLImpl._exec

    def fail_at_an_index(impl: MySQLImpl, construct: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(construct, sa.schema.CreateIndex):
            raise Interrupted
        return real(impl, construct, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(MySQLImpl, "_exec", fail_at_an_index)
        with pytest.raises(Interrupted):
            upgrade(engine)

    with pytest.raises(OtherChange, match="was interrupted"):
        change(engine, lambda config: command.downgrade(config, "-1"))

    upgrade(engine)
    assert differences(engine) == []
