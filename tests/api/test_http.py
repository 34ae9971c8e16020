"""Conventions that apply to every path: methods, paths, bodies, headers."""

from __future__ import annotations

import io
import json
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from api.conftest import LEASE, Api

from blazar.api.resources import load_apis

REQUEST_ID = re.compile(r"req-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
GLOBAL_ID = "req-0a1b2c3d-0a1b-4c3d-8e5f-0a1b2c3d4e5f"


def shape_b(status: int, answer: Any) -> bool:
    return (
        answer.status_code == status
        and answer.headers["content-type"] == "application/json"
        and set(answer.json) == {"error", "error_message"}
        and answer.json["error"] == status
        and bool(answer.json["error_message"])
    )


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 300),
        ("GET", "/v1", 200),
        ("GET", "/v1/leases", 200),
        ("GET", "/v1/nothing", 404),
        ("GET", "/v2/leases", 404),
        ("GET", "/v1//leases", 308),
        ("PATCH", "/v1/leases", 405),
        ("POST", "/v1/leases", 400),
        ("DELETE", "/v1/leases/l1", 204),
        ("OPTIONS", "/v1/leases", 200),
        ("GET", "/healthcheck", 200),
    ],
)
def test_every_answer_has_a_request_id_of_its_own(api: Api, method: str, path: str, status: int) -> None:
    answer = api.request(method, path, headers={"X-Openstack-Request-Id": GLOBAL_ID})

    assert answer.status_code == status
    assert REQUEST_ID.fullmatch(answer.headers["x-openstack-request-id"])
    assert answer.headers["x-openstack-request-id"] != GLOBAL_ID


@pytest.mark.parametrize(
    ("sent", "taken"),
    [(GLOBAL_ID, GLOBAL_ID), (GLOBAL_ID.upper(), None), (GLOBAL_ID + "x", None), ("x", None), ("", None)],
)
def test_a_well_formed_request_id_of_the_client_is_the_global_one(
    api: Api, sent: str, taken: str | None
) -> None:
    answer = api.get("/v1/leases", headers={"X-Openstack-Request-Id": sent})

    assert api.manager.caller.global_request_id == taken
    assert api.manager.caller.request_id == answer.headers["x-openstack-request-id"]


def test_the_manager_is_told_who_asks(api: Api) -> None:
    api.get("/v1/leases", roles="member, Reader", headers={"X-Auth-Token": "secret"})

    caller = api.manager.caller
    assert (caller.user_id, caller.project_id, caller.roles) == ("u1", "p1", ("member", "Reader"))
    assert caller.token == "secret"
    assert "secret" not in repr(caller)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/", "GET, HEAD, OPTIONS"),
        ("/v1", "GET, HEAD, OPTIONS"),
        ("/v1/leases", "GET, HEAD, OPTIONS, POST"),
        ("/v1/leases/l1", "DELETE, GET, HEAD, OPTIONS, PUT"),
        ("/v1/os-hosts/17", "DELETE, GET, HEAD, OPTIONS, PUT"),
        ("/v1/os-hosts/allocations", "GET, HEAD, OPTIONS"),
        ("/v1/os-hosts/17/allocation", "GET, HEAD, OPTIONS"),
        ("/v1/os-hosts/properties", "GET, HEAD, OPTIONS"),
        ("/v1/os-hosts/properties/gpu", "OPTIONS, PATCH"),
    ],
)
def test_a_path_tells_its_methods_and_refuses_others(api: Api, path: str, allowed: str) -> None:
    told = api.request("OPTIONS", path)
    methods = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} - set(allowed.split(", "))
    refused = {method: api.request(method, path, body="{}") for method in methods}

    assert (told.status_code, told.content, told.headers["allow"]) == (200, b"", allowed)
    assert refused
    for method, answer in refused.items():
        assert answer.status_code == 405
        assert answer.headers["allow"] == allowed
        assert "openstack-api-version" not in answer.headers
        assert method == "HEAD" or shape_b(405, answer)
    assert api.manager.calls == []


def test_an_unknown_method_is_refused_as_any_other(api: Api) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # wsgiref's validator rejects such methods.
        answer = api.request("FETCH", "/v1/leases")

    assert shape_b(405, answer)


@pytest.mark.parametrize("path", ["/v1/leases", "/v1/leases/l1", "/v1/os-hosts", "/", "/v1"])
def test_head_answers_as_get_without_the_body(api: Api, path: str) -> None:
    head, get = api.request("HEAD", path), api.get(path)

    assert head.status_code == get.status_code
    assert head.content == b""
    assert head.headers["content-length"] == str(len(get.content))


@pytest.mark.parametrize(
    "path",
    [
        "/v1/nothing",
        "/v1/leases/",
        "/v1/leases/l1/",
        "/v1/leases/l1/x",
        "/v1/leases/%00",
        "/v1/Leases",
        "/V1/leases",
        "/v1/os-hosts/",
        "/v1/os-hosts/allocations/",
        "/v1/os-hosts/properties/",
        "/v1/os-hosts/17/allocations",
        "/v1/floatingip",
        "/v1/plugins",
        "/v2/leases",
        "/versions/",
        "/healthcheck/",
    ],
)
def test_an_unknown_path_is_404(api: Api, path: str) -> None:
    answer = api.get(path)

    assert shape_b(404, answer)
    assert "openstack-api-version" not in answer.headers


def test_hosts_are_served_only_where_they_can_be_reserved(make_api: Callable[..., Api]) -> None:
    api = make_api(types=load_apis(["virtual.instance.plugin"]))

    assert api.get("/v1/os-hosts").status_code == 404
    assert api.get("/v1/leases").status_code == 200


