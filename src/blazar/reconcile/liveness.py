"""Liveness of reconciler threads."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from blazar.domain.errors import BlazarError, ConcurrentUpdate
from blazar.ports.clock import Clock


@dataclass(slots=True)
class _Watched:
    thread: threading.Thread
    came_round_at: datetime
    trouble: str = ""


class Liveness:
    """The liveness of threads that run in a loop; thread-safe."""

    def __init__(self, clock: Clock, longest_silence: timedelta) -> None:
        self._clock = clock
        self._longest_silence = longest_silence
        self._lock = threading.Lock()
        self._watched: dict[str, _Watched] = {}
        self._is_stopping = False

    def watch(self, threads: Iterable[threading.Thread]) -> None:
        """From now on, expect these threads to call :meth:`beat`."""
        with self._lock:
            now = self._clock.now()
            self._watched = {each.name: _Watched(each, now) for each in threads}

    def beat(self, error: Exception | None = None) -> None:
        """Record that the calling thread finished a round, and the error of that round, if any."""
        trouble = _trouble(error)
        with self._lock:
            watched = self._watched.get(threading.current_thread().name)
            if watched is not None:
                watched.came_round_at, watched.trouble = self._clock.now(), trouble

    def stop(self) -> None:
        """Stop expecting calls."""
        with self._lock:
            self._is_stopping = True

    def problems(self) -> tuple[str, ...]:
        """Return why work does not progress, as text for operators; empty if it does."""
        with self._lock:
            if self._is_stopping:
                return ("the reconciler is stopping",)
            if not self._watched:
                return ("the reconciler has not started",)
            now = self._clock.now()
            found = [self._problem(name, each, now) for name, each in self._watched.items()]
        return tuple(each for each in found if each)

    def _problem(self, name: str, watched: _Watched, now: datetime) -> str:
        silence = now - watched.came_round_at
        if not watched.thread.is_alive():
            return f"{name}: the thread has ended"
        if silence > self._longest_silence:
            return f"{name}: no progress for {silence.total_seconds():.0f} s"
        return f"{name}: {watched.trouble}" if watched.trouble else ""


def _trouble(error: Exception | None) -> str:
    # A concurrent update by another manager is not a problem.
    if error is None or isinstance(error, ConcurrentUpdate):
        return ""
    # The text of an unexpected error may contain anything, so only its class is shown.
    return error.message if isinstance(error, BlazarError) else type(error).__name__
