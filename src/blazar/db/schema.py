"""Bringing a database's schema up to date, and asking how it is."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

_MIGRATIONS = Path(__file__).parent / "migrations"


def alembic_config(
    connection: sa.Connection | None = None, url: str | None = None, output: TextIO | None = None
) -> Config:
    """Return alembic's configuration for this schema.

    Args:
        connection: The connection to migrate.
        url: Where no connection is had, to print SQL for.
        output: Where listings go; standard output by default.
    """
    config = Config(stdout=output) if output else Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    if url:
        config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def upgrade(engine: sa.Engine, revision: str = "head") -> None:
    """Bring the schema to a revision; one that is there already is left alone."""
    with engine.connect() as connection:
        command.upgrade(alembic_config(connection), revision)
        connection.commit()


def current_revision(engine: sa.Engine) -> str | None:
    """Return the revision that the database is at, or None for one without a schema."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def head_revision() -> str | None:
    """Return the newest revision."""
    return ScriptDirectory.from_config(alembic_config()).get_current_head()
