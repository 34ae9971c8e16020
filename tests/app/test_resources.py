"""Resources that operators register for a plugin, and leases that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, cast

import pytest
from app.http_env import HttpEnv
from app.shelves import THING, Things, with_shelf

from blazar.app import collection_properties, resources
from blazar.domain.collections import ResourceCollection
from blazar.domain.errors import Conflict, InvalidParameter, NotFound
from blazar.domain.plugin_resources import PluginResource
from blazar.plugins.capabilities import RegistersResources
from blazar.ports.cloud import Cloud
from blazar.ports.manager import Caller
from blazar.reconcile.periodic.discovery import discover_resources

COLLECTION = ResourceCollection(
    name="shelf", path="things", singular="thing", plural="things", create_schema={}, update_schema={}
)


CALLER = Caller(user_id="u", project_id="p", sees_private_properties=True)


class RegisteredShelf(Things, RegistersResources):
    """A shelf of which operators register the things."""

    resource_collection: ClassVar[ResourceCollection] = COLLECTION
    is_used: bool = False

    def register(self, cloud: Cloud, body: Mapping[str, object]) -> PluginResource:
        if body["name"] == "trap":
            raise InvalidParameter("name", "is a trap")
        facts = {key: str(body[key]) for key in ("weight", "colour") if key in body}
        name, properties = str(body["name"]), frozenset(facts) - {"weight"}
        return PluginResource(collection="shelf", name=name, facts=facts, properties=properties)

    def register_all(self, cloud: Cloud, body: Mapping[str, object]) -> Sequence[PluginResource]:
        return [self.register(cloud, {**body, "name": each}) for each in str(body["name"]).split(",")]

    def change(self, cloud: Cloud, resource: PluginResource, body: Mapping[str, object]) -> PluginResource:
        return replace(resource, facts={**resource.facts, "weight": str(body["weight"])})

    def check_removable(self, cloud: Cloud, resource: PluginResource) -> None:
        if self.is_used:
            raise Conflict("it is used as a seat")


@pytest.fixture
def shelf(env: HttpEnv) -> RegisteredShelf:
    shelf = RegisteredShelf()
    with_shelf(env, shelf)
    return shelf


def register(env: HttpEnv, name: str = "a", weight: int = 3) -> str:
    """Register a thing and return its id."""
    return str(resources.create_resource(env.context, "shelf", {"name": name, "weight": weight})["id"])


def listed(env: HttpEnv) -> list[object]:
    """Return the names and weights of the registered things."""
    return [(each["name"], each["weight"]) for each in resources.list_resources(env.context, CALLER, "shelf")]


def test_registered_resources_are_listed_shown_changed_and_removed(
    env: HttpEnv, shelf: RegisteredShelf
) -> None:
    register(env, "b")
    thing_id = register(env, "a")

    assert listed(env) == [("a", "3"), ("b", "3")]
    changed = resources.update_resource(env.context, "shelf", thing_id, {"weight": 5})
    assert changed == {"id": thing_id, "name": "a", "weight": "5", "amounts": {}, "reservable": True}
    assert resources.get_resource(env.context, CALLER, "shelf", thing_id) == changed
    resources.delete_resource(env.context, "shelf", thing_id)
    assert listed(env) == [("b", "3")]


def test_several_resources_are_registered_together_or_not_at_all(
    env: HttpEnv, shelf: RegisteredShelf
) -> None:
    def register_all(names: str) -> list[object]:
        body = {"name": names, "weight": 3}
        return [each["name"] for each in resources.create_resources(env.context, "shelf", body)]

    assert register_all("b,c") == ["b", "c"]
    with pytest.raises(Conflict, match="b, c are already registered"):
        register_all("a,b,c")
    with pytest.raises(InvalidParameter, match="is a trap"):
        register_all("d,trap")

    assert listed(env) == [("b", "3"), ("c", "3")]
    assert register_all("a") == ["a"]


def test_operators_see_which_lease_holds_a_resource(env: HttpEnv, shelf: RegisteredShelf) -> None:
    first, second = register(env, "a"), register(env, "b")
    lease = env.create("now", 60, asked=dict(THING))
    other = env.create(60, 90, asked=dict(THING))

    found = resources.list_resource_allocations(env.context, "shelf", None, None)
    of_lease = resources.list_resource_allocations(env.context, "shelf", other["id"], None)

    assert [each["resource_id"] for each in found] == [first, second]
    held = [each for each in found if each["reservations"]]
    assert {str(each["lease_id"]) for one in held for each in _reservations(one)} == {
        lease["id"],
        other["id"],
    }
    (allocated,) = [each for one in of_lease for each in _reservations(one)]
    assert allocated == {
        "id": other["reservations"][0]["id"],
        "lease_id": other["id"],
        "start_date": env.shown(60),
        "end_date": env.shown(90),
    }
    for each in found:
        assert each == resources.get_resource_allocations(
            env.context, "shelf", str(each["resource_id"]), None, None
        )
    with pytest.raises(NotFound):
        resources.get_resource_allocations(env.context, "shelf", "none", None, None)


def test_properties_are_listed_with_their_values_and_made_private(
    env: HttpEnv, shelf: RegisteredShelf
) -> None:
    for name, colour in (("a", "red"), ("b", "blue"), ("c", "red")):
        body = {"name": name, "weight": 3, "colour": colour}
        resources.create_resource(env.context, "shelf", body)
    register(env, "d")
    lessee = replace(CALLER, sees_private_properties=False)

    def listed_properties(include_private: bool) -> Sequence[object]:
        return collection_properties.list_collection_properties(env.context, "shelf", include_private)

    def colours(caller: Caller) -> list[object]:
        return [each.get("colour") for each in resources.list_resources(env.context, caller, "shelf")]

    public = {"property": "colour", "private": False, "values": ["blue", "red"]}
    assert listed_properties(False) == [public]
    changed = collection_properties.update_collection_property(env.context, "shelf", "colour", True)

    assert (changed["resource_type"], changed["property_name"], changed["private"]) == (
        "shelf",
        "colour",
        True,
    )
    assert listed_properties(False) == []
    assert listed_properties(True) == [{**public, "private": True}]
    assert colours(CALLER) == ["red", "blue", "red", None]
    assert colours(lessee) == [None] * 4
    assert collection_properties.update_collection_property(env.context, "shelf", "colour", None) == changed
    for collection, name in (("shelf", "weight"), ("shelf", "nothing"), ("host", "colour")):
        with pytest.raises(NotFound):
            collection_properties.update_collection_property(env.context, collection, name, True)
    with pytest.raises(NotFound):
        collection_properties.list_collection_properties(env.context, "nothing", True)


def _reservations(allocation: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    return cast("Sequence[Mapping[str, object]]", allocation["reservations"])


def test_a_registered_resource_can_be_reserved_until_it_is_removed(
    env: HttpEnv, shelf: RegisteredShelf
) -> None:
    thing_id = register(env)
    lease = env.create("now", 60, asked=dict(THING))

    with pytest.raises(Conflict, match="a is reserved, now or later"):
        resources.delete_resource(env.context, "shelf", thing_id)
    with pytest.raises(Conflict, match="a is reserved, now or later"):
        resources.update_resource(env.context, "shelf", thing_id, {"weight": 5})
    assert listed(env) == [("a", "3")]

    assert env.delete(f"/leases/{lease['id']}").status_code == 204
    env.pass_time(env.settings.leases.cleaning_time / timedelta(minutes=1))
    resources.delete_resource(env.context, "shelf", thing_id)
    assert listed(env) == []


def test_discovery_leaves_registered_resources_alone(env: HttpEnv, shelf: RegisteredShelf) -> None:
    register(env)

    discover_resources(env.context, "manager")

    assert listed(env) == [("a", "3")]


def test_refusals_change_nothing(env: HttpEnv, shelf: RegisteredShelf) -> None:
    thing_id = register(env)

    with pytest.raises(Conflict, match="a is already registered"):
        register(env, weight=9)
    with pytest.raises(InvalidParameter, match="is a trap"):
        register(env, "trap")
    with pytest.raises(InvalidParameter, match="1 to 255 characters"):
        register(env, "x" * 256)
    shelf.is_used = True
    with pytest.raises(Conflict, match="it is used as a seat"):
        resources.delete_resource(env.context, "shelf", thing_id)

    assert listed(env) == [("a", "3")]


@pytest.mark.parametrize("collection", ["host", "floatingip", "nothing"])
def test_other_collections_are_out_of_reach(env: HttpEnv, shelf: RegisteredShelf, collection: str) -> None:
    with pytest.raises(NotFound):
        resources.list_resources(env.context, CALLER, collection)
    with pytest.raises(NotFound):
        resources.delete_resource(env.context, collection, "1")


def test_the_id_of_another_collection_is_not_found(env: HttpEnv, shelf: RegisteredShelf) -> None:
    with pytest.raises(NotFound, match="No resource of shelf has the id 1"):
        resources.get_resource(env.context, CALLER, "shelf", "1")


if TYPE_CHECKING:
    _: RegistersResources = RegisteredShelf()
