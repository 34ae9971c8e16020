"""Collections of registered resources, as the catalogue describes them for forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from api.conftest import Api
from api.test_resources import THINGS
from jsonschema import Draft202012Validator

from blazar.api.collection_api import api_of
from blazar.api.routes import TYPE_APIS
from blazar.api.type_api import TypeApi, describe_collections
from blazar.domain.collections import ResourceCollection

NEWER = {"OpenStack-API-Version": "reservation 1.1"}
THING_API = api_of("thing.plugin", replace(THINGS, create_name_key="name"))
SERVED = {str(each["path"]): each for each in describe_collections([*TYPE_APIS, THING_API])}


@pytest.fixture
def api(make_api: Callable[..., Api]) -> Api:
    return make_api(types=[*TYPE_APIS, THING_API])


def listed(api: Api, roles: str = "admin") -> list[dict[str, Any]]:
    """Return the collections in the catalogue."""
    found: list[dict[str, Any]] = api.get("/v1/catalogue", headers=NEWER, roles=roles).json["catalogue"][
        "collections"
    ]
    return found


def test_the_catalogue_has_each_collection_once_also_those_of_other_distributions(api: Api) -> None:
    paths = [each["path"] for each in listed(api)]

    assert paths == ["floatingips", "networks", "os-hosts", "storage-pools", "things"]
    assert listed(api, roles="reader") == listed(api)


def test_it_has_only_those_that_are_served(make_api: Callable[..., Api]) -> None:
    [hosts] = [each for each in TYPE_APIS if each.plugin == "physical.host.plugin"]

    assert [each["path"] for each in listed(make_api(types=[hosts]))] == ["os-hosts"]
    assert listed(make_api(types=[TypeApi(plugin="x.plugin")])) == []


def test_a_declared_collection_has_what_its_declaration_says(api: Api) -> None:
    [entry] = [each for each in listed(api) if each["path"] == "things"]

    assert entry == {
        "path": "things",
        "list_key": "things",
        "name_key": "name",
        "create_name_key": "name",
        "create_schema": THINGS.create_schema,
        "update_schema": THINGS.update_schema,
        "has_pages": False,
        "allocation_filters": ["lease_id", "reservation_id"],
    }


@pytest.mark.parametrize("path", SERVED)
class TestEveryCollection:
    def test_its_list_has_the_keys_that_are_named(self, api: Api, path: str) -> None:
        list_key, name_key = str(SERVED[path]["list_key"]), SERVED[path]["name_key"]

        answer = api.get(f"/v1/{path}", headers=NEWER)

        assert answer.status_code == 200
        names = [each[name_key] for each in answer.json[list_key]]
        assert names
        assert all(isinstance(each, str) for each in names)

    def test_it_has_pages_if_it_says_so(self, api: Api, path: str) -> None:
        answer = api.get(f"/v1/{path}", headers=NEWER, query_string="colour=red")

        # Only lists with pages refuse unknown parameters.
        assert (answer.status_code == 400) is SERVED[path]["has_pages"]

    def test_it_can_be_changed_if_it_says_so(self, api: Api, path: str) -> None:
        answer = api.put(f"/v1/{path}/unknown", json={}, headers=NEWER)

        assert (answer.status_code == 405) is (SERVED[path]["update_schema"] is None)

    def test_its_allocations_have_the_filters(self, api: Api, path: str) -> None:
        filters: Any = SERVED[path]["allocation_filters"]

        answer = api.get(f"/v1/{path}/allocations", headers=NEWER, query_string="lease_id=l1")

        assert answer.status_code == (404 if filters is None else 200)
        assert filters is None or "lease_id" in filters

    def test_the_key_of_the_name_is_one_of_a_registration(self, path: str) -> None:
        schema: Any = SERVED[path]["create_schema"]

        assert SERVED[path]["create_name_key"] in (None, *schema["properties"])


@pytest.mark.parametrize("path", [each for each in SERVED if each != "things"])
def test_its_schema_has_an_example_that_is_valid(path: str) -> None:
    schema: Any = SERVED[path]["create_schema"]

    assert schema["examples"]
    for each in schema["examples"]:
        Draft202012Validator(schema).validate(each)
        assert SERVED[path]["create_name_key"] in (None, *each)


def test_a_key_of_the_name_that_no_registration_has_is_refused() -> None:
    with pytest.raises(ValueError, match="'serial' is not a property of create_schema"):
        replace(THINGS, create_name_key="serial")
    with pytest.raises(ValueError, match="'name' is not a property"):
        ResourceCollection(
            name="x", path="x", singular="x", plural="xs", create_schema={}, create_name_key="name"
        )
