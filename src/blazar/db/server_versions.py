"""The oldest database servers that the service works on, and the check of a server's version.

Claims of due work use ``FOR UPDATE SKIP LOCKED``, which MariaDB has since 10.6 and MySQL since 8.0. On an
older server each of them would fail, so that no lease would ever start.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

MARIADB, MYSQL, POSTGRESQL = "MariaDB", "MySQL", "PostgreSQL"
OLDEST: Final = {MARIADB: (10, 6), MYSQL: (8, 0), POSTGRESQL: (13,)}
"""The oldest usable version by product. CI tests MariaDB and PostgreSQL."""
_VERSION: Final = re.compile(r"(?:5\.5\.5-)?(\d+(?:\.\d+)*)")
"""Replication clients of old releases need the prefix, which some servers and proxies add."""


class ServerTooOld(ValueError):
    """The database server is older than the service needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A database server."""

    product: str
    version: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.product} {_text(self.version)}"

    @property
    def problem(self) -> str | None:
        """Return why the service cannot use the server, or None."""
        oldest = OLDEST[self.product]
        # The comparison ignores what the oldest version does not say.
        if self.version[: len(oldest)] >= oldest:
            return None
        return f"the database server is {self}; {self.product} {_text(oldest)} or newer is needed"


def check_server(engine: sa.Engine) -> Server | None:
    """Return the server of a database; None for SQLite and for a version that cannot be read.

    Raises:
        ServerTooOld: The service cannot use the server.
    """
    with engine.connect() as connection:
        server = _read(connection)
    if server is not None and server.problem is not None:
        raise ServerTooOld(server.problem)
    return server


def _read(connection: sa.Connection) -> Server | None:
    # Not the version that the server sends when a connection begins: proxies send another one.
    match connection.dialect.name:
        case "mysql":
            text = str(connection.exec_driver_sql("SELECT VERSION()").scalar_one())
            product = MARIADB if "mariadb" in text.lower() else MYSQL
        case "postgresql":
            text, product = str(connection.exec_driver_sql("SHOW server_version").scalar_one()), POSTGRESQL
        case _:
            return None
    found = _VERSION.match(text)
    return Server(product=product, version=tuple(map(int, found[1].split(".")))) if found else None


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
