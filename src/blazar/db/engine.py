"""Database engine: one per process, with the settings that each kind of database needs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from oslo_db.sqlalchemy import engines, exc_filters
from pymysql.constants import CLIENT, FIELD_TYPE
from pymysql.converters import convert_datetime

from blazar.db import drivers, pooling
from blazar.db.drivers import WRITES

_SQLITE_LOCK_TIMEOUT_SECONDS = 30
_WAIT_BEFORE_READS = 1
"""The value of Galera's ``wsrep_sync_wait`` with which SELECT, SHOW and BEGIN wait."""


def make_engine(url: str, **options: Any) -> sa.Engine:
    """Return an engine for SQLite, MariaDB (or MySQL) or PostgreSQL.

    A read-only transaction sees the database as of one instant, so a lease is never seen with the
    reservations of another revision; with ``LATEST``, each of its statements sees what was committed
    before. Writing transactions use READ COMMITTED on MariaDB and PostgreSQL: a statement sees everything
    committed before it, and code that must exclude concurrent changes locks rows or checks a revision.
    SQLite takes its single write lock at the start of a writing transaction, not at the first write, where
    it could only fail.

    On a Galera cluster, a transaction that starts with a read waits until its node has applied everything
    that the cluster has committed so far, unless ``mysql_wsrep_sync_wait`` is set to something else. So the
    other managers see what one manager has committed, as on a single server.

    Args:
        url: ``sqlite:///…``, ``mysql+pymysql://…`` or ``postgresql+psycopg2://…``.
        **options: The same as for ``oslo_db.sqlalchemy.engines.create_engine`` (group ``[database]``); SQLite
            needs none.
    """
    parsed = sa.make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return _sqlite_engine(url)
    if parsed.get_backend_name() == "mysql" and "charset" not in parsed.query:
        # By default oslo.db uses utf8mb3, which has no emoji.
        parsed = parsed.update_query_dict({"charset": "utf8mb4"})
    if parsed.get_driver_name() == "pymysql":
        flags = int("".join(parsed.query.get("client_flag", "0"))) | CLIENT.MULTI_STATEMENTS
        parsed = parsed.update_query_dict({"client_flag": str(flags)})
    parsed = parsed.update_query_dict({"plugin": pooling.PLUGIN}, append=True)
    engine: sa.Engine = engines.create_engine(
        parsed.render_as_string(hide_password=False),
        # By default, for eventlet, oslo.db makes every thread yield after each transaction.
        thread_checkin=False,
        **{"mysql_sql_mode": "TRADITIONAL", **options},
    )

    # Once per connection. As an engine option it would cost MariaDB four statements per transaction.
    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, record: object) -> None:
        engine.dialect.set_isolation_level(connection, "READ COMMITTED")
        if engine.dialect.driver == "pymysql":
            # The dialect has left this mode.
            connection.autocommit(True)
            connection.decoders = {**connection.decoders, FIELD_TYPE.DATETIME: _datetime}
            if options.get("mysql_wsrep_sync_wait") is None:
                _see_all_commits(connection)

    drivers.begin_transactions_of(engine)
    engine.dispose()  # closes the connection that oslo.db opened as a test
    return engine


def _see_all_commits(connection: Any) -> None:
    """Make reads on a cluster node wait until it has applied what other nodes have committed."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW VARIABLES LIKE 'wsrep_on'")
        if dict(cursor.fetchall()).get("wsrep_on") == "ON":
            cursor.execute(f"SET SESSION wsrep_sync_wait = {_WAIT_BEFORE_READS}")


def _datetime(text: str) -> datetime | str:
    """Return a MariaDB date-time as an instant; an unusual value is converted by the driver.

    The driver parses each value with a regular expression, a fifth of the work of reading a lease.
    """
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        found: datetime | str = convert_datetime(text)
        return found


def _sqlite_engine(url: str) -> sa.Engine:
    # Not with oslo.db: its engine begins every transaction as read-only.
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
