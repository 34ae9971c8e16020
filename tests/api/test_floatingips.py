from __future__ import annotations

from collections.abc import Callable

import pytest
from api.conftest import FLOATINGIP, Api

from blazar.api.resources import load_apis
from blazar.domain import errors
from blazar.plugins.floatingips.errors import (
    FloatingIPAlreadyRegistered,
    FloatingIPInUse,
    FloatingIPNotFound,
    FloatingIPReserved,
    NotEnoughFloatingIPs,
)

KEYS = {
    *("id", "floating_network_id", "subnet_id", "floating_ip_address", "reservable"),
    *("created_at", "updated_at"),
}


def test_floating_ips_are_listed(api: Api) -> None:
    answer = api.get("/v1/floatingips", roles="reader")

    assert answer.status_code == 200
    assert [each["id"] for each in answer.json["floatingips"]] == ["f1", "f2"]
    assert all(each.keys() == KEYS for each in answer.json["floatingips"])
    assert answer.json["floatingips"][0]["created_at"] == "2031-04-01 09:15:42"


def test_a_floating_ip_is_shown_by_id(api: Api) -> None:
    shown = api.get("/v1/floatingips/f1").json["floatingip"]

    assert shown.keys() == KEYS
    assert (shown["created_at"], shown["updated_at"]) == ("2031-04-01 09:15:42", None)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_unknown_floating_ip_is_not_found_by_its_id(api: Api, method: str) -> None:
    answer = api.request(method, "/v1/floatingips/f9")

    assert answer.status_code == 404
    assert "f9" in answer.json["error_message"]


def test_allocations_are_read_as_an_id(api: Api) -> None:
    assert api.get("/v1/floatingips/allocations").status_code == 404


def test_registering_passes_the_body_on_and_answers_with_stamps_in_the_other_format(api: Api) -> None:
    body = {**FLOATINGIP, "reservable": False, "id": "x"}

    answer = api.post("/v1/floatingips", json=body)

    assert answer.status_code == 201
    assert api.manager.calls == [("create_floatingip", body)]
    assert answer.json["floatingip"]["id"] == "f3"
    assert answer.json["floatingip"]["created_at"] == "2031-04-01T09:15:42.123456"
    assert answer.json["floatingip"]["updated_at"] is None


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "Missing parameter floating_network_id, floating_ip_address"),
        ({"floating_network_id": "n1"}, "Missing parameter floating_ip_address"),
        ({"network_id": "n1", "floating_ip_address": "x"}, "Missing parameter floating_network_id"),
        ({**FLOATINGIP, "floating_ip_address": None}, "floating_ip_address: must be of type string"),
        ({**FLOATINGIP, "floating_ip_address": 3405803786}, "floating_ip_address: must be of type string"),
        ({**FLOATINGIP, "floating_network_id": ["n1"]}, "floating_network_id: must be of type string"),
        ([], "body: must be of type object"),
    ],
)
def test_a_malformed_registration_is_refused_by_key(api: Api, body: object, message: str) -> None:
    answer = api.post("/v1/floatingips", json=body)

    assert answer.status_code == 400
    assert answer.json["error_message"] == message
    assert api.manager.calls == []


def test_a_removed_floating_ip_is_gone_without_a_word(api: Api) -> None:
    answer = api.delete("/v1/floatingips/f1")

    assert (answer.status_code, answer.content) == (204, b"")
    assert api.get("/v1/floatingips/f1").status_code == 404


@pytest.mark.parametrize("path", ["/v1/floatingips", "/v1/floatingips/f1"])
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_floating_ips_are_not_changed(api: Api, method: str, path: str) -> None:
    assert api.request(method, path, json={}).status_code == 405


def test_they_are_served_only_where_they_can_be_reserved(make_api: Callable[..., Api]) -> None:
    api = make_api(types=load_apis(["physical.host.plugin"]))

    assert api.get("/v1/floatingips").status_code == 404
    assert api.get("/v1/os-hosts").status_code == 200


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (FloatingIPNotFound("x"), 404),
        (NotEnoughFloatingIPs("x"), 400),
        (FloatingIPAlreadyRegistered("x"), 409),
        (FloatingIPInUse("x"), 409),
        (FloatingIPReserved("x"), 409),
    ],
)
def test_errors_have_their_statuses(api: Api, error: errors.BlazarError, status: int) -> None:
    api.manager.failure = error

    answer = api.get("/v1/floatingips")

    assert answer.status_code == status
    assert answer.json["error_message"] == error.message
