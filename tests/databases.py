"""Migrated databases of every supported kind, made for one test session and dropped after it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from needed import give_up
from sqlalchemy.exc import OperationalError

from blazar.db.engine import make_engine
from blazar.db.schema import upgrade
from blazar_plugin_testing.service_env import empty_tables as empty_tables

KINDS: Final = ("sqlite", "mariadb", "postgresql")
"""Every database that the store runs on; the last two need a server."""

_SERVERS: Final = {
    "mariadb": ("BLAZAR_TEST_MARIADB_URL", "mysql+pymysql://root@127.0.0.1:3306/"),
    "postgresql": ("BLAZAR_TEST_POSTGRESQL_URL", "postgresql+psycopg2://postgres@127.0.0.1:5432/postgres"),
}
_CONNECT_TIMEOUT_SECONDS = 5


@contextmanager
def make_database(kind: str, tmp_path: Path) -> Iterator[sa.Engine]:
    """Yield an engine on a new, migrated database that no other test uses.

    Where the server cannot be reached the test is skipped, or fails if ``CI`` is set.

    Args:
        kind: One of ``KINDS``.
        tmp_path: A folder for SQLite's file.
    """
    with make_empty_database(kind, tmp_path) as engine:
        upgrade(engine)
        yield engine


@contextmanager
def make_empty_database(kind: str, tmp_path: Path) -> Iterator[sa.Engine]:
    """Yield an engine as :func:`make_database` does, on a database without a schema."""
    if kind == "sqlite":
        with _disposed(make_engine(f"sqlite:///{tmp_path / f'{uuid.uuid4().hex}.sqlite'}")) as engine:
            yield engine
        return
    name = f"blazar_test_{uuid.uuid4().hex}"
    with _server(kind) as server:
        server.exec_driver_sql(f"CREATE DATABASE {name}")
        url = server.engine.url.set(database=name).render_as_string(hide_password=False)
        try:
            with _disposed(make_engine(url)) as engine:
                yield engine
        finally:
            server.exec_driver_sql(f"DROP DATABASE {name}")


def end_other_connections(engine: sa.Engine) -> None:
    """End all connections to an engine's database but the one that does it, at the server."""
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            return
        others = connection.exec_driver_sql(
            "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()"
        )
        for (number,) in others.fetchall():
            connection.exec_driver_sql(f"KILL {number}")


@contextmanager
def _server(kind: str) -> Iterator[sa.Connection]:
    """Yield a connection to the server, of a user that may create databases, without transactions."""
    variable, default = _SERVERS[kind]
    url = os.environ.get(variable, default)
    engine = sa.create_engine(
        url, isolation_level="AUTOCOMMIT", connect_args={"connect_timeout": _CONNECT_TIMEOUT_SECONDS}
    )
    with _disposed(engine):
        try:
            connection = engine.connect()
        except OperationalError:
            give_up(f"no {kind} server answers at {engine.url}; {variable} names another")
        with connection:
            yield connection


@contextmanager
def _disposed(engine: sa.Engine) -> Iterator[sa.Engine]:
    try:
        yield engine
    finally:
        engine.dispose()
