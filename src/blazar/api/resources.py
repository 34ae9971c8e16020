"""The APIs of resource types, and the API that resources get which operators register for plugins.

Such resources have one form for all plugins. A plugin of another distribution declares them as a
:class:`~blazar.domain.collections.ResourceCollection`, a resource type of this one with :func:`api_of`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from stevedore import ExtensionManager

from blazar.api.call import Call
from blazar.api.permissions import BY_OPERATORS, BY_READERS, Rule
from blazar.api.route import Route
from blazar.api.routes import ROUTES, TYPE_APIS
from blazar.api.schema_parts import ID
from blazar.api.type_api import TypeApi
from blazar.api.validation import BodySchema, JsonSchema
from blazar.domain.collections import ResourceCollection

ENTRY_POINTS = "blazar.resource.collections"
"""The group of entry points of declarations; each has the name of its plugin's entry point."""


@dataclass(frozen=True, slots=True)
class Handlers:
    """The handlers of one collection."""

    collection: ResourceCollection

    def list_resources(self, call: Call) -> object:
        """Return all registered resources."""
        found = call.manager.list_resources(call.caller, self.collection.name)
        return {self.collection.plural: [dict(each) for each in found]}

    def get_resource(self, call: Call) -> object:
        """Return a registered resource."""
        resource_id = call.params["resource_id"]
        return self._one(call.manager.get_resource(call.caller, self.collection.name, resource_id))

    def create_resource(self, call: Call) -> object:
        """Register a resource and return it."""
        return self._one(call.manager.create_resource(call.caller, self.collection.name, call.body))

    def update_resource(self, call: Call) -> object:
        """Change a registered resource that is not reserved, and return it."""
        name, resource_id = self.collection.name, call.params["resource_id"]
        return self._one(call.manager.update_resource(call.caller, name, resource_id, call.body))

    def delete_resource(self, call: Call) -> object:
        """Remove a registered resource that is not reserved."""
        call.manager.delete_resource(call.caller, self.collection.name, call.params["resource_id"])
        return None

    def _one(self, found: object) -> object:
        return {self.collection.singular: found}


def _routes_of(collection: ResourceCollection) -> tuple[Route, ...]:
    handlers, rule, name = Handlers(collection), collection.rule, collection.path
    path = f"/v1/{name}"
    answer, answers = _answers_of(collection)
    on_all = partial(Route, path=path)
    on_one = partial(Route, path=f"{path}/{{resource_id}}")
    on_known = partial(on_one, looked_up_by=handlers.get_resource)
    listing = on_all(
        method="GET",
        handler=handlers.list_resources,
        name=f"list_{name}",
        rules=(rule("get"),),
        answer=answers,
    )
    creation = on_all(
        method="POST",
        handler=handlers.create_resource,
        name=f"create_{name}",
        rules=(rule("post"),),
        status=201,
        body=BodySchema(name=f"{name}-create", definition=collection.create_schema),
        answer=answer,
    )
    reading = on_one(
        method="GET", handler=handlers.get_resource, name=f"get_{name}", rules=(rule("get"),), answer=answer
    )
    removal = on_known(
        method="DELETE",
        handler=handlers.delete_resource,
        name=f"delete_{name}",
        rules=(rule("get"), rule("delete")),
        status=204,
    )
    if collection.update_schema is None:
        return listing, creation, reading, removal
    change = on_known(
        method="PUT",
        handler=handlers.update_resource,
        name=f"update_{name}",
        rules=(rule("get"), rule("put")),
        body=BodySchema(name=f"{name}-update", definition=collection.update_schema),
        answer=answer,
    )
    return listing, creation, reading, removal, change


def _answers_of(collection: ResourceCollection) -> tuple[JsonSchema, JsonSchema]:
    """Return the schemas of the responses with one resource, and with all."""
    resource: JsonSchema = {
        "type": "object",
        "description": "A resource also has the facts of its plugin.",
        "required": ["id", "name", "amounts", "reservable"],
        "properties": {
            "id": ID,
            "name": {"type": "string"},
            "amounts": {"type": "object"},
            "reservable": {"type": "boolean", "description": "Whether it can be reserved now."},
        },
    }
    one, several = collection.singular, collection.plural
    return (
        {"type": "object", "required": [one], "properties": {one: resource}},
        {
            "type": "object",
            "required": [several],
            "properties": {several: {"type": "array", "items": resource}},
        },
    )


def api_of(plugin: str, collection: ResourceCollection) -> TypeApi:
    """Return the API of a collection that the plugin with this entry point declares."""
    get = BY_READERS if "reader" in collection.readers else BY_OPERATORS
    rules = (
        ("get", get, "List and show"),
        ("post", BY_OPERATORS, "Register"),
        ("put", BY_OPERATORS, "Change"),
        ("delete", BY_OPERATORS, "Remove"),
    )
    return TypeApi(
        plugin=plugin,
        routes=_routes_of(collection),
        rules=tuple(
            Rule(name=collection.rule(action), check=check, description=f"{verb} {collection.plural}.")
            for action, check, verb in rules
            if action != "put" or collection.update_schema is not None
        ),
    )


def load_apis(plugins: Sequence[str]) -> tuple[TypeApi, ...]:
    """Return the APIs of the resource types whose plugins are named, also those of other distributions.

    Raises:
        ValueError: A declaration cannot be loaded or is invalid, or two of them have the same path.
    """
    own = tuple(each for each in TYPE_APIS if each.plugin in plugins)
    declared = _load_declared(plugins)
    _check(declared)
    return (*own, *(api_of(name, each) for name, each in declared.items()))


def _load_declared(plugins: Sequence[str]) -> Mapping[str, Any]:
    """Return the targets of the entry points of these plugins, in the order of the names."""
    failures: dict[str, BaseException] = {}
    found: ExtensionManager[Any] = ExtensionManager(
        ENTRY_POINTS,
        on_load_failure_callback=lambda _, entry_point, error: failures.update({entry_point.name: error}),
    )
    for name in plugins:
        if name in failures:
            raise ValueError(
                f"[manager] plugins: the collection of {name} cannot be loaded: {failures[name]}"
            )
    by_name: dict[str, Any] = {each.name: each.plugin for each in found}
    return {name: by_name[name] for name in dict.fromkeys(plugins) if name in by_name}


def _check(declared: Mapping[str, Any]) -> None:
    taken = {route.path for route in ROUTES}
    for each in declared.values():
        if not isinstance(each, ResourceCollection):
            raise ValueError(f"[manager] plugins: {each!r} is not a ResourceCollection")
        path = f"/v1/{each.path}"
        if path in taken:
            raise ValueError(f"[manager] plugins: the path {path} is served already")
        taken.add(path)
