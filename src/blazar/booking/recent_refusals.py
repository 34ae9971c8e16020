"""Requests that this process has refused recently."""

from __future__ import annotations

import threading
from collections import OrderedDict
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

_MOST: Final = 1_000
_REMEMBERED: Final = timedelta(hours=1)


class RecentRefusals:
    """The last thousand different requests that were refused in the last hour, by digest; thread-safe.

    A client whose request is refused often repeats it, and a repeated request is not recorded again. So it is
    not necessary to ask the database each time.
    """

    def __init__(self) -> None:
        """Create it empty."""
        self._lock = threading.Lock()
        self._seen: OrderedDict[bytes, datetime] = OrderedDict()
        """When each request was added, by its digest, the oldest one first."""

    def __len__(self) -> int:
        """Return the number of requests."""
        return len(self._seen)

    def knows(self, request: str, now: datetime) -> bool:
        """Return whether a request was added in the last hour."""
        with self._lock:
            seen = self._seen.get(_digest(request))
            return seen is not None and now - seen < _REMEMBERED

    def add(self, request: str, now: datetime) -> None:
        """Add a request; older ones are dropped after an hour, and if there are too many."""
        digest = _digest(request)
        with self._lock:
            self._seen.pop(digest, None)
            self._seen[digest] = now
            while len(self._seen) > _MOST or now - next(iter(self._seen.values())) >= _REMEMBERED:
                self._seen.popitem(last=False)


def _digest(request: str) -> bytes:
    """Return a digest of a request, which itself may have the size of the largest body."""
    return sha256(request.encode(errors="surrogatepass")).digest()
