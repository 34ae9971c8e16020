"""Waking up reconcilers: this process's at once, the other managers' over the bus."""

from __future__ import annotations

import threading
from collections.abc import Callable


class ProcessWaker:
    """Implements :class:`blazar.ports.waker.Waker`."""

    def __init__(self, wake_others: Callable[[], None] | None = None) -> None:
        """Make a waker; *wake_others* tells the other managers, if there can be any."""
        self.event = threading.Event()
        self._wake_others = wake_others

    def wake(self) -> None:
        """Say that work was committed."""
        self.event.set()
        if self._wake_others is not None:
            self._wake_others()
