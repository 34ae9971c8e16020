"""What most filters have in common."""

from __future__ import annotations

from blazar.ports.enforcement import JsonObject, LeaseUsage, Occasion


class Filter:
    """A filter that allows everything and wants to hear nothing afterwards."""

    def check_create(self, usage: LeaseUsage, key: str) -> None:
        """Return: the lease may be made."""

    def check_update(self, current: LeaseUsage, usage: LeaseUsage, key: str) -> None:
        """Return: the lease may be changed."""

    def wants(self, occasion: Occasion, project_id: str | None) -> bool:
        """Return False."""
        return False

    def deliver(self, occasion: Occasion, document: JsonObject, key: str) -> None:
        """Do nothing."""
