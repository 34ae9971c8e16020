"""The connection of a transaction, which sends statements without a result together."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import sqlalchemy as sa

from blazar.db.drivers import PsycopgConnection, PyMySQLConnection, is_mariadb

_MOST_ROWS: Final = 200
"""Number of rows that are collected; with more, the drivers' own ways are faster."""
_NOTHING: Final = "DO 0"
"""A statement of MariaDB without effect, with which carried ones are sent."""
_NAMED: Final = re.compile(r"%\((\w+)\)s")
_VALUES: Final = " VALUES "

Row = Mapping[str, Any]
_Change = sa.Insert | sa.Update | sa.Delete


class Connection:
    """A connection of SQLAlchemy that can collect statements.

    Creating a lease adds rows to eight tables, and each round trip costs both sides work. So statements whose
    result is not needed are collected, and sent in one message with the next other statement or the commit.
    An error of one of them is raised there, so it must not matter which of them failed.
    """

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection
        self._collected: list[tuple[_Template, sa.FromClause, Sequence[Row]]] = []
        self._number = 0
        self._is_direct = not _sends_several(connection.dialect)
        # A number of rows would be that of all statements in the message.
        self._counts_carried = connection.dialect.driver == "pymysql"

    def later(self, statement: _Change, rows: Sequence[Row]) -> None:
        """Execute a statement for each of these rows, all with the same columns, at the latest on commit."""
        if not rows:
            return
        if self._is_direct or self._number + len(rows) > _MOST_ROWS:
            self.execute(statement, rows)
            return
        template = _template(statement, tuple(rows[0]), self._connection.dialect)
        self._collected.append((template, statement.table, rows))
        self._number += len(rows)

    def execute(self, statement: sa.Executable, parameters: Any = None) -> sa.CursorResult[*tuple[Any, ...]]:
        """Execute a statement after the collected ones, and return its result."""
        if self._collected:
            self._carry()
            if self._counts_carried and not isinstance(statement, sa.SelectBase):
                self._connection.exec_driver_sql(_NOTHING)
        return self._connection.execute(statement, parameters)

    def execute_apart(
        self, statement: sa.Update, parameters: Any, *, after: Collection[sa.FromClause]
    ) -> sa.CursorResult[*tuple[Any, ...]]:
        """Execute an update before the collected statements, which then need no message of their own.

        Args:
            statement: The update.
            parameters: Its parameters.
            after: Tables that it reads, writes, or locks later than others. If a collected statement changes
                one of them, all of them are executed first.
        """
        if any(table in after for _, table, _ in self._collected):
            return self.execute(statement, parameters)
        return self._connection.execute(statement, parameters)

    def scalars(self, statement: sa.Executable, parameters: Any = None) -> sa.ScalarResult[Any]:
        """Return the first values of the rows of a statement that is executed after the collected ones."""
        self._carry()
        return self._connection.scalars(statement, parameters)

    def scalar(self, statement: sa.Executable, parameters: Any = None) -> Any:
        """Return the first value of a statement that is executed after the collected ones."""
        self._carry()
        return self._connection.scalar(statement, parameters)

    def commit(self) -> None:
        """Execute the collected statements, and commit."""
        if self._collected:
            self._carry()
            # As a statement, so that an error is translated, and rolls the transaction back.
            self._connection.exec_driver_sql("COMMIT")
        self._connection.commit()

    @property
    def dialect(self) -> sa.Dialect:
        """Return the dialect of the database."""
        return self._connection.dialect

    def _carry(self) -> None:
        """Let the collected statements go with the next message."""
        if not self._collected:
            return
        if not self._connection.in_transaction():
            self._connection.begin()
        driver = self._connection.connection.driver_connection
        assert isinstance(driver, (PyMySQLConnection, PsycopgConnection))
        for template, _, rows in self._collected:
            for text, values in template.statements(rows):
                driver.carry(text, values)
        self._collected, self._number = [], 0


def _sends_several(dialect: sa.Dialect) -> bool:
    # MySQL has no compound statements outside of procedures.
    return dialect.driver == "psycopg2" or (dialect.driver == "pymysql" and is_mariadb(dialect))


@dataclass(frozen=True, slots=True)
class _Template:
    """The text of a statement for a driver, and the names of its parameters in their order."""

    before: str
    repeated: str
    is_one: bool
    """Whether there is one statement for all rows."""
    names: Sequence[str]
    converters: Sequence[Callable[[Any], Any] | None]
    constants: Row

    def statements(self, rows: Sequence[Row]) -> Iterator[tuple[str, list[Any]]]:
        """Yield the statements for these rows, with their parameters."""
        values = [self._values(row) for row in rows]
        if self.is_one:
            text = self.before + ", ".join([self.repeated] * len(rows))
            yield text, [value for each in values for value in each]
        else:
            for each in values:
                yield self.repeated, each

    def _values(self, row: Row) -> list[Any]:
        """Return the parameters for a row, as the driver takes them."""
        full = {**self.constants, **row}
        return [
            full[name] if convert is None else convert(full[name])
            for name, convert in zip(self.names, self.converters, strict=True)
        ]


@lru_cache(maxsize=256)
def _template(statement: _Change, columns: tuple[str, ...], dialect: sa.Dialect) -> _Template:
    inline = statement if isinstance(statement, sa.Delete) else statement.inline()
    compiled = inline.compile(dialect=dialect, column_keys=list(columns))
    assert isinstance(compiled, sa.sql.compiler.SQLCompiler)
    named = str(compiled)
    names = _NAMED.findall(named)
    text = _NAMED.sub("%s", named)
    before, repeated, is_one = "", text, isinstance(statement, sa.Insert)
    if is_one:
        before, between, repeated = text.partition(_VALUES)
        before += between
    types = {name: compiled.binds[name].type for name in names}
    return _Template(
        before=before,
        repeated=repeated,
        is_one=is_one,
        names=names,
        converters=[types[name].dialect_impl(dialect).bind_processor(dialect) for name in names],
        constants={name: value for name, value in compiled.params.items() if name not in columns},
    )
