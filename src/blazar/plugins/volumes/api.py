"""The API of storage pools, and the schema of reservations of their capacity."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from blazar.api.collection_api import api_of
from blazar.api.microversions import NEW_COLLECTIONS
from blazar.api.schema_parts import AFFINITY, REQUIREMENT
from blazar.api.type_api import TypeApi
from blazar.api.validation import JsonSchema
from blazar.plugins.volumes.pool_spec import EndAction
from blazar.plugins.volumes.pools import STORAGE_POOLS
from blazar.plugins.volumes.requested import LONGEST_NAME, MOST_VOLUMES

_COUNT: Final[JsonSchema] = {"type": ["integer", "string"], "minimum": 1, "maximum": 2**31 - 1}

RESERVATION_KEYS: Final[dict[str, JsonSchema]] = {
    "volume_name": {
        "type": "string",
        "maxLength": 200,
        "description": "The description of the volume types in Cinder.",
    },
    "before_end": {
        "enum": ["", "default", "snapshot"],
        "description": "`snapshot` copies each volume before the end, to a backup or a snapshot, as "
        "the operator configures; the operator may not offer it. Otherwise, nothing is done.",
    },
    "end_action": {
        "enum": [each.value for each in EndAction],
        "default": EndAction.DELETE.value,
        "description": "What becomes of the volumes at the end: they are deleted, which is the "
        "default, moved to an ordinary volume type, or kept without access for a grace period and "
        "then deleted. The operator may not offer the last two.",
    },
}
"""The keys that all reservations of storage pools have, except for the properties of the pools."""

_SCHEMAS: Final[dict[str, JsonSchema]] = {
    "VolumeReservationCreate": {
        "type": "object",
        "description": "Request for a reservation of capacity in storage pools, `virtual:volume`.",
        "required": ["resource_type", "gibibytes"],
        "properties": {
            "resource_type": {"const": "virtual:volume"},
            "gibibytes": {
                **_COUNT,
                "description": "The size of each part in GiB; each part is in one pool. May be a numeric "
                "string.",
            },
            "amount": {
                **_COUNT,
                "description": "The number of parts, 1 by default. May be a numeric string.",
            },
            "affinity": AFFINITY,
            "resource_properties": REQUIREMENT,
            "volumes": {
                "type": ["array", "null"],
                "maxItems": MOST_VOLUMES,
                "description": "Volumes that are created at the start, once. They must fit into the parts. "
                "The operator may not offer this.",
                "items": {
                    "type": "object",
                    "required": ["size", "name"],
                    "properties": {
                        "size": {**_COUNT, "description": "In GiB. May be a numeric string."},
                        "name": {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME},
                        "image": {
                            "type": ["string", "null"],
                            "description": "The id of an image that is copied to the volume.",
                        },
                    },
                },
            },
            **RESERVATION_KEYS,
        },
    },
}

API: Final[TypeApi] = replace(
    api_of("virtual.volume.plugin", STORAGE_POOLS, since=NEW_COLLECTIONS), schemas=_SCHEMAS
)
