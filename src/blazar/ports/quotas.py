"""Ports: the limits of projects, and the database reads and locks that keep projects within them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from blazar.domain.quotas import Reserved


class Limits(Protocol):
    """The limits of all projects, under the names of :mod:`blazar.domain.quotas`."""

    def get(self, project_id: str, *, fresh: bool = False) -> Mapping[str, int]:
        """Return a project's limits. A limit that is missing or -1 is unlimited.

        Args:
            project_id: The project.
            fresh: Do not answer from a cache.

        Raises:
            Unavailable: The source of the limits does not answer now.
        """

    def get_defaults(self) -> Mapping[str, int]:
        """Return the limits of projects without limits of their own. Raises Unavailable."""


class QuotaStore(Protocol):
    """The reserved amounts of each project."""

    def lock(self, project_id: str) -> None:
        """Block other reservations for this project until this transaction ends."""

    def reserved(self, project_id: str, now: datetime) -> Reserved:
        """Return a project's reserved amounts from *now* on, including this transaction's writes."""