def test_doubled_slashes_are_redirected_inside_the_service(api: Api) -> None:
    plain = api.get("/v1//leases", query_string="a=b")
    mounted = api.get("/v1///leases//x y", root_path="/reservation")
    hostile = api.get("//evil.example//v1")

    assert (plain.status_code, plain.headers["location"]) == (308, "/v1/leases?a=b")
    assert mounted.headers["location"] == "/reservation/v1/leases/x%20y"
    assert hostile.headers["location"] == "/evil.example/v1"


@pytest.mark.parametrize("kind", [None, "", "application/json", "Application/JSON; charset=utf-8"])
def test_a_body_is_json_unless_it_says_otherwise(api: Api, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}

    assert api.post("/v1/leases", body=json.dumps(LEASE), headers=headers).status_code == 201


@pytest.mark.parametrize("kind", ["text/json", "text/plain", "application/vnd.x+json", "x"])
def test_a_body_that_says_it_is_something_else_is_refused(api: Api, kind: str) -> None:
    headers = {"Content-Type": kind}

    assert shape_b(400, api.post("/v1/leases", body=json.dumps(LEASE), headers=headers))
    assert shape_b(400, api.put("/v1/leases/l1", body="{}", headers=headers))
    assert shape_b(400, api.patch("/v1/os-hosts/properties/gpu", body="{}", headers=headers))
    assert api.get("/v1/leases", headers=headers).status_code == 200
    assert api.delete("/v1/leases/l1", headers=headers).status_code == 204


@pytest.mark.parametrize("accept", [None, "", "*/*", "text/html", "application/xml"])
def test_whatever_a_client_accepts_it_gets_json(api: Api, accept: str | None) -> None:
    headers = {} if accept is None else {"Accept": accept}

    for path in ("/v1/leases", "/v1/nothing", "/"):
        assert api.get(path, headers=headers).headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"{'a': 1}",
        b'{"a": "\xff"}',
        b"\xef\xbb\xbf{}",
        '{"a": 1}'.encode("utf-16"),
        b'{"min": NaN}',
        b'{"min": Infinity}',
        b'{"min": ' + b"9" * 5000 + b"}",
        b"[" * 50_000 + b"]" * 50_000,
        b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        b"[" * 50_000,
    ],
    ids=lambda body: repr(body[:20]),
)
def test_a_body_that_is_not_json_is_refused(api: Api, body: bytes) -> None:
    assert shape_b(400, api.post("/v1/leases", body=body))
    assert api.manager.calls == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"min": 1e999}', "min: is not a finite number"),
        (b'{"min": 9223372036854775808}', "min: does not fit 64 bits"),
        (b'{"name": "a\\u0000b"}', "name: may not contain NUL or half a surrogate pair"),
        (b'{"name": "\\ud800"}', "name: may not contain NUL or half a surrogate pair"),
        (b'{"a\\u0000b": 1}', "a\\x00b: may not contain NUL or half a surrogate pair"),
        (b'{"a": {"b": [1, "\\u0000"]}}', "a.b[1]: may not contain NUL or half a surrogate pair"),
        (b'{"a": ' + b"[" * 40 + b"]" * 40 + b"}", "a[0][0]: is nested more than 32 levels deep"),
    ],
)
def test_json_that_cannot_be_stored_is_refused_by_the_name_of_its_key(
    api: Api, body: bytes, message: str
) -> None:
    answer = api.post("/v1/leases", body=body)

    assert answer.json == {"error_code": 400, "error_message": message, "error_name": 400}
    assert api.manager.calls == []


def test_json_at_the_limits_is_accepted(api: Api) -> None:
    value = {"min": 2**63 - 1, "deep": [[[[{"x": 1.5}]]]], "text": "é\u20ac😀"}
    body = {**LEASE, "reservations": [{"resource_type": "x", **value}]}

    assert api.post("/v1/leases", json=body).status_code == 201
    assert api.manager.calls[-1][1]["reservations"] == body["reservations"]


def test_a_body_that_is_too_long_is_refused_whole_or_in_chunks(make_api: Callable[..., Api]) -> None:
    api = make_api(max_body_bytes=100)
    short = json.dumps(LEASE).encode().ljust(100)

    assert api.post("/v1/leases", body=short).status_code == 201
    assert shape_b(413, api.post("/v1/leases", body=short + b" "))
    assert shape_b(413, chunked(api, b"x" * 101))
    assert chunked(api, short).status_code == 201


def chunked(api: Api, body: bytes) -> Any:
    """Send a POST request without a Content-Length; the body ends at the end of the stream."""
    stream = io.BytesIO(body)
    extras = {"wsgi.input": stream, "HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}
    return api.post("/v1/leases", extras=extras)


@pytest.mark.parametrize("length", [{}, {"Content-Length": "0"}])
def test_no_body_is_an_empty_object(api: Api, length: dict[str, str]) -> None:
    assert api.put("/v1/leases/l1", headers=length).status_code == 200
    assert api.post("/v1/leases", headers=length).json["error_message"].startswith("Missing parameter name")


def test_a_body_of_unknown_length_is_not_waited_for(api: Api) -> None:
    class Endless(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise AssertionError("this would wait forever")

    answer = api.put("/v1/leases/l1", extras={"wsgi.input": Endless()})

    assert answer.status_code == 200


def test_answers_are_ascii(api: Api) -> None:
    api.manager.leases["l1"]["name"] = "Zürich"

    answer = api.get("/v1/leases/l1")

    assert b'"name": "Z\\u00fcrich"' in answer.content
    assert answer.headers["content-type"] == "application/json"


def test_a_query_value_with_nul_is_refused(api: Api) -> None:
    answer = api.get("/v1/os-hosts/allocations", query_string="lease_id=%00")

    assert answer.status_code == 400
    assert answer.json["error_code"] == 400
