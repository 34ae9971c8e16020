"""The revision of the database schema, and whether the processes of this release can use it.

Two tables have a revision (ADR-0028). ``schema_revision`` has that of the schema. ``alembic_version`` has the
newest revision of the oldest release whose processes can use the schema: an upgrade only adds to the schema,
so the processes of the release before go on, and can be started again, until ``contract`` ends this.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import sqlalchemy as sa

VERSION_TABLE: Final = "schema_revision"
OLDEST_TABLE: Final = "alembic_version"
MIGRATIONS: Final = Path(__file__).parent / "migrations"
_DIGITS: Final = 4
"""Length of a revision, with which the name of its file begins after the letter v."""


def head_revision() -> str:
    """Return the newest revision of this release."""
    return max(path.name[1 : 1 + _DIGITS] for path in (MIGRATIONS / "versions").glob("v*.py"))


def current_revision(engine: sa.Engine) -> str | None:
    """Return the database's revision, or None if it has no schema."""
    with engine.connect() as connection:
        return revision_of(connection)


def revision_of(connection: sa.Connection) -> str | None:
    """Return the same as :func:`current_revision`."""
    return _revision_in(version_table(connection), connection)


def version_table(connection: sa.Connection) -> str:
    """Return the name of the table with the revision, which a database of the previous release lacks."""
    inspector = sa.inspect(connection)
    is_older = inspector.has_table(OLDEST_TABLE) and not inspector.has_table(VERSION_TABLE)
    return OLDEST_TABLE if is_older else VERSION_TABLE


def oldest_usable_revision(engine: sa.Engine) -> str | None:
    """Return the newest revision of the oldest release that can use the schema; None without a schema."""
    with engine.connect() as connection:
        return oldest_usable_revision_of(connection)


def oldest_usable_revision_of(connection: sa.Connection) -> str | None:
    """Return the same as :func:`oldest_usable_revision`."""
    return _revision_in(OLDEST_TABLE, connection)


def is_usable(engine: sa.Engine) -> bool:
    """Return whether the processes of this release can use the schema.

    They can if its revision is theirs, or if the next release has only added to it.
    """
    return head_revision() in (current_revision(engine), oldest_usable_revision(engine))


def record_oldest_usable(connection: sa.Connection, revision: str | None) -> None:
    """Store what :func:`oldest_usable_revision` returns."""
    table = _table(OLDEST_TABLE)
    table.create(connection, checkfirst=True)
    connection.execute(sa.delete(table))
    if revision is not None:
        connection.execute(sa.insert(table).values(version_num=revision))


def _revision_in(name: str, connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table(name):
        return None
    found: str | None = connection.scalar(sa.select(_table(name).c.version_num))
    return found


def _table(name: str) -> sa.Table:
    return sa.Table(name, sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True))
