"""Retry of a use case after a concurrent update."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Final, TypeVar

import tenacity

from blazar.booking.context import Context
from blazar.domain.errors import ConcurrentUpdate
from blazar.ports.metrics import RETRIES

ResultT = TypeVar("ResultT")

_SHORT_PAUSE_SECONDS: Final = 0.02
_SHORT_PAUSES: Final = 8
_LONGEST_PAUSE_SECONDS: Final = 0.5
_NEVER: Final = threading.Event()


def retrying(context: Context, once: Callable[[int], ResultT], *, attempts: int | None = None) -> ResultT:
    """Return the result of *once*, which is called with the number of the attempt, from 0.

    Requests that compete for resources are repeated soon. If that does not help, the pauses get longer: when
    a node of a Galera cluster is lost or returns, all transactions can fail for some seconds.

    Args:
        context: Its settings limit the number of attempts, unless *attempts* does.
        once: The attempt.
        attempts: Maximum number of attempts.

    Raises:
        ConcurrentUpdate: Every attempt met a concurrent update.
    """

    def pause(seconds: float) -> None:
        context.clock.wait(_NEVER, timedelta(seconds=seconds))

    def attempt_once() -> ResultT:
        try:
            return once(next(attempt))
        except ConcurrentUpdate as error:
            context.doubt(error)
            raise

    retryer = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(ConcurrentUpdate),
        stop=tenacity.stop_after_attempt(attempts or context.settings.leases.claim_attempts),
        wait=lambda state: context.random.uniform(0, _longest_pause(state.attempt_number)),
        sleep=pause,
        before_sleep=lambda _: context.meter.count(RETRIES),
        reraise=True,
    )
    attempt = itertools.count()
    with context.contention.counted():
        return retryer(attempt_once)


def _longest_pause(attempts: int) -> float:
    """Return the longest pause in seconds after a number of attempts."""
    doublings = max(0, attempts - _SHORT_PAUSES)
    return min(_LONGEST_PAUSE_SECONDS, _SHORT_PAUSE_SECONDS * 2.0**doublings)
