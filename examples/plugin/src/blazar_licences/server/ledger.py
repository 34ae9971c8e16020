"""Pools, grants and the seats in use, in an SQLite database."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

_SCHEMA = """
CREATE TABLE IF NOT EXISTS pools (
    name TEXT PRIMARY KEY, product TEXT NOT NULL, seats INTEGER NOT NULL,
    state TEXT NOT NULL, note TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS grants (
    id TEXT PRIMARY KEY, pool TEXT NOT NULL, project_id TEXT NOT NULL, seats INTEGER NOT NULL,
    until TEXT NOT NULL, notice TEXT);
CREATE TABLE IF NOT EXISTS uses (
    grant_id TEXT NOT NULL, client TEXT NOT NULL, seats INTEGER NOT NULL, PRIMARY KEY (grant_id, client));
"""
_IN_USE = "coalesce((SELECT sum(uses.seats) FROM uses WHERE grant_id = grants.id), 0)"

Row = Mapping[str, Any]


class Unknown(Exception):
    """The object does not exist; 404."""


class Impossible(Exception):
    """The present state does not allow the operation; 409."""


def _now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - it has no clock of the service


class Ledger:
    """Pools, grants and uses. Every method is one transaction and can be repeated without effect."""

    def __init__(self, path: str = ":memory:", now: Callable[[], datetime] = _now) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        self._connection.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def list_pools(self) -> list[Row]:
        """Return all pools."""
        with self._transaction() as cursor:
            return [dict(each) for each in cursor.execute("SELECT * FROM pools ORDER BY name")]

    def put_pool(self, name: str, product: str, seats: int, state: str, note: str) -> None:
        """Add or change a pool; its grants are kept, even if they have more seats than the pool."""
        with self._transaction() as cursor:
            cursor.execute(
                "INSERT OR REPLACE INTO pools VALUES (?, ?, ?, ?, ?)", (name, product, seats, state, note)
            )

    def delete_pool(self, name: str) -> None:
        """Remove a pool with its grants. Raises Unknown."""
        with self._transaction() as cursor:
            cursor.execute(
                "DELETE FROM uses WHERE grant_id IN (SELECT id FROM grants WHERE pool = ?)", (name,)
            )
            cursor.execute("DELETE FROM grants WHERE pool = ?", (name,))
            if not cursor.execute("DELETE FROM pools WHERE name = ?", (name,)).rowcount:
                raise Unknown(f"there is no pool {name}")

    def list_grants(self, prefix: str) -> list[Row]:
        """Return the grants whose ids start with *prefix*, each with the number of its seats in use."""
        with self._transaction() as cursor:
            query = f"SELECT *, {_IN_USE} AS in_use FROM grants WHERE substr(id, 1, ?) = ? ORDER BY id"
            return [dict(each) for each in cursor.execute(query, (len(prefix), prefix))]

    def put_grant(self, grant_id: str, pool: str, project_id: str, seats: int, until: str) -> None:
        """Create a grant, or change its terms. Raises Unknown, Impossible."""
        with self._transaction() as cursor:
            found = cursor.execute("SELECT * FROM pools WHERE name = ?", (pool,)).fetchone()
            if found is None:
                raise Unknown(f"there is no pool {pool}")
            query = f"SELECT *, {_IN_USE} AS in_use FROM grants WHERE id = ?"
            before = cursor.execute(query, (grant_id,)).fetchone()
            if before and (before["pool"], before["project_id"]) != (pool, project_id):
                raise Impossible(f"grant {grant_id} belongs to another pool or project")
            if before and before["in_use"] > seats:
                raise Impossible(f"{before['in_use']} seats of grant {grant_id} are in use")
            (others,) = cursor.execute(
                "SELECT coalesce(sum(seats), 0) FROM grants WHERE pool = ? AND id != ?", (pool, grant_id)
            ).fetchone()
            grows = seats > (before["seats"] if before else 0)
            if grows and ((found["state"] != "open" and not before) or others + seats > found["seats"]):
                raise Impossible(f"pool {pool} ({found['state']}) has {found['seats'] - others} seats left")
            cursor.execute(
                "INSERT OR REPLACE INTO grants VALUES (?, ?, ?, ?, ?, NULL)",
                (grant_id, pool, project_id, seats, until),
            )

    def put_notice(self, grant_id: str, at: str) -> None:
        """Notify the users of a grant of its end. Raises Unknown."""
        with self._transaction() as cursor:
            if not cursor.execute("UPDATE grants SET notice = ? WHERE id = ?", (at, grant_id)).rowcount:
                raise Unknown(f"there is no grant {grant_id}")

    def delete_grant(self, grant_id: str) -> None:
        """Delete a grant, even if it is in use. Raises Unknown."""
        with self._transaction() as cursor:
            cursor.execute("DELETE FROM uses WHERE grant_id = ?", (grant_id,))
            if not cursor.execute("DELETE FROM grants WHERE id = ?", (grant_id,)).rowcount:
                raise Unknown(f"there is no grant {grant_id}")

    def use(self, grant_id: str, client: str, seats: int) -> None:
        """Set the number of seats that a client uses; 0 for none. Raises Unknown, Impossible."""
        with self._transaction() as cursor:
            query = (
                "SELECT grants.seats, until, state FROM grants JOIN pools ON name = pool WHERE grants.id = ?"
            )
            grant = cursor.execute(query, (grant_id,)).fetchone()
            if grant is None:
                raise Unknown(f"there is no grant {grant_id}")
            cursor.execute("DELETE FROM uses WHERE grant_id = ? AND client = ?", (grant_id, client))
            if not seats:
                return
            query = "SELECT coalesce(sum(seats), 0) FROM uses WHERE grant_id = ?"
            (used,) = cursor.execute(query, (grant_id,)).fetchone()
            is_over = datetime.fromisoformat(grant["until"]) <= self._now()
            if is_over or grant["state"] == "revoked" or used + seats > grant["seats"]:
                raise Impossible(f"grant {grant_id} has no {seats} seats for {client}")
            cursor.execute("INSERT INTO uses VALUES (?, ?, ?)", (grant_id, client, seats))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Cursor]:
        with self._lock:
            cursor = self._connection.cursor()
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
            except BaseException:
                cursor.execute("ROLLBACK")
                raise
            cursor.execute("COMMIT")
