"""Ownership mark of a database that belongs to an embedded service."""

from __future__ import annotations

import sqlalchemy as sa

_MARK = sa.Table(
    "embedded_service",
    sa.MetaData(),
    sa.Column("created_by", sa.String(64), primary_key=True),
)


def claim_database(engine: sa.Engine) -> bool:
    """Mark an empty database as owned by the embedded service; return whether the service owns it.

    A database with tables but without the mark belongs to another installation and is not changed.
    """
    with engine.connect() as connection:
        tables = sa.inspect(connection).get_table_names()
    if _MARK.name in tables:
        return True
    if tables:
        return False
    _MARK.create(engine, checkfirst=True)
    return True
