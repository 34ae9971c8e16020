"""Beginning a use case anew when somebody else was faster."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TypeVar

import tenacity

from blazar.domain.errors import ConcurrentUpdate

ResultT = TypeVar("ResultT")

_LONGEST_PAUSE_SECONDS = 0.02


def retrying(attempts: int, once: Callable[[int], ResultT]) -> ResultT:
    """Return what *once* returns; it is given the number of the attempt, from 0.

    Raises:
        ConcurrentUpdate: Every attempt met somebody faster.
    """
    retryer = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(ConcurrentUpdate),
        stop=tenacity.stop_after_attempt(attempts),
        wait=tenacity.wait_random(0, _LONGEST_PAUSE_SECONDS),
        reraise=True,
    )
    attempt = itertools.count()
    return retryer(lambda: once(next(attempt)))
