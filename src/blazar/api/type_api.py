"""Declaration of the API of a resource type, in ``api.py`` of its folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from blazar.api.permissions import Rule
    from blazar.api.route import Route
    from blazar.api.validation import JsonSchema
    from blazar.domain.errors import BlazarError


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeApi:
    """The endpoints of a resource type, with all that belongs to them.

    Handlers are called as those of the core. They reach the type's use cases through the ``REQUESTS`` of its
    folder.
    """

    plugin: str
    """The entry point of the plugin that must be enabled for the routes to be served."""
    routes: tuple[Route, ...] = ()
    rules: tuple[Rule, ...] = ()
    """The policy rules that the routes name, except those of the core."""
    schemas: Mapping[str, JsonSchema] = field(default_factory=dict)
    """Schemas for the OpenAPI document by name: those of responses, and of reservations of the type."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Descriptions of query parameters that only these routes have."""
    shortages_at_1_0: Mapping[int, Mapping[type[BlazarError], int]] = field(default_factory=dict)
    """The statuses of shortages of this type that differ from the core's, by ``[api] shortage_status``."""


def reservation_schemas(types: Iterable[TypeApi]) -> dict[str, JsonSchema]:
    """Return the schemas of requests for reservations, by the resource type that each has as its constant."""
    found = {}
    for schema in (schema for each in types for schema in each.schemas.values()):
        properties = cast("Mapping[str, JsonSchema]", schema.get("properties", {}))
        resource_type = properties.get("resource_type", {})
        if "const" in resource_type:
            found[str(resource_type["const"])] = schema
    return found
