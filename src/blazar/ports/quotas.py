"""Port: database reads and locks that keep projects within their limits."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from blazar.domain.quotas import Reserved


class QuotaStore(Protocol):
    """The reserved amounts of each project."""

    def lock(self, project_id: str) -> None:
        """Block other reservations for this project until this transaction ends."""

    def reserved(self, project_id: str, now: datetime) -> Reserved:
        """Return a project's reserved amounts from *now* on, including this transaction's writes."""
