"""Number of statements that a server has executed, as counted by the server."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

_MARIADB: Final = (
    "SELECT SUM(VARIABLE_VALUE) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN "
    "('COM_SELECT', 'COM_INSERT', 'COM_INSERT_SELECT', 'COM_UPDATE', 'COM_UPDATE_MULTI', 'COM_DELETE',"
    " 'COM_DELETE_MULTI', 'COM_REPLACE')"
)
_POSTGRESQL: Final = (
    "SELECT SUM(calls) FROM pg_stat_statements WHERE query !~* 'pg_stat_statements'"
    " AND query ~* '^\\s*(select|insert|update|delete|with)'"
)


class StatementCount:
    """Counter of queries and changes; begins and ends of transactions are not counted."""

    def __init__(self, engine: sa.Engine) -> None:
        """Create a counter for a server of MariaDB or PostgreSQL."""
        self._engine = engine
        self._is_postgresql = engine.dialect.name == "postgresql"

    def prepare(self) -> None:
        """Prepare a new database."""
        if self._is_postgresql:
            with self._engine.begin() as connection:
                connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")

    def so_far(self) -> int:
        """Return the number of statements, without those of this counter."""
        query = _POSTGRESQL if self._is_postgresql else _MARIADB
        with self._engine.connect() as connection:
            return int(connection.exec_driver_sql(query).scalar_one())

    @property
    def own(self) -> int:
        """Return the number of statements that one call of ``so_far`` adds to the count."""
        return 0 if self._is_postgresql else 1
