"""A load balancer in front of several APIs, as part of the clients."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_SECONDS_TO_DRAIN = 60


class Gateway:
    """The URLs of APIs, which get requests in turn, from any thread."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = list(urls)
        self._in_progress: Counter[str] = Counter()
        self._changed = threading.Condition()

    @contextmanager
    def use(self) -> Iterator[str]:
        """Yield the URL to which a request is sent inside the block."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._urls, _SECONDS_TO_DRAIN), "all APIs are withdrawn"
            # The next request goes to another one.
            url = self._urls.pop(0)
            self._urls.append(url)
            self._in_progress[url] += 1
        try:
            yield url
        finally:
            with self._changed:
                self._in_progress[url] -= 1
                self._changed.notify_all()

    @contextmanager
    def without(self, url: str) -> Iterator[None]:
        """Withdraw an API inside the block, which begins when all its requests are answered."""
        with self._changed:
            self._urls.remove(url)
            drained = self._changed.wait_for(lambda: not self._in_progress[url], _SECONDS_TO_DRAIN)
            assert drained, f"{url} still serves requests"
        yield
        with self._changed:
            self._urls.append(url)
            self._changed.notify_all()
