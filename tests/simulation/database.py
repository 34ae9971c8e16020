"""A database that can be begun anew a thousand times."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from blazar.db.engine import make_engine
from blazar.db.schema import upgrade


class Database:
    """A migrated SQLite file; :meth:`reset` empties it, so that ids begin again at 1."""

    def __init__(self, folder: Path) -> None:
        path = folder / "simulation.sqlite"
        self.engine = make_engine(f"sqlite:///{path}")
        upgrade(self.engine)
        self._raw = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._raw.execute("PRAGMA synchronous = OFF")
        self._empty = sqlite3.connect(":memory:", check_same_thread=False)
        self._raw.backup(self._empty)

    def reset(self) -> None:
        """Make it what it was at first."""
        self._empty.backup(self._raw)

    def look(self, query: str) -> list[tuple[Any, ...]]:
        """Return what has been committed, as SQLite stores it; much quicker than by the store."""
        return self._raw.execute(query).fetchall()

    def close(self) -> None:
        """Let go of the file."""
        self.engine.dispose()
        self._raw.close()
        self._empty.close()
