"""A ledger of credits per project; credits are held while a lease is created and spent when it ends."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

HELD_FOR = timedelta(minutes=5)
"""A hold that is neither committed nor aborted expires after this time."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS projects (id TEXT PRIMARY KEY, credits REAL NOT NULL);
CREATE TABLE IF NOT EXISTS leases (
    id TEXT PRIMARY KEY, project_id TEXT NOT NULL, cost REAL NOT NULL);
CREATE TABLE IF NOT EXISTS holds (
    key TEXT PRIMARY KEY, lease_id TEXT NOT NULL, project_id TEXT NOT NULL,
    cost REAL NOT NULL, until TEXT NOT NULL);
"""

Lease = Mapping[str, Any]


def _now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - it has no clock of the service


class Ledger:
    """Credits of projects and costs of their leases; one credit is one resource for one hour."""

    def __init__(self, path: str = ":memory:", now: Callable[[], datetime] = _now) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._connection.executescript(_SCHEMA)

    def grant(self, project_id: str, amount: float) -> None:
        """Add credits to a project."""
        with self._transaction() as cursor:
            cursor.execute(
                "INSERT INTO projects VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET credits = credits + ?",
                (project_id, amount, amount),
            )

    def left(self, project_id: str) -> float:
        """Return the credits that a project can still spend, less the costs of leases and holds."""
        with self._transaction() as cursor:
            return self._left(cursor, project_id, except_for="")

    def hold(self, lease: Lease, key: str) -> str | None:
        """Hold the cost of a lease that is created or changed.

        Args:
            lease: The lease as requested.
            key: Idempotency key of the request; a repeated request replaces its own hold.

        Returns:
            The reason for refusal, or None if the credits are held.
        """
        cost, project_id = cost_of(lease), lease["project_id"] or ""
        with self._transaction() as cursor:
            left = self._left(cursor, project_id, except_for=lease["id"])
            if cost > left:
                return f"The lease costs {cost:g} credits, and the project has {left:g} left"
            until = (self._now() + HELD_FOR).isoformat()
            cursor.execute(
                "INSERT OR REPLACE INTO holds VALUES (?, ?, ?, ?, ?)",
                (key, lease["id"], project_id, cost, until),
            )
        return None

    def commit(self, key: str) -> None:
        """Charge held credits to the lease. A second call has no effect."""
        with self._transaction() as cursor:
            cursor.execute(
                "INSERT OR REPLACE INTO leases SELECT lease_id, project_id, cost FROM holds WHERE key = ?",
                (key,),
            )
            cursor.execute("DELETE FROM holds WHERE key = ?", (key,))

    def abort(self, key: str) -> None:
        """Release held credits. A second call has no effect."""
        with self._transaction() as cursor:
            cursor.execute("DELETE FROM holds WHERE key = ?", (key,))

    def end(self, lease: Lease) -> None:
        """Spend the credits that a lease has used and release the rest. A second call has no effect."""
        with self._transaction() as cursor:
            if not cursor.execute("SELECT 1 FROM leases WHERE id = ?", (lease["id"],)).fetchone():
                return
            used = cost_of(lease, until=self._now())
            cursor.execute(
                "UPDATE projects SET credits = credits - ? WHERE id = ?", (used, lease["project_id"])
            )
            cursor.execute("DELETE FROM leases WHERE id = ?", (lease["id"],))

    def _left(self, cursor: sqlite3.Cursor, project_id: str, *, except_for: str) -> float:
        cursor.execute("DELETE FROM holds WHERE until < ?", (self._now().isoformat(),))
        (left,) = cursor.execute(
            "SELECT coalesce((SELECT credits FROM projects WHERE id = :project), 0)"
            " - coalesce((SELECT sum(cost) FROM leases WHERE project_id = :project AND id != :lease), 0)"
            " - coalesce((SELECT sum(cost) FROM holds"
            "   WHERE project_id = :project AND lease_id != :lease), 0)",
            {"project": project_id, "lease": except_for},
        ).fetchone()
        return float(left)

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


def cost_of(lease: Lease, *, until: datetime | None = None) -> float:
    """Return the cost of a lease, or its cost until an instant, in credits: resources times hours."""
    start, end = (_instant(lease[key]) for key in ("start_date", "end_date"))
    if until is not None:
        end = max(start, min(end, until))
    held = [one for each in lease["reservations"] for one in each["allocations"]]
    return len(held) * ((end - start) / timedelta(hours=1))


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
