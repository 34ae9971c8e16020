from __future__ import annotations

import pytest
from api.conftest import Api
from api.manager_answers import host

from blazar.domain import errors
from blazar.plugins.hosts.errors import (
    CapabilityInUse,
    CapabilityKeyTooLong,
    FreepoolNotFound,
    HostAlreadyRegistered,
    HostHasServers,
    HostNotFound,
    HostReferenceMissing,
    HostReserved,
    ProviderNotFound,
)


def test_hosts_are_listed_with_their_capabilities(api: Api) -> None:
    answer = api.get("/v1/os-hosts")

    assert answer.status_code == 200
    assert [(each["id"], each.get("gpu")) for each in answer.json["hosts"]] == [("17", "a100"), ("18", None)]
    assert answer.json["hosts"][0]["created_at"] == "2031-04-01 09:15:42"


def test_a_host_is_shown_by_id(api: Api) -> None:
    assert api.get("/v1/os-hosts/17").json["host"]["hypervisor_hostname"] == "compute-17"
    assert api.get("/v1/os-hosts/compute-17").status_code == 404


def test_a_capability_with_a_dates_name_is_shown_as_it_is(api: Api) -> None:
    api.manager.hosts["20"] = host("20", created_at="last spring", updated_at=7)

    shown = api.get("/v1/os-hosts/20").json["host"]

    assert (shown["created_at"], shown["updated_at"]) == ("last spring", 7)


def test_registering_a_host_passes_every_key_on(api: Api) -> None:
    body = {"name": "compute-19", "gpu": "a100", "slots": 4, "fast": True}

    answer = api.post("/v1/os-hosts", json=body)

    assert answer.status_code == 201
    assert answer.json["host"]["id"] == "19"
    assert api.manager.calls == [("create_host", body)]


@pytest.mark.parametrize("value", [None, [], {}, ["x"]])
def test_a_new_host_with_a_value_that_is_no_scalar_is_refused(api: Api, value: object) -> None:
    answer = api.post("/v1/os-hosts", json={"name": "x", "gpu": value})

    assert answer.status_code == 400
    assert answer.json["error_message"] == "gpu: must be of type string or number or boolean"
    assert api.manager.calls == []


def test_null_removes_a_capability(api: Api) -> None:
    answer = api.put("/v1/os-hosts/17", json={"gpu": None, "name": "x"})

    assert answer.status_code == 200
    assert api.manager.calls[0] == ("update_host", "17", {"gpu": None, "name": "x"})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "body: must not be empty"),
        ("{}", "body: must not be empty"),
        ("null", "body: must be of type object"),
        ("[]", "body: must be of type object"),
        ('{"gpu": []}', "gpu: must be of type string or number or boolean or null"),
        ('{"gpu": {}}', "gpu: must be of type string or number or boolean or null"),
    ],
)
def test_a_change_of_a_host_that_is_not_as_it_must_be_is_refused(api: Api, body: str, message: str) -> None:
    answer = api.put("/v1/os-hosts/17", body=body)

    assert answer.status_code == 400
    assert answer.json["error_message"] == message
    assert api.manager.calls == []


def test_a_host_is_removed_once(api: Api) -> None:
    assert api.delete("/v1/os-hosts/17").status_code == 204
    assert api.delete("/v1/os-hosts/17").status_code == 404


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (HostReferenceMissing("name or id is needed"), 400),
        (CapabilityKeyTooLong("k" * 65), 400),
        (HostNotFound("x"), 404),
        (FreepoolNotFound("freepool"), 404),
        (ProviderNotFound("no provider"), 404),
        (HostHasServers("servers run on it"), 409),
        (HostAlreadyRegistered("it is registered"), 409),
        (CapabilityInUse("gpu is in use"), 409),
        (HostReserved("it is reserved"), 409),
    ],
)
def test_the_managers_refusals_of_hosts_have_their_statuses(
    api: Api, failure: errors.BlazarError, status: int
) -> None:
    api.manager.failure = failure

    answer = api.post("/v1/os-hosts", json={"name": "x"})

    assert answer.status_code == status
    assert answer.json["error_message"] == failure.message


