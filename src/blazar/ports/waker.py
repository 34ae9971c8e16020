"""Port: waking the reconcilers when there is work."""

from __future__ import annotations

from typing import Protocol


class Waker(Protocol):
    """Wakes the reconcilers of this process and of other managers; a wake may be lost or superfluous."""

    def wake(self) -> None:
        """Announce that work was committed."""
