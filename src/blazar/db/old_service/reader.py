"""Read a whole database in one transaction that cannot write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from blazar.db.old_service.tables import SOURCES, Source
from blazar.ports.old_service import NEEDED_REVISION, CannotImport, OldDatabase

if TYPE_CHECKING:
    from blazar.ports.old_service import OldService

_DRIVERS = {"mysql": "mysql+pymysql", "mariadb": "mysql+pymysql", "postgresql": "postgresql+psycopg2"}
"""Drivers installed with this service, for URLs that name no driver or another one."""


class SqlOldService:
    """A database of the existing service on MariaDB or MySQL, PostgreSQL, or in a SQLite file."""

    def __init__(self, url: str) -> None:
        """Create the reader without connecting. Raises CannotImport if *url* is not a database URL."""
        try:
            self._url = sa.make_url(url)
            kind = self._url.get_backend_name()
            if kind in _DRIVERS:
                self._url = self._url.set(drivername=_DRIVERS[kind])
            self._engine = sa.create_engine(self._connect_url(), poolclass=sa.NullPool)
        except (ArgumentError, SQLAlchemyError, ImportError) as error:
            raise CannotImport(f"--from is not a database URL: {error}") from error

    @property
    def name(self) -> str:
        """Return the database URL without its password."""
        return self._url.render_as_string(hide_password=True)

    def read(self) -> OldDatabase:
        """Return the whole database as of one instant. Raises CannotImport."""
        with self._snapshot() as connection:
            revision = self._check(connection)
            rows: dict[str, Any] = {
                field: tuple(source.row(**row) for row in connection.execute(source.select()).mappings())
                for field, source in SOURCES.items()
            }
        return OldDatabase(revision=revision, **rows)

    def _connect_url(self) -> sa.URL:
        match self._url.get_backend_name():
            case "sqlite":
                # Otherwise SQLite would create a file that does not exist.
                return self._url.set(
                    database=f"file:{self._url.database or ''}", query={"mode": "ro", "uri": "true"}
                )
            case "mysql" if "charset" not in self._url.query:
                return self._url.update_query_dict({"charset": "utf8mb4"})
        return self._url

    @contextmanager
    def _snapshot(self) -> Iterator[sa.Connection]:
        """Yield a read-only connection that sees the database as of one instant."""
        try:
            with self._engine.connect() as connection:
                match self._engine.dialect.name:
                    case "mysql":
                        # Set regardless of the server's default; lower levels have no snapshot.
                        connection.exec_driver_sql(
                            "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
                        )
                        connection.exec_driver_sql("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
                    case "postgresql":
                        connection.exec_driver_sql(
                            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
                        )
                    case "sqlite":
                        connection.exec_driver_sql("BEGIN")
                yield connection
        except SQLAlchemyError as error:
            raise CannotImport(f"{self.name} cannot be read: {_short(error)}") from error

    def _check(self, connection: sa.Connection) -> str | None:
        """Return the revision. Raises CannotImport if the revision or the tables are not as needed."""
        inspector = sa.inspect(connection)
        present = set(inspector.get_table_names())
        revisions: list[str] = []
        if "alembic_version" in present:
            revisions = list(connection.scalars(sa.text("SELECT version_num FROM alembic_version")))
        if revisions and revisions != [NEEDED_REVISION]:
            raise CannotImport(
                f"{self.name} is at revision {', '.join(sorted(revisions))}, but {NEEDED_REVISION} is"
                " required: upgrade it with the blazar-db-manage of the existing service,"
                " or name another database"
            )
        lacking = [each for source in SOURCES.values() for each in _lacking(inspector, source, present)]
        if lacking:
            raise CannotImport(
                f"{self.name} is not a database of the existing service at revision {NEEDED_REVISION}: "
                f"it has no {', '.join(lacking)}"
            )
        return revisions[0] if revisions else None


def _lacking(inspector: Any, source: Source, present: set[str]) -> list[str]:
    if source.table not in present:
        return [source.table]
    columns = {each["name"] for each in inspector.get_columns(source.table)}
    return [f"{source.table}.{name}" for name, _ in source.fields.values() if name not in columns]


def _short(error: Exception) -> str:
    """Return the error text without SQLAlchemy's links and without SQL."""
    return str(getattr(error, "orig", None) or error).splitlines()[0]


if TYPE_CHECKING:

    def _witness(service: SqlOldService) -> OldService:
        return service
