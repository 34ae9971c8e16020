from __future__ import annotations

import pytest
from api.conftest import Api

HEADER = "OpenStack-API-Version"


@pytest.mark.parametrize(
    "asked",
    [
        None,
        "",
        "1.0",
        "latest",
        "abc",
        "compute 2.90",
        "reservation 1.0",
        "reservation latest",
        "  Reservation    1.0  ",
        "compute 2.90, reservation 1.0",
        "reservation 9.9, RESERVATION 1.0",
        "reservation 1.0, volume abc",
    ],
)
def test_version_1_0_is_answered_and_named(api: Api, asked: str | None) -> None:
    answer = api.get("/v1/leases", headers={} if asked is None else {HEADER: asked})

    assert answer.status_code == 200
    assert answer.headers["openstack-api-version"] == "reservation 1.0"
    assert answer.headers["vary"] == "OpenStack-API-Version"


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("reservation 1.1", 406),
        ("reservation 2.0", 406),
        ("reservation 1.0, reservation 1.99", 406),
        ("reservation 1", 400),
        ("reservation abc", 400),
        ("reservation 0.9", 400),
        ("reservation 01.0", 400),
        ("reservation 1.00", 400),
        ("reservation LATEST", 400),
        ("reservation 1.0 1.0", 400),
        ("reservation 1.\u0661".encode().decode("latin-1"), 400),
        ("reservation " + "9" * 5000 + ".0", 400),
    ],
)
def test_other_versions_are_refused(api: Api, asked: str, status: int) -> None:
    answer = api.get("/v1/leases", headers={HEADER: asked})

    assert answer.status_code == status
    assert answer.json["error"] == status
    assert "openstack-api-version" not in answer.headers
    assert "vary" not in answer.headers
    assert api.manager.calls == []


def test_a_refusal_names_the_range(api: Api) -> None:
    message = api.get("/v1/leases", headers={HEADER: "reservation 1.7"}).json["error_message"]

    assert "1.7" in message
    assert "1.0" in message


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/v1/x", 404), ("PATCH", "/v1/leases", 405)])
def test_unknown_paths_and_methods_go_before_versions(api: Api, method: str, path: str, status: int) -> None:
    assert api.request(method, path, headers={HEADER: "reservation 9.9"}).status_code == status


@pytest.mark.parametrize("path", ["/", "/versions", "/v1", "/v1/"])
def test_version_documents_do_not_look_at_the_header(api: Api, path: str) -> None:
    answer = api.get(path, headers={HEADER: "reservation abc"})

    assert answer.status_code in (200, 300)
    assert "openstack-api-version" not in answer.headers


def test_versions_go_before_policy_and_errors_carry_them(api: Api) -> None:
    refused = api.get("/v1/os-hosts", roles="reader", headers={HEADER: "reservation 9.9"})
    forbidden = api.get("/v1/os-hosts", roles="reader")
    unknown = api.get("/v1/leases/nowhere")
    invalid = api.post("/v1/leases", body="{")

    assert refused.status_code == 406
    for answer, status in ((forbidden, 403), (unknown, 404), (invalid, 400)):
        assert answer.status_code == status
        assert answer.headers["openstack-api-version"] == "reservation 1.0"
        assert answer.headers["vary"] == "OpenStack-API-Version"


def test_options_carries_the_version(api: Api) -> None:
    assert api.request("OPTIONS", "/v1/leases").headers["openstack-api-version"] == "reservation 1.0"
