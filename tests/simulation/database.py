"""A database that can be reset a thousand times."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from blazar.db.engine import make_engine
from blazar.db.schema import upgrade


class Database:
    """A migrated SQLite file; :meth:`reset` empties it, so that IDs start again at 1."""

    def __init__(self, folder: Path) -> None:
        path = folder / "simulation.sqlite"
        self.engine = make_engine(f"sqlite:///{path}")
        upgrade(self.engine)
        self._raw = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._raw.execute("PRAGMA synchronous = OFF")
        self._empty = sqlite3.connect(":memory:", check_same_thread=False)
        self._raw.backup(self._empty)

    def reset(self) -> None:
        """Restore the empty database."""
        self._empty.backup(self._raw)

    def look(self, query: str) -> list[tuple[Any, ...]]:
        """Return the committed rows of a query as SQLite stores them; much faster than the store."""
        return self._raw.execute(query).fetchall()

    def close(self) -> None:
        """Close all connections to the file."""
        self.engine.dispose()
        self._raw.close()
        self._empty.close()
