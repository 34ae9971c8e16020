"""The schema of flavor reservations."""

from __future__ import annotations

from typing import Final

from blazar.api.schema_parts import AFFINITY, AMOUNT, REQUIREMENT
from blazar.api.type_api import TypeApi
from blazar.api.validation import JsonSchema

_SOURCE_FLAVOR = "The id, not the name, of a flavor that the caller may use; otherwise the status is 404."


_SCHEMAS: Final[dict[str, JsonSchema]] = {
    "FlavorReservationCreate": {
        "type": "object",
        "description": "Request for a reservation of instances of a flavor, `flavor:instance`.",
        "required": ["resource_type", "flavor_id", "amount", "affinity"],
        "properties": {
            "resource_type": {"const": "flavor:instance"},
            "flavor_id": {"type": ["string", "integer"], "description": _SOURCE_FLAVOR},
            "amount": AMOUNT,
            "affinity": AFFINITY,
            "resource_properties": REQUIREMENT,
        },
    },
}

API: Final = TypeApi(
    plugin="flavor.instance.plugin",
    schemas=_SCHEMAS,
)
