"""Telling whoever reconciles that there is something to do."""

from __future__ import annotations

from typing import Protocol


class Waker(Protocol):
    """Wakes this process's reconciler and those of the other managers; may be lost, never harms."""

    def wake(self) -> None:
        """Say that work was committed."""
