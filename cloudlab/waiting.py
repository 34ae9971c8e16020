"""Waiting for a state, with a deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from cloudlab.errors import LabError

INTERRUPTED = threading.Event()
"""Set on shutdown: every wait in this process then ends with an error."""


def wait_until(
    check: Callable[[], bool],
    what: str,
    *,
    seconds: float,
    every_seconds: float = 0.2,
    explain: Callable[[], str] | None = None,
) -> None:
    """Return as soon as *check* returns true.

    Args:
        check: The condition; it is evaluated once more after the deadline, in case the machine was suspended.
        what: Description of the condition, with which the error starts.
        seconds: The timeout.
        every_seconds: The interval.
        explain: Returns details for the error, for example the end of a log.

    Raises:
        LabError: The condition was not met in time, or the command was interrupted.
    """
    deadline = time.monotonic() + seconds
    while not check():
        if INTERRUPTED.is_set():
            raise LabError(f"{what}: interrupted")
        if time.monotonic() > deadline:
            if check():
                return
            more = f"\n{explain()}" if explain else ""
            raise LabError(f"{what}: not within {seconds:g} seconds{more}")
        INTERRUPTED.wait(every_seconds)
