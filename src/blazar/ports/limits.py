"""Port: the limits that an operator sets on a project's reservations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


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
