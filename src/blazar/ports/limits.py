"""What is wanted from where an operator sets limits: what a project may reserve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Limits(Protocol):
    """The limits of all projects, by the names of :mod:`blazar.domain.quotas`."""

    def get(self, project_id: str, *, fresh: bool = False) -> Mapping[str, int]:
        """Return a project's limits. What is missing, or -1, is not limited.

        Args:
            project_id: The project.
            fresh: Do not answer from memory.

        Raises:
            Unavailable: Nobody can say now.
        """

    def get_defaults(self) -> Mapping[str, int]:
        """Return the limits of projects that have none of their own. Raises Unavailable."""
