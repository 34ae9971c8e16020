"""Requests that search for resources at the same time: their number, and a lock that treats them fairly."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType


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


class FairLock:
    """A lock for ``with``. A thread that releases and requests it again queues behind all waiting threads."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._is_held = False
        self._waiting: deque[threading.Lock] = deque()

    @property
    def has_waiters(self) -> bool:
        """Return whether a thread is waiting for the lock."""
        return bool(self._waiting)

    def __enter__(self) -> None:
        """Wait for the lock."""
        with self._mutex:
            if not self._is_held:
                self._is_held = True
                return
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        turn.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Pass the lock to the thread that has waited longest."""
        with self._mutex:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_held = False
