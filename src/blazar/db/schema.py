"""Upgrade and inspection of the database schema.

Two tables have a revision (ADR-0028). ``schema_revision`` has that of the schema. ``alembic_version`` has the
newest revision of the oldest release whose processes can use the schema: an upgrade only adds to the schema,
so the processes of the release before go on, and can be started again, until ``contract`` ends this.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TextIO

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from blazar.db.guard import ensure_guard
from blazar.db.lock_waits import repeat, short_waits

VERSION_TABLE: Final = "schema_revision"
OLDEST_TABLE: Final = "alembic_version"
RELEASED: Final = ("0009",)
"""The newest revision of each earlier release."""
ADOPTION: Final = (
    "CREATE TABLE IF NOT EXISTS schema_revision (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT schema_revision_pkc PRIMARY KEY (version_num))",
    "INSERT INTO schema_revision (version_num) SELECT version_num FROM alembic_version "
    "WHERE NOT EXISTS (SELECT 1 FROM schema_revision)",
)
"""Statements that prepare a database whose only revision is in ``alembic_version``."""
_MIGRATIONS = Path(__file__).parent / "migrations"
_OLDEST: Final = sa.Table(
    OLDEST_TABLE, sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True)
)


def alembic_config(
    connection: sa.Connection | None = None, url: str | None = None, output: TextIO | None = None
) -> Config:
    """Return alembic's configuration for this schema.

    Args:
        connection: The connection to migrate.
        url: For printing SQL without a connection.
        output: The stream for listings; standard output by default.
    """
    config = Config(stdout=output) if output else Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    if url:
        config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def upgrade(engine: sa.Engine, revision: str = "head") -> None:
    """Upgrade the schema to a revision; does nothing if it is already there."""
    change(engine, lambda config: command.upgrade(config, revision))


def change(engine: sa.Engine, run: Callable[[Config], None]) -> None:
    """Change the schema with a command of alembic, while processes of the service may use it.

    Args:
        engine: The engine of the database.
        run: The command, which gets alembic's configuration. It is repeated if it does not get its locks.

    Raises:
        DBDeadlock: It did not get its locks within ``SECONDS_TO_REPEAT``.
    """

    def attempt() -> None:
        with engine.connect() as connection, short_waits(connection):
            before = begin(connection)
            run(alembic_config(connection))
            complete(connection, before)
            connection.commit()

    # On MariaDB, each statement has its effect at once, and is repeated separately.
    repeat(attempt, is_repeatable=lambda error: engine.dialect.name == "postgresql")


def begin(connection: sa.Connection) -> str | None:
    """Prepare a database for migrations, and return its revision; None if it has no schema."""
    if version_table(connection) == OLDEST_TABLE:
        for statement in ADOPTION:
            connection.execute(sa.text(statement))
    return revision_of(connection)


def complete(connection: sa.Connection, before: str | None) -> None:
    """Create what the database did not allow before, and record which releases can use the schema.

    Args:
        connection: The connection with which the schema was changed.
        before: The revision before the change; None if there was no schema.
    """
    after, oldest = revision_of(connection), _oldest_usable(connection)
    if after == head_revision():
        ensure_guard(connection)
    if after is None or before is None or oldest is None:
        _record_oldest(connection, after)
    elif before in RELEASED and before < after:
        _record_oldest(connection, before)
    elif oldest not in RELEASED or after < oldest:
        _record_oldest(connection, after)


def contract(engine: sa.Engine) -> None:
    """Let no process of an earlier release use the schema any more."""
    with engine.connect() as connection:
        _record_oldest(connection, revision_of(connection))
        connection.commit()


def current_revision(engine: sa.Engine) -> str | None:
    """Return the database's revision, or None if it has no schema."""
    with engine.connect() as connection:
        return revision_of(connection)


def revision_of(connection: sa.Connection) -> str | None:
    """Return the same as :func:`current_revision`."""
    options: dict[str, Any] = {"version_table": version_table(connection)}
    return MigrationContext.configure(connection, opts=options).get_current_revision()


def version_table(connection: sa.Connection) -> str:
    """Return the name of the table with the revision, which a database of the previous release lacks."""
    inspector = sa.inspect(connection)
    is_older = inspector.has_table(OLDEST_TABLE) and not inspector.has_table(VERSION_TABLE)
    return OLDEST_TABLE if is_older else VERSION_TABLE


def is_declared(name: str | None, kind: str, parents: object) -> bool:
    """Return whether the tables' declarations decide about a table or another object; for alembic."""
    return kind != "table" or name != OLDEST_TABLE


def head_revision() -> str | None:
    """Return the newest revision."""
    return ScriptDirectory.from_config(alembic_config()).get_current_head()


def oldest_usable_revision(engine: sa.Engine) -> str | None:
    """Return the newest revision of the oldest release that can use the schema; None without a schema."""
    with engine.connect() as connection:
        return _oldest_usable(connection)


def is_usable(engine: sa.Engine) -> bool:
    """Return whether the processes of this release can use the schema.

    They can if its revision is theirs, or if the next release has only added to it.
    """
    return head_revision() in (current_revision(engine), oldest_usable_revision(engine))


def _oldest_usable(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table(OLDEST_TABLE):
        return None
    found: str | None = connection.scalar(sa.select(_OLDEST.c.version_num))
    return found


def _record_oldest(connection: sa.Connection, revision: str | None) -> None:
    _OLDEST.create(connection, checkfirst=True)
    connection.execute(sa.delete(_OLDEST))
    if revision is not None:
        connection.execute(sa.insert(_OLDEST).values(version_num=revision))
