"""System clock and time zone; no other module reads them."""

from __future__ import annotations

import os
import threading
import time
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

_LOCALTIME = Path("/etc/localtime")


def now() -> datetime:
    """Return the current time, in UTC."""
    return datetime.fromtimestamp(time.time(), UTC)


def pause(seconds: float) -> None:
    """Wait for a number of seconds."""
    threading.Event().wait(seconds)


def local_zone() -> tzinfo:
    """Return the user's time zone: ``TZ`` if it is a known name, else the time zone of this machine."""
    for name in (os.environ.get("TZ", "").lstrip(":"), _name_of(_LOCALTIME)):
        try:
            return ZoneInfo(name)
        except (ValueError, OSError, LookupError):
            continue
    return datetime.fromtimestamp(time.time(), UTC).astimezone().tzinfo or UTC


def _name_of(link: Path) -> str:
    """Return the name of the zone that *link* points to in the time zone database, or ""."""
    return str(link.resolve()).partition("zoneinfo/")[2]
