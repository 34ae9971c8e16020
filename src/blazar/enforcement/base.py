"""Base class of filters."""

from __future__ import annotations

from blazar.ports.enforcement import JsonObject, LeaseUsage, Occasion


class Filter:
    """A filter that allows everything and wants no messages."""

    def check_create(self, usage: LeaseUsage, key: str) -> None:
        """Allow the new lease."""

    def check_update(self, current: LeaseUsage, usage: LeaseUsage, key: str) -> None:
        """Allow the change."""

    def wants(self, occasion: Occasion, project_id: str | None) -> bool:
        """Return False."""
        return False

    def deliver(self, occasion: Occasion, document: JsonObject, key: str) -> None:
        """Do nothing."""
