"""The schema of instance reservations."""

from __future__ import annotations

from typing import Final

from blazar.api.schema_parts import AFFINITY, AMOUNT, REQUIREMENT, SIZE
from blazar.api.type_api import TypeApi
from blazar.api.validation import JsonSchema

_SCHEMAS: Final[dict[str, JsonSchema]] = {
    "InstanceReservationCreate": {
        "type": "object",
        "description": "Request for a reservation of instances of one size, `virtual:instance`.",
        "required": [
            *("resource_type", "vcpus", "memory_mb", "disk_gb"),
            *("amount", "affinity", "resource_properties"),
        ],
        "properties": {
            "resource_type": {"const": "virtual:instance"},
            "vcpus": SIZE,
            "memory_mb": SIZE,
            "disk_gb": SIZE,
            "amount": AMOUNT,
            "affinity": AFFINITY,
            "resource_properties": REQUIREMENT,
        },
    },
}

API: Final = TypeApi(
    plugin="virtual.instance.plugin",
    schemas=_SCHEMAS,
)
