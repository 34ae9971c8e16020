"""Placement."""

from __future__ import annotations

from dataclasses import asdict
from http import HTTPStatus

from blazar.cloud.simulated import SimulatedCloud
from blazar.domain.errors import CloudNotFound
from blazar.domain.providers import Inventory
from blazar.ports.placement import Inventories, Provider
from rig.cloud.messages import Call, Reply, Route, Service


def _list_providers(cloud: SimulatedCloud, call: Call) -> Reply:
    """Return providers by name or by tree; no caller here lists all of them."""
    name = call.value("name")
    if name is None:
        found = cloud.placement.list_tree(call.query["in_tree"][-1])
    else:
        named = cloud.placement.find_provider(name)
        found = () if named is None else (named,)
    return Reply(body={"resource_providers": [_provider(each) for each in found]})


def _create_provider(cloud: SimulatedCloud, call: Call) -> Reply:
    made = cloud.placement.create_provider(call.body["name"], call.body.get("parent_provider_uuid"))
    return Reply(body=_provider(made))


def _delete_provider(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.placement.delete_provider(call["uuid"])
    return Reply(status=204)


def _provider(provider: Provider) -> object:
    return {
        "uuid": provider.uuid,
        "name": provider.name,
        "generation": provider.generation,
        "parent_provider_uuid": provider.parent_uuid,
        "root_provider_uuid": provider.root_uuid,
    }


def _show_inventories(cloud: SimulatedCloud, call: Call) -> Reply:
    found = cloud.placement.get_inventories(call["uuid"])
    return Reply(
        body={
            "resource_provider_generation": found.generation,
            "inventories": {name: asdict(each) for name, each in found.by_class.items()},
        }
    )


def _put_inventories(cloud: SimulatedCloud, call: Call) -> Reply:
    by_class = {name: Inventory(**each) for name, each in call.body["inventories"].items()}
    generation = call.body["resource_provider_generation"]
    cloud.placement.put_inventories(call["uuid"], Inventories(generation=generation, by_class=by_class))
    body = {"resource_provider_generation": generation + 1, "inventories": call.body["inventories"]}
    return Reply(body=body)


def _delete_inventory(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.placement.delete_inventory(call["uuid"], call["name"])
    return Reply(status=204)


def _show_usages(cloud: SimulatedCloud, call: Call) -> Reply:
    return Reply(body={"usages": dict(cloud.placement.get_usages(call["uuid"]))})


def _list_traits(cloud: SimulatedCloud, call: Call) -> Reply:
    return Reply(body={"traits": sorted(cloud.placement.list_traits(call["uuid"]))})


def _list_classes(cloud: SimulatedCloud, call: Call) -> Reply:
    names = sorted(cloud.placement.list_resource_classes())
    return Reply(body={"resource_classes": [{"name": each} for each in names]})


def _create_class(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.placement.create_resource_class(call.body["name"])
    return Reply(status=201)


def _show_class(cloud: SimulatedCloud, call: Call) -> Reply:
    if not cloud.placement.has_resource_class(call["name"]):
        raise CloudNotFound(f"no such resource class {call['name']}")
    return Reply(body={"name": call["name"]})


def _delete_class(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.placement.delete_resource_class(call["name"])
    return Reply(status=204)


def _error(status: int, message: str) -> object:
    title = HTTPStatus(status).phrase
    return {"errors": [{"status": status, "title": title, "detail": f"{title}.\n\n {message}"}]}


PLACEMENT = Service(
    name="placement",
    path="/placement",
    error_body=_error,
    routes=(
        Route("GET", "/resource_providers", _list_providers),
        Route("POST", "/resource_providers", _create_provider),
        Route("DELETE", "/resource_providers/{uuid}", _delete_provider),
        Route("GET", "/resource_providers/{uuid}/inventories", _show_inventories),
        Route("PUT", "/resource_providers/{uuid}/inventories", _put_inventories),
        Route("DELETE", "/resource_providers/{uuid}/inventories/{name}", _delete_inventory),
        Route("GET", "/resource_providers/{uuid}/usages", _show_usages),
        Route("GET", "/resource_providers/{uuid}/traits", _list_traits),
        Route("GET", "/resource_classes", _list_classes),
        Route("POST", "/resource_classes", _create_class),
        Route("GET", "/resource_classes/{name}", _show_class),
        Route("DELETE", "/resource_classes/{name}", _delete_class),
    ),
)
