"""The API that resources get which operators register for plugins, in one form for all of them.

A plugin of another distribution declares them as a :class:`~blazar.domain.collections.ResourceCollection`; a
resource type of this one makes its ``API`` with :func:`api_of`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from blazar.api.call import Call
from blazar.api.microversions import MIN_VERSION, Version
from blazar.api.permissions import BY_OPERATORS, BY_READERS, Rule
from blazar.api.route import Route
from blazar.api.schema_parts import ID
from blazar.api.type_api import TypeApi
from blazar.api.validation import BodySchema, JsonSchema
from blazar.domain.collections import ResourceCollection


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


def _routes_of(collection: ResourceCollection, since: Version) -> tuple[Route, ...]:
    handlers, rule, name = Handlers(collection), collection.rule, collection.path
    path = f"/v1/{name}"
    answer, answers = _answers_of(collection)
    on_all = partial(Route, path=path, since=since)
    on_one = partial(Route, path=f"{path}/{{resource_id}}", since=since)
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


def api_of(plugin: str, collection: ResourceCollection, *, since: Version = MIN_VERSION) -> TypeApi:
    """Return the API of a collection that the plugin with this entry point declares.

    Args:
        plugin: The name of the entry point.
        collection: The declaration.
        since: The first microversion in which its paths exist.
    """
    get = BY_READERS if "reader" in collection.readers else BY_OPERATORS
    rules = (
        ("get", get, "List and show"),
        ("post", BY_OPERATORS, "Register"),
        ("put", BY_OPERATORS, "Change"),
        ("delete", BY_OPERATORS, "Remove"),
    )
    return TypeApi(
        plugin=plugin,
        routes=_routes_of(collection, since),
        rules=tuple(
            Rule(name=collection.rule(action), check=check, description=f"{verb} {collection.plural}.")
            for action, check, verb in rules
            if action != "put" or collection.update_schema is not None
        ),
    )
