"""Requests that this process has refused recently."""

from __future__ import annotations

import threading
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final

_MOST: Final = 1_000
_REMEMBERED: Final = timedelta(hours=1)


class RecentRefusals:
    """Keys of the last thousand different refused requests of the last hour; thread-safe.

    A client whose request is refused often repeats it, and a repeated request is not recorded again. So it is
    not necessary to ask the database each time.
    """

    def __init__(self) -> None:
        """Create it empty."""
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, datetime] = OrderedDict()

    def knows(self, key: str, now: datetime) -> bool:
        """Return whether a request was added in the last hour."""
        with self._lock:
            seen = self._seen.get(key)
            return seen is not None and now - seen < _REMEMBERED

    def add(self, key: str, now: datetime) -> None:
        """Add a request; with too many, the first one is dropped."""
        with self._lock:
            self._seen.pop(key, None)
            self._seen[key] = now
            if len(self._seen) > _MOST:
                self._seen.popitem(last=False)
