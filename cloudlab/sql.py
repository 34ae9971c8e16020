"""The lab's database server, asked directly."""

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
    """Return the first row that a query finds; None for no row, and where the server cannot be asked."""
    try:
        with _cursor(plan) as cursor:
            cursor.execute(statement, values)
            return cursor.fetchone()
    except pymysql.Error:
        return None


def make_anew(plan: Plan, *names: str, charset: str = "utf8mb3") -> None:
    """Make databases without tables, also where there are some with."""
    with _cursor(plan) as cursor:
        for name in names:
            cursor.execute(f"DROP DATABASE IF EXISTS {name}")
            cursor.execute(f"CREATE DATABASE {name} CHARACTER SET {charset}")


@contextmanager
def _cursor(plan: Plan) -> Iterator[Cursor]:
    with (
        pymysql.connect(
            host=ADDRESS,
            port=plan.ports["mariadb"],
            user="cloudlab",
            password=plan.passwords["mariadb"],
            connect_timeout=_CONNECT_TIMEOUT_SECONDS,
            read_timeout=_TIMEOUT_SECONDS,
            write_timeout=_TIMEOUT_SECONDS,
        ) as connection,
        connection.cursor() as cursor,
    ):
        yield cursor
