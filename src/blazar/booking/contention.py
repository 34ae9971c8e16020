"""Contention: whether several requests of one process are searching for resources at the same time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Contention:
    """Counts concurrent requests; thread-safe."""

    def __init__(self) -> None:
        self._number = 0
        self._lock = threading.Lock()

    @property
    def is_present(self) -> bool:
        """Return whether more than one request is counted."""
        return self._number > 1

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count one more request for the duration of the block."""
        with self._lock:
            self._number += 1
        try:
            yield
        finally:
            with self._lock:
                self._number -= 1
