"""The connection of a transaction, which sends statements without a result together."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import sqlalchemy as sa

SEVERAL: Final = "blazar_several"
"""Execution option of a text that may consist of several statements."""
_SENDS_SEVERAL: Final = frozenset({"pymysql", "psycopg2"})
_MOST_ROWS: Final = 200
"""Number of rows that are collected; with more, the drivers' own ways are faster."""
_NAMED: Final = re.compile(r"%\((\w+)\)s")
_VALUES: Final = " VALUES "

Row = Mapping[str, Any]


class Connection:
    """A connection of SQLAlchemy that can collect statements.

    Creating a lease adds rows to eight tables, and each round trip costs both sides work. So statements whose
    result is not needed are collected, and sent in one round trip before the next other statement or the
    commit. An error of one of them is raised there, so it must not matter which of them failed.
    """

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection
        self._collected: list[tuple[_Template, Sequence[Row]]] = []
        self._number = 0
        self._is_direct = connection.dialect.driver not in _SENDS_SEVERAL

    def later(self, statement: sa.Insert | sa.Update, rows: Sequence[Row]) -> None:
        """Execute a statement for each of these rows, all with the same columns, at the latest on commit."""
        if not rows:
            return
        if self._is_direct or self._number + len(rows) > _MOST_ROWS:
            self.execute(statement, rows)
            return
        self._collected.append((_template(statement, tuple(rows[0]), self._connection.dialect), rows))
        self._number += len(rows)

    def execute(self, statement: sa.Executable, parameters: Any = None) -> sa.CursorResult[*tuple[Any, ...]]:
        """Execute a statement after the collected ones, and return its result."""
        self.send()
        return self._connection.execute(statement, parameters)

    def scalars(self, statement: sa.Executable, parameters: Any = None) -> sa.ScalarResult[Any]:
        """Return the first values of the rows of a statement that is executed after the collected ones."""
        self.send()
        return self._connection.scalars(statement, parameters)

    def scalar(self, statement: sa.Executable, parameters: Any = None) -> Any:
        """Return the first value of a statement that is executed after the collected ones."""
        self.send()
        return self._connection.scalar(statement, parameters)

    def commit(self) -> None:
        """Execute the collected statements, and commit."""
        self.send()
        self._connection.commit()

    @property
    def dialect(self) -> sa.Dialect:
        """Return the dialect of the database."""
        return self._connection.dialect

    def send(self) -> None:
        """Execute the collected statements now. Raises the error of the first that fails."""
        if not self._collected:
            return
        texts: list[str] = []
        values: list[Any] = []
        for template, rows in self._collected:
            texts.append(template.text(len(rows)))
            values.extend(template.values(rows))
        self._collected, self._number = [], 0
        self._connection.exec_driver_sql("; ".join(texts), tuple(values), execution_options={SEVERAL: True})


@dataclass(frozen=True, slots=True)
class _Template:
    """The text of a statement for a driver, and its parameters in the order of the text."""

    before: str
    repeated: str
    separator: str
    names: Sequence[str]
    converters: Sequence[Callable[[Any], Any] | None]
    constants: Row

    def text(self, number: int) -> str:
        """Return the text for a number of rows."""
        return self.before + self.separator.join([self.repeated] * number)

    def values(self, rows: Sequence[Row]) -> list[Any]:
        """Return the parameters for these rows, as the driver takes them."""
        found: list[Any] = []
        for row in rows:
            full = {**self.constants, **row}
            for name, convert in zip(self.names, self.converters, strict=True):
                found.append(full[name] if convert is None else convert(full[name]))
        return found


@lru_cache(maxsize=256)
def _template(statement: sa.Insert | sa.Update, columns: tuple[str, ...], dialect: sa.Dialect) -> _Template:
    compiled = statement.inline().compile(dialect=dialect, column_keys=list(columns))
    assert isinstance(compiled, sa.sql.compiler.SQLCompiler)
    named = str(compiled)
    names = _NAMED.findall(named)
    text = _NAMED.sub("%s", named)
    before, repeated, separator = "", text, "; "
    if isinstance(statement, sa.Insert):
        before, between, repeated = text.partition(_VALUES)
        before, separator = before + between, ", "
    types = {name: compiled.binds[name].type for name in names}
    return _Template(
        before=before,
        repeated=repeated,
        separator=separator,
        names=names,
        converters=[types[name].dialect_impl(dialect).bind_processor(dialect) for name in names],
        constants={name: value for name, value in compiled.params.items() if name not in columns},
    )
