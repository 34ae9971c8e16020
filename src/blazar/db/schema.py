"""Upgrade and inspection of the database schema."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from blazar.db.guard import ensure_guard

_MIGRATIONS = Path(__file__).parent / "migrations"


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
    with engine.connect() as connection:
        command.upgrade(alembic_config(connection), revision)
        complete(connection)
        connection.commit()


def complete(connection: sa.Connection) -> None:
    """Create parts of the newest revision that the database did not allow during an earlier upgrade."""
    if MigrationContext.configure(connection).get_current_revision() == head_revision():
        ensure_guard(connection)


def current_revision(engine: sa.Engine) -> str | None:
    """Return the database's revision, or None if it has no schema."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def head_revision() -> str | None:
    """Return the newest revision."""
    return ScriptDirectory.from_config(alembic_config()).get_current_head()
