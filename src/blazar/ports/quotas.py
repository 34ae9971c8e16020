"""What is wanted from the database to keep projects within their limits."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from blazar.domain.quotas import Reserved


class QuotaStore(Protocol):
    """What each project has reserved."""

    def lock(self, project_id: str) -> None:
        """Have whoever else reserves for this project wait until this transaction is over."""

    def reserved(self, project_id: str, now: datetime) -> Reserved:
        """Return what a project has reserved from *now* on, including what this transaction has written."""
