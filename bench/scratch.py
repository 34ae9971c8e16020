"""Temporary databases on a reachable server."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from blazar.db.engine import make_engine

SERVERS = ("mysql+pymysql://root@127.0.0.1:3306/", "postgresql+psycopg2://postgres@127.0.0.1:5432/postgres")
"""Servers to try if none is given; if none is reachable, SQLite is used."""


@contextmanager
def temporary_databases(url: str | None) -> Iterator[tuple[str, Callable[[], sa.Engine]]]:
    """Yield the database's name and a function that creates empty databases; drop them afterwards."""
    if url and not reachable(url):
        raise SystemExit(f"cannot connect to {sa.make_url(url)!r}")
    server = url or next((each for each in SERVERS if reachable(each)), None)
    if server is None or server.startswith("sqlite"):
        with tempfile.TemporaryDirectory() as folder:
            yield "sqlite", lambda: make_engine(f"sqlite:///{folder}/{uuid.uuid4().hex}.sqlite")
        return
    made: list[str] = []
    admin = sa.create_engine(server, isolation_level="AUTOCOMMIT")

    def make() -> sa.Engine:
        made.append(f"blazar_test_bench_{uuid.uuid4().hex[:12]}")
        with admin.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {made[-1]}")
        return make_engine(sa.make_url(server).set(database=made[-1]).render_as_string(hide_password=False))

    try:
        yield sa.make_url(server).get_backend_name(), make
    finally:
        with admin.connect() as connection:
            for name in made:
                connection.exec_driver_sql(f"DROP DATABASE IF EXISTS {name}")
        admin.dispose()


def reachable(url: str) -> bool:
    """Return whether a database responds."""
    try:
        with sa.create_engine(url).connect():
            return True
    except sa.exc.SQLAlchemyError:
        return False
