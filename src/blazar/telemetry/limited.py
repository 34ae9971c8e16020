"""Values that are read for requests for metrics, at limited frequency and with a time limit."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from typing import Generic, TypeVar

from blazar.domain.errors import BlazarError

LONGEST_WAIT_SECONDS = 5.0
"""Longest wait for the values in one scrape."""

_Read = TypeVar("_Read")

_logger = logging.getLogger(__name__)


class Limited(Generic[_Read]):
    """Reads values for scrapes.

    However often they are requested, only one thread reads at a time, and not again within some seconds, even
    if the source does not respond.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[], _Read],
        *,
        kept_for_seconds: float,
        longest_wait_seconds: float,
    ) -> None:
        """Create a reader that has not read anything yet.

        Args:
            name: The name of the values in the log, and of the thread.
            read: Returns the values.
            kept_for_seconds: How long values are reused; 0 to read them for each request.
            longest_wait_seconds: Time without a response after which the values are missing.
        """
        self._name = name
        self._source = read
        self._kept_for_seconds = kept_for_seconds
        self._longest_wait_seconds = longest_wait_seconds
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._lock = threading.Lock()
        self._reading: Future[_Read | None] | None = None
        self._read_at = 0.0

    def get(self) -> _Read | None:
        """Return the values; None if they cannot be read now."""
        with self._lock:
            if self._reading is None or (self._reading.done() and self._is_old()):
                self._reading = self._executor.submit(self._read)
            reading = self._reading
        try:
            return reading.result(self._longest_wait_seconds)
        except TookTooLong:
            return None

    def _is_old(self) -> bool:
        return time.monotonic() - self._read_at >= self._kept_for_seconds

    def _read(self) -> _Read | None:
        try:
            return self._source()
        except BlazarError as error:
            _logger.warning("cannot read values for metrics: name=%s reason=%s", self._name, error)
        except Exception:
            _logger.exception("cannot read values for metrics: name=%s", self._name)
        finally:
            self._read_at = time.monotonic()
        return None
