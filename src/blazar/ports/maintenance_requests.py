"""Port: the requests to a manager about maintenance; a part of :class:`blazar.ports.manager.Manager`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from blazar.ports.manager import Caller, JsonObject


class MaintenanceRequests(Protocol):
    """The use cases of maintenance."""

    def create_maintenance(self, caller: Caller, body: JsonObject, is_dry_run: bool) -> JsonObject:
        """Book resources for maintenance, and move the reservations that have not started.

        Args:
            caller: The caller.
            body: ``resources``, ``filter`` or ``aggregate``, and optionally ``resource_type``,
                ``start_date``, ``end_date``, ``reason`` and ``leave_pool``.
            is_dry_run: Whether nothing is to be stored.

        Returns:
            The maintenance, with ``moves``, and with ``active`` and ``unmovable``: the leases that keep
            resources.

        Raises:
            BadRequest: The body is invalid, or selects no resource.
        """

    def list_maintenances(self, caller: Caller) -> Sequence[JsonObject]:
        """Return all maintenances, in the order of their starts."""

    def get_maintenance(self, caller: Caller, maintenance_id: str) -> JsonObject:
        """Return a maintenance as :meth:`create_maintenance`. Raises MaintenanceNotFound."""

    def update_maintenance(self, caller: Caller, maintenance_id: str, body: JsonObject) -> JsonObject:
        """Change a maintenance and return it.

        Args:
            caller: The caller.
            maintenance_id: The maintenance.
            body: ``end_date``, ``reason`` or ``remove_resources``.

        Raises:
            MaintenanceNotFound: There is none with this id.
            BadRequest: The body is invalid, or the maintenance has ended.
        """

    def delete_maintenance(self, caller: Caller, maintenance_id: str) -> None:
        """End a maintenance, and delete it. Raises MaintenanceNotFound."""
