"""Wake reconcilers: this process's at once, the other managers' over the message bus."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

_logger = logging.getLogger(__name__)


class ProcessWaker:
    """Implements :class:`blazar.ports.work.Waker`.

    A separate thread tells the other managers, so that a committing thread does not wait for the bus. While
    one message is sent, all further commits are covered by the next message.
    """

    def __init__(self, wake_others: Callable[[], None] | None = None) -> None:
        """Create a waker; *wake_others* wakes the other managers, if there can be any."""
        self.event = threading.Event()
        self._is_news = threading.Event()
        if wake_others is not None:
            thread = threading.Thread(target=self._tell, args=(wake_others,), name="wake-others", daemon=True)
            thread.start()

    def wake(self) -> None:
        """Announce that work was committed."""
        self.event.set()
        self._is_news.set()

    def _tell(self, wake_others: Callable[[], None]) -> None:
        while self._is_news.wait():
            self._is_news.clear()
            try:
                wake_others()
            except Exception:
                _logger.exception("other managers could not be woken; they will poll")
