"""The only place that asks this machine for the time and where it is."""

from __future__ import annotations

import os
import threading
import time
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

_LOCALTIME = Path("/etc/localtime")


def now() -> datetime:
    """Return the present instant, in UTC."""
    return datetime.fromtimestamp(time.time(), UTC)


def pause(seconds: float) -> None:
    """Return after so many seconds."""
    threading.Event().wait(seconds)


def local_zone() -> tzinfo:
    """Return the time zone of the user: ``TZ`` if it names one, else that of this machine."""
    for name in (os.environ.get("TZ", "").lstrip(":"), _name_of(_LOCALTIME)):
        try:
            return ZoneInfo(name)
        except (ValueError, OSError, LookupError):
            continue
    return datetime.fromtimestamp(time.time(), UTC).astimezone().tzinfo or UTC


def _name_of(link: Path) -> str:
    """Return the name of the zone that a link into the zones' database stands for, "" if it is none."""
    return str(link.resolve()).partition("zoneinfo/")[2]
