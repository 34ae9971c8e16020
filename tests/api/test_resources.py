"""Collections that plugins declare: routes, schemas, policy rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from api.conftest import Api

from blazar.api import resources
from blazar.api.collection_api import api_of
from blazar.domain.collections import ResourceCollection
from blazar.domain.errors import Conflict

_TEXT = {"type": "string", "minLength": 1}
THINGS = ResourceCollection(
    name="shelf",
    path="things",
    singular="thing",
    plural="things",
    create_schema={"type": "object", "required": ["name"], "properties": {"name": _TEXT, "weight": {}}},
    update_schema={"type": "object", "minProperties": 1, "properties": {"weight": {"type": "integer"}}},
)


@pytest.fixture
def api(make_api: Callable[..., Api]) -> Api:
    return make_api(types=[api_of("thing.plugin", THINGS)])


def test_the_operations_reach_the_manager(api: Api) -> None:
    assert api.get("/v1/things").json == {"things": [api.manager.resources["t1"]]}
    assert api.get("/v1/things/t1").json == {"thing": api.manager.resources["t1"]}
    assert api.post("/v1/things", json={"name": "b"}).status_code == 201
    assert api.put("/v1/things/t1", json={"weight": 4}).status_code == 200
    assert api.delete("/v1/things/t1").status_code == 204

    assert [each for each in api.manager.calls if not each[0].startswith(("get", "list"))] == [
        ("create_resource", "shelf", {"name": "b"}),
        ("update_resource", "shelf", "t1", {"weight": 4}),
        ("delete_resource", "shelf", "t1"),
    ]


def test_one_request_registers_several_resources_if_the_collection_declares_it(
    make_api: Callable[..., Api],
) -> None:
    api = make_api(types=[api_of("thing.plugin", replace(THINGS, registers_several=True))])
    thing = api.manager.resources["t1"]

    one = api.post("/v1/things", json={"name": "b"})
    api.manager.registered_at_once = 2
    two = api.post("/v1/things", json={"name": "c-d"})

    assert (one.status_code, one.json) == (201, {"thing": thing})
    assert (two.status_code, two.json) == (201, {"things": [thing, thing]})


def test_allocations_are_read_for_all_resources_and_for_one(api: Api) -> None:
    several = api.get("/v1/things/allocations", query_string="lease_id=l1")
    one = api.get("/v1/things/t1/allocation", query_string="reservation_id=r1&lease_id=")

    assert several.json == {"allocations": [{"resource_id": "t1", "reservations": []}]}
    assert one.json == {"allocation": {"resource_id": "t1", "reservations": []}}
    assert api.get("/v1/things/t9/allocation").status_code == 404
    assert [each for each in api.manager.calls if "allocations" in each[0]] == [
        ("list_resource_allocations", "shelf", "l1", None),
        ("get_resource_allocations", "shelf", "t1", None, "r1"),
        ("get_resource_allocations", "shelf", "t9", None, None),
    ]


def test_properties_are_listed_and_made_private(api: Api) -> None:
    names = api.get("/v1/things/properties").json
    details = api.get("/v1/things/properties", query_string="detail=true&all=1").json
    changed = api.patch("/v1/things/properties/gpu", json={"private": True})

    assert names == {"resource_properties": [{"property": "gpu"}]}
    assert [(each["property"], each["private"]) for each in details["resource_properties"]] == [
        ("gpu", False),
        ("rack", True),
    ]
    assert changed.json["resource_property"]["private"] is True
    assert api.patch("/v1/things/properties/none", json={"private": True}).status_code == 404
    assert api.patch("/v1/things/properties/gpu", json={"private": "maybe"}).status_code == 400


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_an_unknown_resource_is_not_found(api: Api, method: str) -> None:
    assert api.request(method, "/v1/things/t9", json={"weight": 1}).status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "body", "message"),
    [
        ("POST", "/v1/things", {}, "Missing parameter name"),
        ("POST", "/v1/things", {"name": 7}, "name: must be of type string"),
        ("PUT", "/v1/things/t1", {"weight": "heavy"}, "weight: must be of type integer"),
        ("PUT", "/v1/things/t1", {}, "body: must not be empty"),
    ],
)
def test_a_body_is_checked_against_the_declared_schema(
    api: Api, method: str, path: str, body: object, message: str
) -> None:
    answer = api.request(method, path, json=body)

    assert (answer.status_code, answer.json["error_message"]) == (400, message)
    assert [each[0] for each in api.manager.calls if each[0] != "get_resource"] == []


def test_a_conflict_is_409(api: Api) -> None:
    api.manager.failure = Conflict("a is reserved")

    assert api.delete("/v1/things/t1").status_code == 409


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/things"),
        ("GET", "/v1/things/t1"),
        ("POST", "/v1/things"),
        ("PUT", "/v1/things/t1"),
        ("DELETE", "/v1/things/t1"),
        ("GET", "/v1/things/allocations"),
        ("GET", "/v1/things/t1/allocation"),
        ("GET", "/v1/things/properties"),
        ("PATCH", "/v1/things/properties/gpu"),
    ],
)
def test_by_default_only_operators_have_access(api: Api, method: str, path: str) -> None:
    answer = api.request(method, path, roles="member,reader", json={"name": "b"})

    assert answer.status_code == 403
    assert api.manager.calls == []


def test_readers_may_see_a_collection_that_declares_them(make_api: Callable[..., Api]) -> None:
    shown = ResourceCollection(
        name="shelf",
        path="things",
        singular="thing",
        plural="things",
        create_schema={},
        readers=frozenset({"admin", "reader"}),
    )
    api = make_api(types=[api_of("thing.plugin", shown)])

    assert api.get("/v1/things", roles="reader").status_code == 200
    assert api.post("/v1/things", roles="reader", json={}).status_code == 403
    assert api.put("/v1/things/t1", json={}).status_code == 405


def test_the_operations_of_two_collections_have_different_names() -> None:
    other = replace(THINGS, name="box", path="boxes", singular="box", plural="boxes")
    names = [route.name for each in (THINGS, other) for route in api_of("thing.plugin", each).routes]

    assert len(set(names)) == len(names) == 18


def test_a_collection_that_is_not_declared_does_not_exist(make_api: Callable[..., Api]) -> None:
    assert make_api().get("/v1/things").status_code == 404


@pytest.mark.parametrize("path", ["leases", "os-hosts", "floatingips"])
def test_a_path_that_is_served_already_is_refused(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    taken = ResourceCollection(name="x", path=path, singular="x", plural="xs", create_schema={})

    with pytest.raises(ValueError, match="is served already"):
        resources._check({"x.plugin": taken})


@pytest.mark.parametrize("path", ["", "Things", "a/b", "{lease_id}", "..", "a_b"])
def test_a_path_of_other_characters_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="is not a path"):
        ResourceCollection(name="x", path=path, singular="x", plural="xs", create_schema={})
