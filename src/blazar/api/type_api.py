"""Declaration of the API of a resource type, in ``api.py`` of its folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from blazar.api.permissions import Rule
    from blazar.api.route import Route
    from blazar.api.validation import JsonSchema
    from blazar.domain.errors import BlazarError
    from blazar.ports.manager import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredCollection:
    """A collection that operators register: its path, and the keys of names, which routes do not have."""

    path: str
    """The path of the list below ``/v1``."""
    name_key: str
    """The key of a listed resource with the name by which people know it."""
    create_name_key: str | None
    """The key of a registration whose value becomes that name; None if the name is made of several keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeApi:
    """The endpoints of a resource type, with everything that belongs to them.

    Handlers are called as those of the core. They reach the type's use cases through the ``REQUESTS`` of its
    folder.
    """

    plugin: str
    """The entry point of the plugin that must be enabled for the routes to be served."""
    routes: tuple[Route, ...] = ()
    collection: RegisteredCollection | None = None
    """The resources of the type, if operators register them. Types of the same resources declare the same."""
    rules: tuple[Rule, ...] = ()
    """The policy rules that the routes name, except those of the core."""
    schemas: Mapping[str, JsonSchema] = field(default_factory=dict)
    """Schemas for the OpenAPI document by name: those of responses, and of reservations of the type."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Descriptions of query parameters that only these routes have."""
    shortages_at_1_0: Mapping[int, Mapping[type[BlazarError], int]] = field(default_factory=dict)
    """The statuses of shortages of this type that differ from the core's, by ``[api] shortage_status``."""


def describe_collections(types: Iterable[TypeApi]) -> list[JsonObject]:
    """Return the entries of the catalogue for the collections that these types serve, by path."""
    found = {
        each.collection.path: _describe(each.collection, each.routes)
        for each in types
        if each.collection is not None
    }
    return [found[path] for path in sorted(found)]


def _describe(collection: RegisteredCollection, routes: Iterable[Route]) -> JsonObject:
    """Return an entry; everything but the keys of names follows from the routes."""
    path = f"/v1/{collection.path}"
    served = {(each.method, each.path): each for each in routes}
    listed, creation = served["GET", path], served["POST", path]
    of_one = [each for each in served.values() if each.path.startswith(f"{path}/{{")]
    change = next((each for each in of_one if each.method == "PUT"), None)
    allocations = served.get(("GET", f"{path}/allocations"))
    return {
        "path": collection.path,
        "list_key": _key_of(listed),
        "name_key": collection.name_key,
        "create_name_key": collection.create_name_key,
        "create_schema": _schema_of(creation),
        "update_schema": None if change is None else _schema_of(change),
        "has_pages": listed.pages is not None,
        "allocation_filters": None if allocations is None else list(_filters_of(allocations)),
    }


def _key_of(listed: Route) -> str:
    """Return the only key that the answer always has."""
    [key] = cast("Sequence[str]", (listed.answer or {})["required"])
    return key


def _schema_of(route: Route) -> JsonSchema:
    return {} if route.body is None else route.body.definition


def _filters_of(listed: Route) -> Sequence[str]:
    return listed.query if listed.pages is None else listed.pages.filters


def reservation_schemas(types: Iterable[TypeApi]) -> dict[str, JsonSchema]:
    """Return the schemas of requests for reservations, by the resource type that each has as its constant."""
    found = {}
    for schema in (schema for each in types for schema in each.schemas.values()):
        properties = cast("Mapping[str, JsonSchema]", schema.get("properties", {}))
        resource_type = properties.get("resource_type", {})
        if "const" in resource_type:
            found[str(resource_type["const"])] = schema
    return found
