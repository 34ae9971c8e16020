"""How long to go on asking a cloud that gives no answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from blazar.domain.errors import CloudUnavailable

ResultT = TypeVar("ResultT")

_IN_A_ROW = 3


class Patience:
    """Lets calls go without an answer now and then, and loses patience when several in a row do.

    A reservation of many hosts takes many calls. If each of them had to be answered, a cloud that leaves one
    in five unanswered would never give the hosts back; if none had to, a cloud that is down would be asked
    once for each host, and each time for as long as a call may take. Safe for use by several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_a_row = 0

    def ask(self, call: Callable[[], ResultT]) -> ResultT | CloudUnavailable:
        """Return what *call* returns, or the error that it got no answer.

        Raises:
            CloudUnavailable: This was the third in a row that got none.
        """
        try:
            result = call()
        except CloudUnavailable as error:
            with self._lock:
                self._in_a_row += 1
                if self._in_a_row >= _IN_A_ROW:
                    raise
            return error
        with self._lock:
            self._in_a_row = 0
        return result
