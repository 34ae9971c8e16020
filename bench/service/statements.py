"""How many statements a server executed, by its own count."""

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
    """Counts queries and changes; begins and ends of transactions do not count."""

    def __init__(self, engine: sa.Engine) -> None:
        """Make a count on a server of MariaDB or PostgreSQL."""
        self._engine = engine
        self._is_postgresql = engine.dialect.name == "postgresql"

    def prepare(self) -> None:
        """Do what must be done once for a new database."""
        if self._is_postgresql:
            with self._engine.begin() as connection:
                connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")

    def so_far(self) -> int:
        """Return how many there were, without those of this count."""
        query = _POSTGRESQL if self._is_postgresql else _MARIADB
        with self._engine.connect() as connection:
            return int(connection.exec_driver_sql(query).scalar_one())

    @property
    def own(self) -> int:
        """Return how many of what ``so_far`` returns, at its second call, the first one has added."""
        return 0 if self._is_postgresql else 1
