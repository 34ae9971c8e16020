"""Waking up reconcilers: this process's at once, the other managers' over the bus."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

_logger = logging.getLogger(__name__)


class ProcessWaker:
    """Implements :class:`blazar.ports.waker.Waker`.

    Others are told by a thread of its own: who committed does not wait for the bus, and what is committed
    while one message leaves is told by the next one, however much it is.
    """

    def __init__(self, wake_others: Callable[[], None] | None = None) -> None:
        """Make a waker; *wake_others* tells the other managers, if there can be any."""
        self.event = threading.Event()
        self._is_news = threading.Event()
        if wake_others is not None:
            thread = threading.Thread(target=self._tell, args=(wake_others,), name="wake-others", daemon=True)
            thread.start()

    def wake(self) -> None:
        """Say that work was committed."""
        self.event.set()
        self._is_news.set()

    def _tell(self, wake_others: Callable[[], None]) -> None:
        while self._is_news.wait():
            self._is_news.clear()
            try:
                wake_others()
            except Exception:
                _logger.exception("other managers could not be woken up, and look by themselves")
