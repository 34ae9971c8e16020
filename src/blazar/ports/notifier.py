"""Port: delivery of notifications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Notifier(Protocol):
    """Delivers one notification."""

    def notify(self, event_type: str, payload: Mapping[str, object]) -> None:
        """Deliver a notification. Raises Unavailable if delivery fails."""
