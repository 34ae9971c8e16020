"""The statements of a migration that an interrupted upgrade has executed, on MariaDB and MySQL.

There, each DDL statement takes effect at once, and the revision is recorded only after the last one. If the
program, its connection or the server ends in between, the next run executes the rest: the statements of a
migration are the same each time, and each is recorded when it has been executed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Final

import sqlalchemy as sa

from blazar.db.driver_errors import number_of
from blazar.db.revisions import OLDEST_TABLE, VERSION_TABLE

PROGRESS_TABLE: Final = "schema_progress"
"""The name of the table, which exists only while the schema is changed, or after an interruption."""
_ALREADY_DONE: Final = frozenset(
    {
        1050,  # the table exists
        1051,  # unknown table
        1054,  # unknown column
        1060,  # the column exists
        1061,  # the index exists
        1091,  # there is no such column or index to drop
        1146,  # the table does not exist
        1359,  # the trigger exists
        1360,  # the trigger does not exist
        1826,  # the foreign key exists
        4154,  # the table has a period
    }
)
"""Errors of a statement that was executed already; the numbers of MariaDB and MySQL."""

_FOREIGN_KEY_EXISTS: Final = "errno: 121"
_DATA_STATEMENTS: Final = ("INSERT", "UPDATE", "DELETE")

_progress: Final = sa.Table(
    PROGRESS_TABLE,
    sa.MetaData(),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("digest", sa.String(64), nullable=False),
)


class OtherChange(ValueError):
    """Another change of the schema was interrupted, and must be completed first."""


class SchemaProgress:
    """The statements of the migration that a connection executes."""

    def __init__(self, connection: sa.Connection) -> None:
        """Read what an interrupted run has executed."""
        self._connection = connection
        self._is_resumed = sa.inspect(connection).has_table(PROGRESS_TABLE)
        if not self._is_resumed:
            _progress.create(connection)
        rows = connection.execute(sa.select(_progress.c.digest).order_by(_progress.c.position))
        self._done = [row.digest for row in rows]
        self._position = 0

    def run(self, construct: Any, execute: Callable[[], Any]) -> Any:
        """Execute a statement of a migration, unless an interrupted run has executed it.

        Raises:
            OtherChange: An interrupted run began with other statements.
        """
        if _records_revision(construct):
            with self._transaction():
                result = execute()
                self._connection.execute(sa.delete(_progress))
            self._done, self._is_resumed, self._position = [], False, 0
            return result
        position, digest = self._position, self._digest(construct)
        self._position += 1
        if position < len(self._done):
            if self._done[position] != digest:
                raise OtherChange(
                    "another change of the schema was interrupted; complete it with the same command of the "
                    "same release first"
                )
            return None
        with self._transaction() if changes_data(construct) else nullcontext():
            result = self._execute(execute)
            self._connection.execute(sa.insert(_progress).values(position=position, digest=digest))
        return result

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Let the statements inside the block take effect together."""
        self._connection.exec_driver_sql("START TRANSACTION")
        yield
        self._connection.exec_driver_sql("COMMIT")

    def _execute(self, execute: Callable[[], Any]) -> Any:
        """Execute a statement; the first one of a resumed run may have been executed but not recorded."""
        is_resumed, self._is_resumed = self._is_resumed, False
        try:
            return execute()
        except Exception as error:
            if is_resumed and _is_done_already(error):
                return None
            raise

    def _digest(self, construct: Any) -> str:
        text = (
            construct if isinstance(construct, str) else construct.compile(dialect=self._connection.dialect)
        )
        return hashlib.sha256(str(text).encode()).hexdigest()


def forget_progress(connection: sa.Connection) -> None:
    """Drop the table after a change that is complete."""
    _progress.drop(connection, checkfirst=True)


def changes_data(construct: Any) -> bool:
    """Return whether a statement changes rows."""
    text = construct.text if isinstance(construct, sa.TextClause) else construct
    is_text = isinstance(text, str) and text.lstrip().upper().startswith(_DATA_STATEMENTS)
    return is_text or isinstance(construct, sa.UpdateBase)


def _is_done_already(error: Exception) -> bool:
    # MariaDB's error for a foreign key that exists has no number of its own.
    return number_of(error) in _ALREADY_DONE or _FOREIGN_KEY_EXISTS in str(error)


def _records_revision(construct: Any) -> bool:
    is_change = isinstance(construct, sa.Insert | sa.Update | sa.Delete)
    return is_change and construct.table.name in (VERSION_TABLE, OLDEST_TABLE)
