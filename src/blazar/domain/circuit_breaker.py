"""Circuit breaker for a cloud that does not answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from blazar.domain.errors import CloudUnavailable

ResultT = TypeVar("ResultT")

_IN_A_ROW = 3


class CircuitBreaker:
    """Tolerate occasional calls without an answer, but fail once several in a row have none.

    A reservation of many hosts takes many calls. If one missing answer ended the work, a cloud that leaves
    one call in five unanswered would never release the hosts. If missing answers never ended the work, a
    cloud that is down would be called once for each host, each time until the timeout. Safe for use by
    several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_a_row = 0

    def call(self, function: Callable[[], ResultT]) -> ResultT | CloudUnavailable:
        """Return the result of *function*, or the error if the call got no answer.

        Raises:
            CloudUnavailable: This was the third call in a row without an answer.
        """
        try:
            result = function()
        except CloudUnavailable as error:
            with self._lock:
                self._in_a_row += 1
                if self._in_a_row >= _IN_A_ROW:
                    raise
            return error
        with self._lock:
            self._in_a_row = 0
        return result
