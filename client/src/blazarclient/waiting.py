"""Waiting until a lease has settled, with a line of progress."""

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
class Patience:
    """How long to wait, and by which clock."""

    timeout: timedelta | None
    """None for as long as it takes."""
    now: Callable[[], datetime]
    pause: Callable[[float], None]
    progress: TextIO
    """Where the line of progress goes."""


def is_settled(lease: Record, now: datetime) -> bool:
    """Return whether nothing is going on, and nothing is due, in a lease."""
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


def until_settled(look: Callable[[], Record], patience: Patience, passing: Collection[str] = ()) -> Record:
    """Return the lease when it has settled.

    Args:
        look: Return the lease as it is.
        patience: How long to wait.
        passing: Statuses that cannot be the last one, whatever this machine's clock says: who starts a
            lease now does not want to see it ``PENDING``.

    Raises:
        WaitTimeout: It has not in time.
        LeaseInError: It has settled in the status ERROR.
    """
    lease = _until(
        look, lambda lease, now: lease["status"] not in passing and is_settled(lease, now), patience
    )
    if lease["status"] == "ERROR":
        raise exception.LeaseInError(_("Lease %s is in ERROR") % lease["id"])
    return lease


def until_gone(look: Callable[[], Record], patience: Patience) -> None:
    """Return when there is no such lease any more.

    Raises:
        WaitTimeout: There still is one.
        LeaseInError: It could not be deleted.
    """
    try:
        lease = _until(look, lambda lease, _now: lease["status"] == "ERROR", patience)
    except exception.NotFound:
        return
    raise exception.LeaseInError(_("Lease %s is in ERROR") % lease["id"])


def _until(
    look: Callable[[], Record], is_done: Callable[[Record, datetime], bool], patience: Patience
) -> Record:
    begun = patience.now()
    progress = _Progress(patience.progress)
    pause = _FIRST_PAUSE_SECONDS
    try:
        while True:
            lease = look()
            now = patience.now()
            progress.show(lease, now - begun)
            if is_done(lease, now):
                return lease
            if patience.timeout is not None and now - begun >= patience.timeout:
                raise exception.WaitTimeout(
                    _("Lease %(id)s is still %(status)s after %(seconds)d s")
                    % {
                        "id": lease["id"],
                        "status": lease["status"],
                        "seconds": (now - begun).total_seconds(),
                    }
                )
            patience.pause(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE_SECONDS)
    finally:
        progress.end()


class _Progress:
    """One line, written over on a terminal; elsewhere a line whenever the status changes."""

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
