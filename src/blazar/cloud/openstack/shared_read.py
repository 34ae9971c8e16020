"""Requests whose answer several threads share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Final, Generic, TypeVar

ResultT = TypeVar("ResultT")

_AT_ONCE: Final = 2
_LONGEST_WAIT_SECONDS: Final = 2.0
"""For the reads in progress. One that has no answer must not delay others until its timeout."""


class SharedRead(Generic[ResultT]):
    """A read that many threads need, and whose result is the same for all of them.

    While as many reads as allowed are in progress, threads wait for the next one together. A result is never
    older than the call of :meth:`get`: threads only join a read that has not begun. A failure is not shared:
    the others then read by themselves.
    """

    def __init__(self, read: Callable[[], ResultT]) -> None:
        self._read = read
        self._turns = threading.BoundedSemaphore(_AT_ONCE)
        self._lock = threading.Lock()
        self._next: Future[ResultT] | None = None
        """The result of a read that has not begun, if threads wait for one."""

    def get(self) -> ResultT:
        """Return the result of a read that begins after this call. Raises what the read raises."""
        with self._lock:
            is_first = self._next is None
            promised = self._next = self._next or Future()
        if is_first:
            self._perform(promised)
        elif promised.exception() is not None:
            return self._read()
        return promised.result()

    def _perform(self, promised: Future[ResultT]) -> None:
        with self._turn():
            with self._lock:
                self._next = None
            try:
                promised.set_result(self._read())
            except BaseException as error:
                # This thread gets it from the promise.
                promised.set_exception(error)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        has_turn = self._turns.acquire(timeout=_LONGEST_WAIT_SECONDS)
        try:
            yield
        finally:
            if has_turn:
                self._turns.release()
