"""The API of network segments, and the schema of their reservations."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from blazar.api.collection_api import api_of
from blazar.api.schema_parts import REQUIREMENT
from blazar.api.type_api import TypeApi
from blazar.api.validation import JsonSchema
from blazar.plugins.networks.segments import NETWORKS
from blazar.plugins.networks.spec import LONGEST_TEXT

_SCHEMAS: Final[dict[str, JsonSchema]] = {
    "NetworkReservationCreate": {
        "type": "object",
        "description": "Request for a reservation of network segments, `network`.",
        "required": ["resource_type", "network_name"],
        "properties": {
            "resource_type": {"const": "network"},
            "amount": {
                "type": ["integer", "string", "null"],
                "minimum": 1,
                "maximum": 2**31 - 1,
                "description": "The number of segments, 1 by default. May be a numeric string.",
            },
            "network_name": {
                "type": "string",
                "maxLength": LONGEST_TEXT,
                "description": "The name of the network, followed by a number if there are several; if "
                "it is empty, the name of the reservation.",
            },
            "network_description": {
                "type": ["string", "null"],
                "maxLength": LONGEST_TEXT,
                "description": "The description of the network, to which the service adds the reservation.",
            },
            "network_properties": REQUIREMENT,
            "resource_properties": REQUIREMENT,
            "before_end": {
                "enum": ["", "default", "email", None],
                "description": "Accepted for clients that send it; only the before-end notification is sent.",
            },
        },
    },
}

API: Final[TypeApi] = replace(api_of("network.plugin", NETWORKS), schemas=_SCHEMAS)
"""Without a first microversion: clients of an existing extension use these paths at 1.0."""
