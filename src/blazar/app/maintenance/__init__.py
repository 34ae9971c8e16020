"""Use cases of maintenance."""

from __future__ import annotations

from blazar.app.maintenance.use_cases import (
    create_maintenance,
    delete_maintenance,
    get_maintenance,
    list_maintenances,
    update_maintenance,
)

__all__ = (
    "create_maintenance",
    "delete_maintenance",
    "get_maintenance",
    "list_maintenances",
    "update_maintenance",
)
