"""Port: the log context of a thread, for log lines and calls to other services."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol


class LogContext(Protocol):
    """Keeps each thread's log context: the ids of its present work."""

    def working_on(
        self, *, lease_id: str | None = None, reservation_id: str | None = None
    ) -> AbstractContextManager[None]:
        """Add these ids to this thread's log context until the end of the block.

        Work that does not serve a request gets a request id too.
        """
