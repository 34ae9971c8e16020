"""The schema of reservations of whole storage pools, whose API is that of all reservations of pools."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from blazar.api.schema_parts import REQUIREMENT
from blazar.api.type_api import TypeApi
from blazar.api.validation import JsonSchema
from blazar.plugins.volumes.api import API as POOL_API
from blazar.plugins.volumes.api import RESERVATION_KEYS

_COUNT: Final[JsonSchema] = {"type": ["integer", "string"], "minimum": 1, "maximum": 2**31 - 1}

_SCHEMAS: Final[dict[str, JsonSchema]] = {
    "StorageReservationCreate": {
        "type": "object",
        "description": "Request for a reservation of whole storage pools, `physical:storage`.",
        "required": ["resource_type", "min", "max"],
        "properties": {
            "resource_type": {"const": "physical:storage"},
            "min": {**_COUNT, "description": "The least number of pools. May be a numeric string."},
            "max": {
                **_COUNT,
                "description": "The number of pools that are reserved if that many are available. May be a "
                "numeric string.",
            },
            "resource_properties": REQUIREMENT,
            **RESERVATION_KEYS,
        },
    },
}

API: Final[TypeApi] = replace(POOL_API, plugin="physical.storage.plugin", schemas=_SCHEMAS)
