"""What time it is, and waiting."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """The only source of time; a test's stands still, the demo's runs fast."""

    def now(self) -> datetime:
        """Return the present instant, timezone-aware, in UTC."""

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        """Wait until *event* is set or *timeout*, in this clock's time, has passed.

        Returns:
            Whether the event is set.
        """
