"""Whether the threads of a reconciler go on."""

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


class Pulse:
    """What is known of threads that come round again and again; safe for use by several threads."""

    def __init__(self, clock: Clock, longest_silence: timedelta) -> None:
        self._clock = clock
        self._longest_silence = longest_silence
        self._lock = threading.Lock()
        self._watched: dict[str, _Watched] = {}
        self._is_stopping = False

    def watch(self, threads: Iterable[threading.Thread]) -> None:
        """Expect of these threads, from now on, that they call :meth:`beat`."""
        with self._lock:
            now = self._clock.now()
            self._watched = {each.name: _Watched(each, now) for each in threads}

    def beat(self, error: Exception | None = None) -> None:
        """Note that the calling thread came round once more, and what went wrong then."""
        trouble = _trouble(error)
        with self._lock:
            watched = self._watched.get(threading.current_thread().name)
            if watched is not None:
                watched.came_round_at, watched.trouble = self._clock.now(), trouble

    def stop(self) -> None:
        """Expect nothing any more."""
        with self._lock:
            self._is_stopping = True

    def problems(self) -> tuple[str, ...]:
        """Return why work does not go on, in words for an operator; empty if it does."""
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
            return f"{name}: nothing was heard for {silence.total_seconds():.0f} s"
        return f"{name}: {watched.trouble}" if watched.trouble else ""


def _trouble(error: Exception | None) -> str:
    # That somebody else was faster is no trouble.
    if error is None or isinstance(error, ConcurrentUpdate):
        return ""
    # Of an error that nobody foresaw, the text may hold anything.
    return error.message if isinstance(error, BlazarError) else type(error).__name__
