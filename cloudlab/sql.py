"""Direct access to the lab's database server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pymysql
from pymysql.cursors import Cursor

from cloudlab.plan import Plan
from cloudlab.ports import ADDRESS

_CONNECT_TIMEOUT_SECONDS: Final = 5
_TIMEOUT_SECONDS: Final = 60


def find_row(plan: Plan, statement: str, *values: str) -> tuple[Any, ...] | None:
    """Return the first row of a query; None if there is none, or if the server is not available."""
    try:
        with _cursor(plan) as cursor:
            cursor.execute(statement, values)
            return cursor.fetchone()
    except pymysql.Error:
        return None


def find_rows(plan: Plan, statement: str, *values: str) -> tuple[tuple[Any, ...], ...]:
    """Return the rows of a query; empty if the server does not respond."""
    try:
        with _cursor(plan) as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall()
    except pymysql.Error:
        return ()


def make_anew(plan: Plan, *names: str, charset: str = "utf8mb3") -> None:
    """Create databases without tables; existing ones with these names are dropped."""
    with _cursor(plan) as cursor:
        for name in names:
            cursor.execute(f"DROP DATABASE IF EXISTS {name}")
            cursor.execute(f"CREATE DATABASE {name} CHARACTER SET {charset}")


def execute(plan: Plan, statement: str, *values: str) -> None:
    """Execute a statement that changes rows or the server; it is a transaction of its own."""
    with _cursor(plan) as cursor:
        cursor.execute(statement, values)


@contextmanager
def _cursor(plan: Plan) -> Iterator[Cursor]:
    with (
        pymysql.connect(
            host=ADDRESS,
            port=plan.ports["mariadb"],
            user="cloudlab",
            password=plan.passwords["mariadb"],
            # A node of Galera that has just been told to continue alone refuses a COMMIT for a moment.
            autocommit=True,
            connect_timeout=_CONNECT_TIMEOUT_SECONDS,
            read_timeout=_TIMEOUT_SECONDS,
            write_timeout=_TIMEOUT_SECONDS,
        ) as connection,
        connection.cursor() as cursor,
    ):
        yield cursor
