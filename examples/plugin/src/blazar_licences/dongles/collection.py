"""The API of dongles: ``/v1/dongles``. The entry point of the group ``blazar.resource.collections``."""

from __future__ import annotations

from typing import Final

from blazar.domain.collections import ResourceCollection

_TEXT: Final = {"type": "string", "minLength": 1, "maxLength": 80}

DONGLES: Final = ResourceCollection(
    name="dongle",
    path="dongles",
    singular="dongle",
    plural="dongles",
    create_name_key="serial",
    create_schema={
        "type": "object",
        "required": ["serial", "product"],
        "examples": [{"serial": "D-1", "product": "cad", "drawer": "A3"}],
        "properties": {"serial": _TEXT, "product": _TEXT, "drawer": _TEXT},
        "additionalProperties": False,
    },
    update_schema={
        "type": "object",
        "minProperties": 1,
        "properties": {"product": _TEXT, "drawer": _TEXT},
        "additionalProperties": False,
    },
    readers=frozenset({"admin", "reader"}),
)
