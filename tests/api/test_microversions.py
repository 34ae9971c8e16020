from __future__ import annotations

import falcon
import falcon.testing
import pytest
from api.conftest import Api
from api.fake_manager import FakeManager
from oslo_config import cfg

from blazar.api import faults, leases
from blazar.api.call import Call
from blazar.api.microversions import text
from blazar.api.policies import make_policy
from blazar.api.request_ids import with_request_ids
from blazar.api.resource import Gate, Resource, Service
from blazar.api.route import Route
from blazar.api.routes import ROUTES
from blazar.domain.errors import UnknownMethod

HEADER = "OpenStack-API-Version"


@pytest.mark.parametrize(
    "asked",
    [
        None,
        "",
        "1.0",
        "latest",  # no service type
        "abc",
        "compute 2.90",
        "reservation 1.0",
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
    "asked", ["reservation 1.1", "reservation latest", "reservation 1.0, Reservation 1.1"]
)
def test_version_1_1_is_answered_and_named(api: Api, asked: str) -> None:
    answer = api.get("/v1/leases", headers={HEADER: asked})

    assert answer.status_code == 200
    assert answer.headers["openstack-api-version"] == "reservation 1.1"


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("reservation 1.2", 406),
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
    assert "1.1" in message


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


@pytest.mark.parametrize(
    ("asked", "status"), [(None, 404), ("reservation 1.0", 404), ("reservation 1.1", 200)]
)
def test_a_path_of_a_later_version_does_not_exist_at_earlier_ones(
    api: Api, asked: str | None, status: int
) -> None:
    answer = api.get("/v1/leases/l1/allocations", headers={} if asked is None else {HEADER: asked})

    assert answer.status_code == status
    assert (api.manager.calls == []) == (status == 404)


def newer_list(call: Call) -> object:
    """Return the leases; from 1.1 on, also the version."""
    found = leases.list_leases(call)
    assert isinstance(found, dict)
    return {**found, "version": text(call.version)} if call.version >= (1, 1) else found


@pytest.mark.parametrize(
    "asked", [None, "reservation 1.0", "compute 1.1", "reservation 1.1", "reservation latest"]
)
def test_a_handler_sees_the_version_and_1_0_keeps_its_bytes(
    api: Api, conf: cfg.ConfigOpts, asked: str | None
) -> None:
    headers = {"X-Roles": "admin", "X-Project-Id": "p1", **({HEADER: asked} if asked else {})}
    app: falcon.App[falcon.Request, falcon.Response] = falcon.App(middleware=[Gate()])
    faults.install(app, 400)
    route = Route(method="GET", path="/v1/leases", handler=newer_list, rules=("blazar:leases:get",))
    service = Service(manager=FakeManager(), policy=make_policy(conf), max_body_bytes=1000)
    app.add_route(route.path, Resource([route], service))

    found = falcon.testing.TestClient(with_request_ids(app)).simulate_get(route.path, headers=headers)

    if found.headers["openstack-api-version"] == "reservation 1.0":
        assert found.content == api.get("/v1/leases").content
    else:
        assert asked in ("reservation 1.1", "reservation latest")
        assert found.json == {**api.get("/v1/leases").json, "version": "1.1"}


@pytest.mark.parametrize("route", [each for each in ROUTES if each.is_public], ids=lambda route: route.path)
def test_a_version_document_has_no_version_of_its_own(api: Api, route: Route) -> None:
    documents = [
        api.get(route.path, headers={HEADER: f"reservation {each}"}).content for each in ("1.0", "1.1")
    ]

    assert documents[0] == documents[1]


@pytest.mark.parametrize("path", ["/v1/catalogue", "/v1/offers", "/v1/leases/l1/history"])
def test_a_request_that_an_older_manager_does_not_know_can_be_repeated(
    api: Api, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    def refuse(*_: object) -> None:
        raise UnknownMethod("any")

    for method in ("get_catalogue", "list_offers", "list_lease_history"):
        monkeypatch.setattr(api.manager, method, refuse)

    answer = api.get(path, headers={"OpenStack-API-Version": "reservation 1.1"})

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "older version" in answer.json["error_message"]
