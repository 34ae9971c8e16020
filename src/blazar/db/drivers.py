"""Connections to the databases that send several statements in one message.

By default, PyMySQL sends a ROLLBACK after each read, and psycopg a BEGIN before each transaction. Each costs
a round trip, and a round trip costs both sides work. Here a connection is in autocommit mode, and what begins
a transaction, its *opening*, is sent in one message with its first statement.

MariaDB gets carried statements in one compound statement, not separated by semicolons: if a transaction on
another node of a Galera cluster aborts this one between two statements of a message, the node executes and
commits the following ones on their own, or answers that COMMIT succeeded (seen with 10.11 and Galera 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import psycopg2
import pymysql
import sqlalchemy as sa
from psycopg2 import extensions
from pymysql.constants import SERVER_STATUS

WRITES: Final = "blazar_writes"
"""Execution option of a connection whose transaction will write."""
LATEST: Final = "blazar_latest"
"""Execution option of a connection whose statements each see what was committed before them."""
_BEGIN: Final = "START TRANSACTION"
_SEES_ONE_INSTANT: Final = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
_ERRORS: Final = "surrogateescape"
"""How PyMySQL encodes a text with values that are not text."""


def begin_transactions_of(engine: sa.Engine) -> None:
    """Make an engine begin its transactions as the execution options of its connections say."""
    match engine.dialect.driver:
        case "pymysql":
            sa.event.listen(engine, "do_connect", _connect_by_pymysql)
            sa.event.listen(engine, "begin", _begin_by_pymysql)
        case "psycopg2":
            sa.event.listen(engine, "do_connect", _connect_by_psycopg)
            sa.event.listen(engine, "begin", _begin_by_psycopg)
        case _:
            sa.event.listen(engine, "begin", _begin_by_another_driver)


def is_mariadb(dialect: sa.Dialect) -> bool:
    """Return whether the database is MariaDB, and not MySQL, which has the same drivers."""
    return bool(getattr(dialect, "is_mariadb", False))


class PyMySQLConnection(pymysql.connections.Connection):
    """A connection to MariaDB in autocommit mode."""

    server_status: int
    """Flags of the last answer that was not rows."""
    opening: tuple[str, ...] = ()
    _carried: tuple[bytes, ...] = ()
    _result: Any

    def carry(self, statement: str, values: Sequence[object]) -> None:
        """Send a statement without a result with the next one. MySQL does not support this."""
        with self.cursor() as cursor:
            text = cursor.mogrify(statement, tuple(values))
        self._carried += (text.encode(self.encoding, _ERRORS),)

    def query(self, sql: str | bytes, unbuffered: bool = False) -> int:
        """Send a statement after the opening and those that are carried; return the number of its rows.

        The number counts the rows of the carried ones, too, unless the statement returns rows.
        """
        if not self.opening and not self._carried:
            return super().query(sql, unbuffered)
        opening, carried = [each.encode() for each in self.opening], self._carried
        self._drop()
        last = sql.encode(self.encoding, _ERRORS) if isinstance(sql, str) else sql
        if carried:
            last = _compound(*carried, last)
        rows = super().query(b"; ".join((*opening, last)))
        for _ in opening:
            # It raises the error of a statement when it reads its result.
            rows = self.next_result(unbuffered and not carried)
        found = self._result
        if carried and found.has_next:
            # The end of the compound statement follows the rows.
            super().next_result()
            self._result, found.has_next = found, False
        return rows

    def commit(self) -> None:
        """Commit the transaction, if there is one."""
        if self._has_begun():
            super().commit()

    def rollback(self) -> None:
        """Roll the transaction back, if there is one."""
        if self._has_begun():
            super().rollback()

    def _has_begun(self) -> bool:
        """Return whether a transaction has begun on the server; what was not sent is dropped."""
        self._drop()
        return bool(self.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS)

    def _drop(self) -> None:
        self.opening, self._carried = (), ()


class PsycopgConnection(extensions.connection):  # type: ignore[misc]
    """A connection to PostgreSQL."""

    opening: tuple[str, ...] = ()
    _carried: tuple[bytes, ...] = ()

    def carry(self, statement: str, values: Sequence[object]) -> None:
        """Send a statement without a result with the next one."""
        with self.cursor() as cursor:
            self._carried += (cursor.mogrify(statement, values),)

    def take(self) -> tuple[bytes, ...]:
        """Return the opening and the carried statements, for the message that is sent next."""
        before = (*(each.encode() for each in self.opening), *self._carried)
        self.opening, self._carried = (), ()
        return before

    def commit(self) -> None:
        """Commit the transaction, if there is one."""
        if self.autocommit:
            self._end("COMMIT")
        else:
            super().commit()

    def rollback(self) -> None:
        """Roll the transaction back, if there is one."""
        if self.autocommit:
            self._end("ROLLBACK")
        else:
            super().rollback()

    def _end(self, statement: str) -> None:
        self.take()
        # In this mode, the driver does not know that a transaction has begun; its library does.
        if self.info.transaction_status != extensions.TRANSACTION_STATUS_IDLE:
            with self.cursor() as cursor:
                cursor.execute(statement)


class PsycopgCursor(extensions.cursor):  # type: ignore[misc]
    """A cursor of :class:`PsycopgConnection`."""

    def execute(self, query: Any, values: Any = None) -> None:
        """Send a statement after the opening and those that are carried."""
        before = self.connection.take()
        if before:
            # The result is that of the last statement.
            query = b"; ".join((*before, self.mogrify(query, values)))
            values = None
        super().execute(query, values)

    def executemany(self, query: Any, rows: Any) -> None:
        """Send a statement for each row, after the opening and those that are carried."""
        before = self.connection.take()
        if before:
            super().execute(b"; ".join(before))
        super().executemany(query, rows)


def _compound(*statements: bytes) -> bytes:
    return b"BEGIN NOT ATOMIC " + b"; ".join(statements) + b"; END"


def _connect_by_pymysql(dialect: object, record: object, arguments: Any, options: Any) -> PyMySQLConnection:
    return PyMySQLConnection(*arguments, **options)


def _begin_by_pymysql(connection: sa.Connection) -> None:
    options, driver = connection.get_execution_options(), connection.connection.driver_connection
    assert isinstance(driver, PyMySQLConnection)
    if options.get(LATEST, False):
        driver.opening = ()
    elif options.get(WRITES, False):
        driver.opening = (_BEGIN,)
    else:
        driver.opening = (_SEES_ONE_INSTANT, _BEGIN)


def _connect_by_psycopg(
    dialect: object, record: object, arguments: Any, options: Any
) -> extensions.connection:
    return psycopg2.connect(
        *arguments,
        **options,
        connection_factory=PsycopgConnection,
        cursor_factory=PsycopgCursor,
    )


def _begin_by_psycopg(connection: sa.Connection) -> None:
    options, driver = connection.get_execution_options(), connection.connection.driver_connection
    assert isinstance(driver, PsycopgConnection)
    if options.get(LATEST, False) or options.get(WRITES, False):
        # In autocommit mode, the driver sends a statement for each assignment of the level.
        if not driver.autocommit:
            driver.isolation_level = None
            driver.autocommit = True
        driver.opening = (_BEGIN,) if options.get(WRITES, False) else ()
        return
    # The driver begins it, because a result can only be read in parts if the driver knows of its transaction.
    driver.autocommit = False
    driver.isolation_level = extensions.ISOLATION_LEVEL_REPEATABLE_READ


def _begin_by_another_driver(connection: sa.Connection) -> None:
    options = connection.get_execution_options()
    if not options.get(WRITES, False) and not options.get(LATEST, False):
        connection.exec_driver_sql(_SEES_ONE_INSTANT)