def test_allocations_are_listed_by_host(api: Api) -> None:
    answer = api.get("/v1/os-hosts/allocations")

    allocation = {
        "id": "r1",
        "lease_id": "l1",
        "start_date": "2031-04-05T20:00:00.000000",
        "end_date": "2031-04-06T06:00:00.000000",
    }
    assert answer.json == {
        "allocations": [
            {"resource_id": "17", "reservations": [allocation]},
            {"resource_id": "18", "reservations": []},
        ]
    }


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        ("", (None, None)),
        ("lease_id=&reservation_id=", (None, None)),
        ("lease_id=a&lease_id=b&unknown=1", ("a", None)),
        ("lease_id=a&reservation_id=r", ("a", "r")),
    ],
)
def test_allocations_are_filtered_by_what_the_query_names_first(
    api: Api, query: str, filters: tuple[str | None, str | None]
) -> None:
    api.get("/v1/os-hosts/allocations", query_string=query)
    api.get("/v1/os-hosts/17/allocation", query_string=query)

    assert api.manager.calls[0] == ("list_allocations", *filters)
    assert api.manager.calls[1] == ("get_allocations", "17", *filters)


def test_the_allocations_of_one_host_are_an_object(api: Api) -> None:
    assert api.get("/v1/os-hosts/18/allocation").json == {
        "allocation": {"resource_id": "18", "reservations": []}
    }
    assert api.get("/v1/os-hosts/99/allocation").status_code == 404


@pytest.mark.parametrize("query", ["", "detail=", "detail=False", "detail=0", "detail=no", "detail=off"])
def test_properties_are_listed_by_name_unless_details_are_asked_for(api: Api, query: str) -> None:
    answer = api.get("/v1/os-hosts/properties", query_string=query)

    assert answer.json == {"resource_properties": [{"property": "gpu"}]}


@pytest.mark.parametrize("query", ["detail=True", "detail=1", "detail=x"])
def test_details_tell_values_and_privacy(api: Api, query: str) -> None:
    answer = api.get("/v1/os-hosts/properties", query_string=f"{query}&all=True")

    assert answer.json == {
        "resource_properties": [
            {"property": "gpu", "private": False, "values": ["x"]},
            {"property": "rack", "private": True, "values": ["x"]},
        ]
    }


@pytest.mark.parametrize(
    ("body", "private"),
    [
        ('{"private": true}', True),
        ('{"private": false}', False),
        ('{"private": 1}', True),
        ('{"private": 0}', False),
        ("{}", None),
        ("", None),
        ('{"property_name": "x", "resource_type": "y"}', None),
    ],
)
def test_a_property_is_made_private_or_public_or_left(api: Api, body: str, private: bool | None) -> None:
    answer = api.patch("/v1/os-hosts/properties/rack", body=body)

    assert answer.status_code == 200
    assert api.manager.calls == [("update_resource_property", "rack", private)]
    changed = answer.json["resource_property"]
    assert changed["created_at"] == "2031-04-01T09:15:42.123456"
    assert changed["updated_at"] is None
    assert changed["property_name"] == "rack"


@pytest.mark.parametrize("value", ['"true"', "null", "2", "[]"])
def test_privacy_is_a_boolean(api: Api, value: str) -> None:
    answer = api.patch("/v1/os-hosts/properties/rack", body=f'{{"private": {value}}}')

    assert answer.status_code == 400
    assert answer.json["error_message"].startswith("private: must be one of")


def test_an_unknown_property_is_404(api: Api) -> None:
    answer = api.patch("/v1/os-hosts/properties/nothing", json={"private": True})

    assert answer.status_code == 404
    assert answer.json["error_name"] == 404
