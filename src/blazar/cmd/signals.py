"""Shutdown on signals."""

from __future__ import annotations

import signal
import threading


def stop_event() -> threading.Event:
    """Return an event that is set when the process receives SIGTERM or SIGINT."""
    event = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: event.set())
    return event
