"""Limit of the requests that wait for the reconciler at the same time."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MOST_WAITS: Final = 4
"""Requests of one manager that wait at the same time; the API's built-in server has eight threads."""
MOST_WAITS_OF_PROJECT: Final = 2
"""Those of one project, so that a project does not keep others from waiting."""


class Waits:
    """Counts the requests of this process that wait, in all and by project; thread-safe."""

    def __init__(self) -> None:
        """Create it without waiting requests."""
        self._lock = threading.Lock()
        self._counts: Counter[str | None] = Counter()

    @contextmanager
    def counted(self, project_id: str | None) -> Iterator[bool]:
        """Count one more waiting request for the duration of the block.

        Args:
            project_id: The project of the lease for which the request waits.

        Yields:
            Whether the request may wait; if not, it is not counted.
        """
        with self._lock:
            may_wait = self._counts.total() < MOST_WAITS and self._counts[project_id] < MOST_WAITS_OF_PROJECT
            if may_wait:
                self._counts[project_id] += 1
        try:
            yield may_wait
        finally:
            if may_wait:
                with self._lock:
                    self._counts[project_id] -= 1
                    # Without counts of zero, the memory does not grow with the number of projects.
                    self._counts += Counter()
