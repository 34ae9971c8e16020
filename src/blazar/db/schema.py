"""Upgrade of the database schema with alembic, which processes that serve requests do not import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TextIO

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from blazar.db.guard import ensure_guard
from blazar.db.lock_waits import repeat, short_waits
from blazar.db.revisions import (
    MIGRATIONS,
    OLDEST_TABLE,
    head_revision,
    oldest_usable_revision_of,
    record_oldest_usable,
    revision_of,
    version_table,
)
from blazar.db.schema_progress import PROGRESS_TABLE
from blazar.db.server_versions import check_server

RELEASED: Final = ("0009",)
"""The newest revision of each earlier release."""
ADOPTION: Final = (
    "CREATE TABLE IF NOT EXISTS schema_revision (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT schema_revision_pkc PRIMARY KEY (version_num))",
    "INSERT INTO schema_revision (version_num) SELECT version_num FROM alembic_version "
    "WHERE NOT EXISTS (SELECT 1 FROM schema_revision)",
)
"""Statements that prepare a database whose only revision is in ``alembic_version``."""


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
    config.set_main_option("script_location", str(MIGRATIONS))
    if url:
        config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def upgrade(engine: sa.Engine, revision: str = "head") -> None:
    """Upgrade the schema to a revision; does nothing if it is already there. Raises as :func:`change`."""
    change(engine, lambda config: command.upgrade(config, revision))


def change(engine: sa.Engine, run: Callable[[Config], None]) -> None:
    """Change the schema with a command of alembic, while processes of the service may use it.

    Args:
        engine: The engine of the database.
        run: The command, which gets alembic's configuration. It is repeated if it does not get its locks.

    Raises:
        DBDeadlock: It did not get its locks within ``SECONDS_TO_REPEAT``.
        OtherChange: Another change was interrupted, and must be completed first.
        ServerTooOld: The service cannot use the database server; the schema was not changed.
    """
    check_server(engine)

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
    after, oldest = revision_of(connection), oldest_usable_revision_of(connection)
    if after == head_revision():
        ensure_guard(connection)
    if after is None or before is None or oldest is None:
        record_oldest_usable(connection, after)
    elif before in RELEASED and before < after:
        record_oldest_usable(connection, before)
    elif oldest not in RELEASED or after < oldest:
        record_oldest_usable(connection, after)


def contract(engine: sa.Engine) -> None:
    """Let no process of an earlier release use the schema any more."""
    with engine.connect() as connection:
        record_oldest_usable(connection, revision_of(connection))
        connection.commit()


def is_declared(name: str | None, kind: str, parents: object) -> bool:
    """Return whether the tables' declarations decide about a table or another object; for alembic."""
    return kind != "table" or name not in (OLDEST_TABLE, PROGRESS_TABLE)
