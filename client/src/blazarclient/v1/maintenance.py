"""Maintenance of resources, for operators."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from blazarclient import base, utils
from blazarclient.base import Record, Records, many, one, path

_COLLECTION = "maintenance"


class MaintenanceClientManager(base.BaseClientManager):
    """Resources that no new lease gets for a period.

    Each method raises NotFound if the service does not support API version 1.1.
    """

    def create(  # noqa: PLR0913 — the keys of the request
        self,
        resources: list[str] | None = None,
        *,
        requirement: str | None = None,
        aggregate: str | None = None,
        resource_type: str | None = None,
        start: str | datetime | None = None,
        end: str | datetime | None = None,
        reason: str = "",
        leave_pool: bool = False,
        dry_run: bool = False,
    ) -> Record:
        """Keep leases away from resources, and return the maintenance with its effects on leases.

        Args:
            resources: Names or ids.
            requirement: A requirement, such as ``rack=r3``. The resources must satisfy all selections.
            aggregate: The name of an aggregate of Nova.
            resource_type: The type of the resources; None for that of hosts.
            start: Start date; None for now.
            end: End date; None for a maintenance that lasts until it is ended.
            reason: A text for the owners of leases that keep a resource.
            leave_pool: Whether resources that no lease holds leave their pool.
            dry_run: Whether to return the plan without any effect.

        Returns:
            The maintenance, with ``moves``, and with ``active`` and ``unmovable``: what leases keep.
        """
        body: dict[str, Any] = {
            "resources": resources,
            "filter": requirement,
            "aggregate": aggregate,
            "resource_type": resource_type,
            "start_date": utils.to_api_date(start),
            "end_date": utils.to_api_date(end),
            "reason": reason,
            "leave_pool": leave_pool,
        }
        body = {key: value for key, value in body.items() if value is not None}
        url = f"/{_COLLECTION}?dry_run=true" if dry_run else f"/{_COLLECTION}"
        return one(self._ask("POST", url, body), "maintenance")

    def get(self, maintenance_id: str) -> Record:
        """Return a maintenance, with the resources that leases hold now."""
        return one(self._ask("GET", path(_COLLECTION, maintenance_id)), "maintenance")

    def list(self, sort_by: str | None = None) -> Records:
        """Return all maintenances, sorted by the key *sort_by* if given."""
        return many(self._ask("GET", path(_COLLECTION)), "maintenances", sort_by)

    def update(self, maintenance_id: str, values: Record) -> Record:
        """Change a maintenance and return it.

        Args:
            maintenance_id: Id of the maintenance.
            values: ``end_date``, ``reason`` or ``remove_resources``, in the form of the API.
        """
        return one(self._ask("PUT", path(_COLLECTION, maintenance_id), values), "maintenance")

    def end(self, maintenance_id: str) -> Record:
        """End a maintenance now, and return it."""
        return self.update(maintenance_id, {"end_date": "now"})

    def delete(self, maintenance_id: str) -> None:
        """End a maintenance, and delete it."""
        self._ask("DELETE", path(_COLLECTION, maintenance_id))

    def _ask(self, method: str, url: str, body: Record | None = None) -> Any:
        content = {} if body is None else {"body": body}
        _response, found = self.request_manager.request(url, method, headers=base.API_1_1, **content)
        return found
