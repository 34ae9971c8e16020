"""Whether several requests of one process are after resources at the same time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Rush:
    """Counts who is at it; safe for use by several threads."""

    def __init__(self) -> None:
        self._number = 0
        self._lock = threading.Lock()

    @property
    def is_on(self) -> bool:
        """Return whether there are several."""
        return self._number > 1

    @contextmanager
    def joined(self) -> Iterator[None]:
        """Count one more for the block."""
        with self._lock:
            self._number += 1
        try:
            yield
        finally:
            with self._lock:
                self._number -= 1
