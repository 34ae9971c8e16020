"""Waiting for a state, with a deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from cloudlab.errors import LabError

INTERRUPTED = threading.Event()
"""Set when the command is to end: every wait in this process ends with an error then."""


def wait_until(
    check: Callable[[], bool],
    what: str,
    *,
    seconds: float,
    every_seconds: float = 0.2,
    explain: Callable[[], str] | None = None,
) -> None:
    """Return as soon as *check* holds.

    Args:
        check: Looked at once more after the deadline, so a machine that stood still is given its chance.
        what: What is waited for, as the first words of the error.
        seconds: How long to wait at most.
        every_seconds: How often to look.
        explain: Says more in the error, for instance the end of a log.

    Raises:
        LabError: It did not hold in time, or the command was interrupted.
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
