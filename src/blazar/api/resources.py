"""The API of resources that operators register for plugins: routes, handlers and policy rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from oslo_policy import policy
from stevedore import ExtensionManager

from blazar.api.call import Call
from blazar.api.routes import ROUTES, Route
from blazar.api.validation import BodySchema
from blazar.domain.collections import ResourceCollection

ENTRY_POINTS = "blazar.resource.collections"
"""The group of entry points of declarations; each has the name of its plugin's entry point."""

_READER = "rule:project_reader_or_admin"
_ADMIN = "rule:admin"


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


def routes_of(collection: ResourceCollection) -> tuple[Route, ...]:
    """Return the routes of a collection."""
    handlers, rule = Handlers(collection), collection.rule
    path = f"/v1/{collection.path}"
    one = f"{path}/{{resource_id}}"
    create = BodySchema(name=f"{collection.path}-create", definition=collection.create_schema)
    routes = [
        Route(method="GET", path=path, handler=handlers.list_resources, rules=(rule("get"),)),
        Route(
            method="POST",
            path=path,
            handler=handlers.create_resource,
            rules=(rule("post"),),
            status=201,
            body=create,
        ),
        Route(method="GET", path=one, handler=handlers.get_resource, rules=(rule("get"),)),
        Route(
            method="DELETE",
            path=one,
            handler=handlers.delete_resource,
            rules=(rule("get"), rule("delete")),
            looked_up_by=handlers.get_resource,
            status=204,
        ),
    ]
    if collection.update_schema is not None:
        update = BodySchema(name=f"{collection.path}-update", definition=collection.update_schema)
        routes.append(
            Route(
                method="PUT",
                path=one,
                handler=handlers.update_resource,
                rules=(rule("get"), rule("put")),
                looked_up_by=handlers.get_resource,
                body=update,
            )
        )
    return tuple(routes)


def rules_of(collection: ResourceCollection) -> list[policy.RuleDefault]:
    """Return the policy rules of a collection, with their defaults."""
    path = f"/v1/{collection.path}"
    one = f"{path}/{{resource_id}}"
    get = _READER if "reader" in collection.readers else _ADMIN
    rules = (
        ("get", get, "List and show", (("GET", path), ("GET", one), ("PUT", one), ("DELETE", one))),
        ("post", _ADMIN, "Register", (("POST", path),)),
        ("put", _ADMIN, "Change", (("PUT", one),)),
        ("delete", _ADMIN, "Remove", (("DELETE", one),)),
    )
    return [
        policy.DocumentedRuleDefault(
            collection.rule(action),
            check,
            f"{verb} {collection.plural}.",
            [{"method": method, "path": at} for method, at in operations],
            scope_types=["project"],
        )
        for action, check, verb, operations in rules
        if action != "put" or collection.update_schema is not None
    ]


def load_collections(plugins: Sequence[str]) -> tuple[ResourceCollection, ...]:
    """Return the declared collections of the named plugins, in the order of the names.

    Raises:
        ValueError: A declaration cannot be loaded or is invalid, or two of them have the same path.
    """
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
    collections = tuple(by_name[name] for name in dict.fromkeys(plugins) if name in by_name)
    _check(collections)
    return collections


def _check(collections: Iterable[ResourceCollection]) -> None:
    taken = {route.path for route in ROUTES}
    for each in collections:
        if not isinstance(each, ResourceCollection):
            raise ValueError(f"[manager] plugins: {each!r} is not a ResourceCollection")
        path = f"/v1/{each.path}"
        if path in taken:
            raise ValueError(f"[manager] plugins: the path {path} is served already")
        taken.add(path)
