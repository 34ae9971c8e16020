"""Resource properties in requests and responses, in one form for all resource types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from blazar.api.call import Call
from blazar.api.schema_parts import ID, INSTANT_OR_NULL, complete
from blazar.api.validation import BodySchema, JsonSchema
from blazar.ports.manager import JsonObject

QUERY: Final = ("detail", "all")
"""The parameters of lists of properties."""
PROPERTY_UPDATE: Final = BodySchema(
    name="ResourcePropertyUpdate",
    definition={
        "type": "object",
        "description": "Other keys are ignored. Without `private`, nothing changes.",
        "properties": {"private": {"enum": [True, False, 0, 1]}},
    },
)
PROPERTY_SCHEMAS: Final[Mapping[str, JsonSchema]] = {
    "ResourcePropertyListed": {
        "type": "object",
        "description": "`private` and `values` are present if details are requested.",
        "required": ["property"],
        "properties": {
            "property": {"type": "string"},
            "private": {"type": "boolean"},
            "values": {"type": "array", "items": {"type": "string"}},
        },
    },
    "ResourceProperty": complete(
        id=ID,
        resource_type={"type": "string"},
        property_name={"type": "string"},
        private={"type": "boolean"},
        created_at=INSTANT_OR_NULL,
        updated_at=INSTANT_OR_NULL,
    ),
}

_NO_WORDS: Final = frozenset({"", "false", "0", "no", "off"})


def respond_with_properties(call: Call, find: Callable[[bool], Sequence[JsonObject]]) -> object:
    """Return a list of properties; private ones only if an operator requests all.

    Args:
        call: The request.
        find: Returns the properties; if its argument is true, also the private ones.
    """
    found = find(_is_set(call, "all") and call.property_caller.sees_private_properties)
    keys = ("property", "private", "values") if _is_set(call, "detail") else ("property",)
    return {"resource_properties": [{key: each[key] for key in keys} for each in found]}


def requested_privacy(call: Call) -> bool | None:
    """Return whether a change makes a property private; None for no change."""
    return bool(call.body["private"]) if "private" in call.body else None


def _is_set(call: Call, flag: str) -> bool:
    """Return whether a flag of the query is set to a word other than those in `_NO_WORDS`."""
    return call.query.get(flag, "").strip().lower() not in _NO_WORDS
