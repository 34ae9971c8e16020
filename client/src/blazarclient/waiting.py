"""Waiting for a lease to reach a stable status, with progress output."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TextIO

from blazarclient import exception, utils
from blazarclient.base import Record
from blazarclient.i18n import _

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitOptions:
    """Timeout, clock and progress output of a wait."""

    timeout: timedelta | None
    """None waits without a limit."""
    now: Callable[[], datetime]
    pause: Callable[[float], None]
    progress: TextIO
    """Stream for progress output."""


def is_settled(lease: Record, now: datetime) -> bool:
    """Return whether a lease has a stable status and no start or end that is due."""
    present = now.replace(tzinfo=None)
    match lease["status"]:
        case "PENDING":
            return _instant(lease["start_date"]) > present
        case "ACTIVE":
            return _instant(lease["end_date"]) > present
        case "TERMINATED" | "ERROR":
            return True
        case _:
            return False


def until_settled(
    fetch: Callable[[], Record], options: WaitOptions, transitional: Collection[str] = ()
) -> Record:
    """Wait until the lease has a stable status, and return it.

    Args:
        fetch: Returns the current lease.
        options: Timeout, clock and progress output.
        transitional: Statuses that do not end the wait, such as ``PENDING`` of a lease that starts now.
            This is independent of the clock of this machine, which may differ from that of the service.

    Raises:
        WaitTimeout: The timeout has passed.
        LeaseInError: The lease is in the status ERROR.
    """
    lease = _until(
        fetch, lambda lease, now: lease["status"] not in transitional and is_settled(lease, now), options
    )
    if lease["status"] == "ERROR":
        raise exception.LeaseInError(
            _("Lease %s is in ERROR; lease show describes the problem") % lease["id"]
        )
    return lease


def until_deleted(fetch: Callable[[], Record], options: WaitOptions) -> None:
    """Wait until the lease no longer exists.

    Raises:
        WaitTimeout: The timeout has passed.
        LeaseInError: The lease is in the status ERROR, so its deletion failed.
    """
    try:
        lease = _until(fetch, lambda lease, _now: lease["status"] == "ERROR", options)
    except exception.NotFound:
        return
    raise exception.LeaseInError(_("Lease %s is in ERROR; lease show describes the problem") % lease["id"])


def _until(
    fetch: Callable[[], Record], is_done: Callable[[Record, datetime], bool], options: WaitOptions
) -> Record:
    begun = options.now()
    progress = _Progress(options.progress)
    pause = _FIRST_PAUSE_SECONDS
    try:
        while True:
            lease = fetch()
            now = options.now()
            progress.show(lease, now - begun)
            if is_done(lease, now):
                return lease
            if options.timeout is not None and now - begun >= options.timeout:
                raise exception.WaitTimeout(
                    _("Lease %(id)s is still %(status)s after %(seconds)d s; --timeout allows more time")
                    % {
                        "id": lease["id"],
                        "status": lease["status"],
                        "seconds": (now - begun).total_seconds(),
                    }
                )
            options.pause(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE_SECONDS)
    finally:
        progress.end()


class _Progress:
    """Progress output: one line that is updated on a terminal, else a line for each new status."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._shown = ""

    def show(self, lease: Record, elapsed: timedelta) -> None:
        line = _("lease %(name)s: %(status)s") % lease
        if self._is_terminal:
            self._stream.write(f"\r\x1b[K{line} ({elapsed.total_seconds():.0f} s)")
        elif line != self._shown:
            self._stream.write(f"{line}\n")
        self._stream.flush()
        self._shown = line

    def end(self) -> None:
        if self._is_terminal and self._shown:
            self._stream.write("\n")
            self._stream.flush()


def _instant(date: str) -> datetime:
    return utils.parse_date(date, utils.LEASE_DATE_FORMAT)
