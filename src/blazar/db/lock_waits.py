"""Locks that migrations need while the processes of the service use the database.

On MariaDB, an ALTER TABLE that holds the lock of a table's definition waits for the transactions that hold
locks on its rows, and these may wait for the definition. The server does not detect such a deadlock: all
requests would hang until the statement failed. So the statement fails soon, and is repeated. On PostgreSQL,
which detects deadlocks, the transaction with all migrations is repeated.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import sqlalchemy as sa
import tenacity
from alembic.ddl.mysql import MySQLImpl
from oslo_db import exception as oslo_exception

from blazar.db.driver_errors import number_of
from blazar.db.schema_progress import SchemaProgress, changes_data

ResultT = TypeVar("ResultT")

SECONDS_TO_REPEAT: Final = 300
"""Time after which a migration fails because it did not get its locks."""
_LONGEST_PAUSE_SECONDS: Final = 1
_SECONDS_FOR_ROWS: Final = 1
_SECONDS_FOR_DEFINITION: Final = 5
_DEADLOCK: Final = 1213
"""``ER_LOCK_DEADLOCK``, of which a transaction ends; after a timeout, it continues."""

_logger = logging.getLogger(__name__)


def repeat(attempt: Callable[[], ResultT], *, is_repeatable: Callable[[BaseException], bool]) -> ResultT:
    """Return the result of *attempt*, which is repeated if it does not get its locks.

    Args:
        attempt: The attempt; a failed one must have no effect.
        is_repeatable: Decides about an error that the locks of other transactions have caused.

    Raises:
        DBDeadlock: There was no success within SECONDS_TO_REPEAT.
    """
    retryer = tenacity.Retrying(
        retry=tenacity.retry_if_exception(
            lambda error: isinstance(error, oslo_exception.DBDeadlock) and is_repeatable(error)
        ),
        stop=tenacity.stop_after_delay(SECONDS_TO_REPEAT),
        wait=tenacity.wait_random(0, _LONGEST_PAUSE_SECONDS),
        before_sleep=lambda state: _logger.info("Waiting for locks: attempts=%d", state.attempt_number),
        reraise=True,
    )
    return retryer(attempt)


@contextmanager
def short_waits(connection: sa.Connection) -> Iterator[None]:
    """Let statements on MariaDB or MySQL fail soon inside the block if they do not get their locks."""
    if connection.dialect.name != "mysql":
        yield
        return
    connection.exec_driver_sql(
        f"SET SESSION innodb_lock_wait_timeout = {_SECONDS_FOR_ROWS},"
        f" SESSION lock_wait_timeout = {_SECONDS_FOR_DEFINITION}"
    )
    try:
        yield
    finally:
        connection.exec_driver_sql(
            "SET SESSION innodb_lock_wait_timeout = DEFAULT, SESSION lock_wait_timeout = DEFAULT"
        )


def execute_ddl(connection: sa.Connection, statement: str) -> None:
    """Execute a DDL statement, which is repeated on MariaDB if it does not get its locks."""
    repeat(
        lambda: connection.exec_driver_sql(statement),
        is_repeatable=lambda error: connection.dialect.name == "mysql",
    )


class RepeatingImpl(MySQLImpl):
    """Alembic's statements on MariaDB and MySQL.

    Each is repeated if it does not get its locks, and skipped if an interrupted run has executed it.
    """

    # Alembic uses the last class with this name.
    __dialect__ = "mysql"
    _progress: SchemaProgress | None = None

    def _exec(self, construct: Any, *arguments: Any, **options: Any) -> Any:
        def execute() -> Any:
            return repeat(
                lambda: super(RepeatingImpl, self)._exec(construct, *arguments, **options),
                is_repeatable=lambda error: not changes_data(construct) or number_of(error) != _DEADLOCK,
            )

        if self.as_sql or self.connection is None:
            return execute()
        if self._progress is None:
            self._progress = SchemaProgress(self.connection)
        return self._progress.run(construct, execute)
