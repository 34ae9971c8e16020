"""Connections: one engine a process, with what each database needs to keep its promises."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from oslo_db.sqlalchemy import engines, exc_filters
from pymysql.constants import FIELD_TYPE
from pymysql.converters import convert_datetime

from blazar.db import pooling

WRITES = "blazar_writes"
"""Execution option of a connection whose transaction will write."""
_SQLITE_LOCK_TIMEOUT_SECONDS = 30


def make_engine(url: str, **options: Any) -> sa.Engine:
    """Return an engine for SQLite, MariaDB (or MySQL) or PostgreSQL.

    A transaction that only reads sees the database as it was at one instant, so a lease is never seen
    with the reservations of another revision. Writing ones run at READ COMMITTED on MariaDB and
    PostgreSQL: a statement sees all that was committed before it, and whoever must not be overtaken
    locks or names a revision. SQLite takes its one write lock when a writing transaction begins, not
    when it first writes, where it could only fail.

    Args:
        url: ``sqlite:///…``, ``mysql+pymysql://…`` or ``postgresql+psycopg2://…``.
        **options: As for ``oslo_db.sqlalchemy.engines.create_engine`` (group ``[database]``); SQLite
            needs none.
    """
    parsed = sa.make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return _sqlite_engine(url)
    if parsed.get_backend_name() == "mysql" and "charset" not in parsed.query:
        # By default oslo.db speaks utf8mb3, which has no emoji.
        parsed = parsed.update_query_dict({"charset": "utf8mb4"})
    parsed = parsed.update_query_dict({"plugin": pooling.PLUGIN}, append=True)
    engine: sa.Engine = engines.create_engine(
        parsed.render_as_string(hide_password=False),
        # For eventlet's sake oslo.db would have every thread yield after each transaction.
        thread_checkin=False,
        **{"mysql_sql_mode": "TRADITIONAL", **options},
    )

    # Once a connection. As an option of the engine it would cost MariaDB four statements a transaction.
    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, record: object) -> None:
        engine.dialect.set_isolation_level(connection, "READ COMMITTED")
        if engine.dialect.driver == "pymysql":
            connection.decoders = {**connection.decoders, FIELD_TYPE.DATETIME: _datetime}

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        if not connection.get_execution_options().get(WRITES, False):
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")

    engine.dispose()  # of the connection that oslo.db made to try it
    return engine


def _datetime(text: str) -> datetime | str:
    """Return what MariaDB wrote as an instant; anything odd as the driver does.

    The driver takes each apart by a pattern, which is a fifth of the work of reading a lease.
    """
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        found: datetime | str = convert_datetime(text)
        return found


def _sqlite_engine(url: str) -> sa.Engine:
    # Not by oslo.db: its engine begins every transaction as a reading one.
    engine = sa.create_engine(url, connect_args={"timeout": _SQLITE_LOCK_TIMEOUT_SECONDS})
    exc_filters.register_engine(engine)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, record: object) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get(WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
