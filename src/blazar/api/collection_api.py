"""The API of resources that operators register for plugins, in one form for all of them.

A plugin of another distribution declares such resources as a
:class:`~blazar.domain.collections.ResourceCollection`; a resource type of this one makes its ``API`` with
:func:`api_of`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from blazar.api.call import Call
from blazar.api.microversions import MIN_VERSION, Version
from blazar.api.permissions import BY_OPERATORS, BY_READERS, PRIVATE_PROPERTIES, Rule
from blazar.api.properties import PROPERTY_UPDATE, QUERY, requested_privacy, respond_with_properties
from blazar.api.route import Route
from blazar.api.schema_parts import HEALTH_REASON, ID, wrapped, wrapped_list
from blazar.api.type_api import RegisteredCollection, TypeApi
from blazar.api.validation import BodySchema, JsonSchema
from blazar.domain.collections import ResourceCollection


@dataclass(frozen=True, slots=True)
class Handlers:
    """The handlers of one collection."""

    collection: ResourceCollection

    def list_resources(self, call: Call) -> object:
        """Return all registered resources."""
        found = call.manager.list_resources(call.property_caller, self.collection.name)
        return {self.collection.plural: [dict(each) for each in found]}

    def get_resource(self, call: Call) -> object:
        """Return a registered resource."""
        resource_id = call.params["resource_id"]
        return self._one(call.manager.get_resource(call.property_caller, self.collection.name, resource_id))

    def create_resource(self, call: Call) -> object:
        """Register a resource and return it."""
        return self._one(call.manager.create_resource(call.caller, self.collection.name, call.body))

    def create_resources(self, call: Call) -> object:
        """Register one resource or several, and return them."""
        made = call.manager.create_resources(call.caller, self.collection.name, call.body)
        if len(made) == 1:
            return self._one(made[0])
        return {self.collection.plural: [dict(each) for each in made]}

    def update_resource(self, call: Call) -> object:
        """Change a registered resource that is not reserved, and return it."""
        name, resource_id = self.collection.name, call.params["resource_id"]
        return self._one(call.manager.update_resource(call.caller, name, resource_id, call.body))

    def delete_resource(self, call: Call) -> object:
        """Remove a registered resource that is not reserved."""
        call.manager.delete_resource(call.caller, self.collection.name, call.params["resource_id"])
        return None

    def list_allocations(self, call: Call) -> object:
        """Return the allocations of every registered resource; one without any has an empty list."""
        name = self.collection.name
        found = call.manager.list_resource_allocations(call.caller, name, *_asked_for(call))
        return {"allocations": [dict(each) for each in found]}

    def get_allocations(self, call: Call) -> object:
        """Return the allocations of a registered resource."""
        name, resource_id = self.collection.name, call.params["resource_id"]
        found = call.manager.get_resource_allocations(call.caller, name, resource_id, *_asked_for(call))
        return {"allocation": found}

    def list_properties(self, call: Call) -> object:
        """Return the properties of registered resources; private ones only if an operator requests all."""
        find = partial(call.manager.list_collection_properties, call.caller, self.collection.name)
        return respond_with_properties(call, find)

    def update_property(self, call: Call) -> object:
        """Make a property private or public and return it."""
        name, private = call.params["property_name"], requested_privacy(call)
        changed = call.manager.update_collection_property(call.caller, self.collection.name, name, private)
        return {"resource_property": changed}

    def _one(self, found: object) -> object:
        return {self.collection.singular: found}


def _asked_for(call: Call) -> tuple[str | None, str | None]:
    """Return the lease and the reservation whose allocations a request asks for."""
    return call.query.get("lease_id") or None, call.query.get("reservation_id") or None


def _routes_of(collection: ResourceCollection, since: Version) -> tuple[Route, ...]:
    return (
        *_reading_routes(collection, since),
        *_changing_routes(collection, since),
        *_allocation_routes(collection, since),
        *_property_routes(collection, since),
    )


def _reading_routes(collection: ResourceCollection, since: Version) -> tuple[Route, ...]:
    handlers, rule, name = Handlers(collection), collection.rule, collection.path
    answer, answers, _ = _answers_of(collection)
    route = partial(
        Route, method="GET", since=since, rules=(rule("get"),), asked_by_handler=(PRIVATE_PROPERTIES,)
    )
    return (
        route(path=f"/v1/{name}", handler=handlers.list_resources, name=f"list_{name}", answer=answers),
        route(
            path=f"/v1/{name}/{{resource_id}}",
            handler=handlers.get_resource,
            name=f"get_{name}",
            answer=answer,
        ),
    )


def _changing_routes(collection: ResourceCollection, since: Version) -> tuple[Route, ...]:
    handlers, rule, name = Handlers(collection), collection.rule, collection.path
    answer, _, made = _answers_of(collection)
    on_known = partial(
        Route, path=f"/v1/{name}/{{resource_id}}", since=since, looked_up_by=handlers.get_resource
    )
    creation = Route(
        method="POST",
        path=f"/v1/{name}",
        since=since,
        handler=handlers.create_resources if collection.registers_several else handlers.create_resource,
        name=f"create_{name}",
        rules=(rule("post"),),
        status=201,
        body=BodySchema(name=f"{name}-create", definition=collection.create_schema),
        answer=made,
    )
    removal = on_known(
        method="DELETE",
        handler=handlers.delete_resource,
        name=f"delete_{name}",
        rules=(rule("get"), rule("delete")),
        status=204,
    )
    if collection.update_schema is None:
        return creation, removal
    change = on_known(
        method="PUT",
        handler=handlers.update_resource,
        name=f"update_{name}",
        rules=(rule("get"), rule("put")),
        body=BodySchema(name=f"{name}-update", definition=collection.update_schema),
        answer=answer,
    )
    return creation, change, removal


def _allocation_routes(collection: ResourceCollection, since: Version) -> tuple[Route, ...]:
    handlers, rule, name = Handlers(collection), collection.rule, collection.path
    route = partial(Route, method="GET", since=since, query=("lease_id", "reservation_id"))
    return (
        route(
            path=f"/v1/{name}/allocations",
            handler=handlers.list_allocations,
            name=f"list_{name}_allocations",
            rules=(rule("get_allocations"),),
            answer=wrapped_list("allocations", "ResourceAllocations"),
        ),
        route(
            path=f"/v1/{name}/{{resource_id}}/allocation",
            handler=handlers.get_allocations,
            name=f"get_{name}_allocations",
            rules=(rule("get"), rule("get_allocations")),
            answer=wrapped("allocation", "ResourceAllocations"),
        ),
    )


def _property_routes(collection: ResourceCollection, since: Version) -> tuple[Route, ...]:
    handlers, rule, name = Handlers(collection), collection.rule, collection.path
    return (
        Route(
            method="GET",
            path=f"/v1/{name}/properties",
            handler=handlers.list_properties,
            name=f"list_{name}_properties",
            since=since,
            rules=(rule("get_resource_properties"),),
            asked_by_handler=(PRIVATE_PROPERTIES,),
            query=QUERY,
            answer=wrapped_list("resource_properties", "ResourcePropertyListed"),
        ),
        Route(
            method="PATCH",
            path=f"/v1/{name}/properties/{{property_name}}",
            handler=handlers.update_property,
            name=f"update_{name}_property",
            since=since,
            rules=(rule("update_resource_properties"),),
            body=PROPERTY_UPDATE,
            answer=wrapped("resource_property", "ResourceProperty"),
        ),
    )


def _answers_of(collection: ResourceCollection) -> tuple[JsonSchema, JsonSchema, JsonSchema]:
    """Return the schemas of the responses with one resource, with all, and to a registration."""
    resource: JsonSchema = {
        "type": "object",
        "description": "A resource also has the facts of its plugin.",
        "required": ["id", "name", "amounts", "reservable"],
        "properties": {
            "id": ID,
            "name": {"type": "string"},
            "amounts": {"type": "object"},
            "reservable": {"type": "boolean", "description": "Whether it can be reserved now."},
            "health_reason": HEALTH_REASON,
        },
    }
    one, several = collection.singular, collection.plural
    answer = {"type": "object", "required": [one], "properties": {one: resource}}
    answers = {
        "type": "object",
        "required": [several],
        "properties": {several: {"type": "array", "items": resource}},
    }
    return answer, answers, {"anyOf": [answer, answers]} if collection.registers_several else answer


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
        ("get_allocations", BY_OPERATORS, "Read the allocations of"),
        ("get_resource_properties", BY_OPERATORS, "List the properties of"),
        ("update_resource_properties", BY_OPERATORS, "Make private or public the properties of"),
    )
    return TypeApi(
        plugin=plugin,
        routes=_routes_of(collection, since),
        collection=RegisteredCollection(
            path=collection.path, name_key="name", create_name_key=collection.create_name_key
        ),
        rules=tuple(
            Rule(name=collection.rule(action), check=check, description=f"{verb} {collection.plural}.")
            for action, check, verb in rules
            if action != "put" or collection.update_schema is not None
        ),
    )
