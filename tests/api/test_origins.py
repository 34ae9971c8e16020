"""Restrictions for requests that web pages can make a browser send, without authentication."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import falcon.testing
import pytest
from api.conftest import LEASE, Api
from api.test_auth import basic, hashed
from oslo_config import cfg

from blazar.api.auth import make_guard
from blazar.settings import ApiSettings

JSON = {"Content-Type": "application/json"}
HOST = "127.0.0.1:1234"


@pytest.fixture
def ask(conf: cfg.ConfigOpts, make_api: Callable[..., Api]) -> Callable[..., falcon.testing.Result]:
    settings = ApiSettings(auth_strategy="noauth", trusted_hosts=frozenset({"blazar.example"}))
    client = falcon.testing.TestClient(make_api(guard=make_guard(settings, conf)).app)

    def ask(method: str, path: str = "/v1/leases", **headers: str) -> falcon.testing.Result:
        sent = {"Host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
        body = json.dumps(LEASE) if method == "POST" else None
        return client.simulate_request(method, path, headers=sent, body=body)

    return ask


@pytest.mark.parametrize(
    "host",
    [
        "localhost:1234",
        "127.0.0.1",
        "127.8.0.1:1",
        "[::1]:1234",
        "10.0.0.7",
        "LOCALHOST.",
        "blazar.example:80",
    ],
)
def test_own_names_and_addresses_are_accepted(ask: Any, host: str) -> None:
    assert ask("GET", Host=host).status_code == 200
    assert ask("POST", Host=host, Origin=f"http://{host}", **JSON).status_code == 201


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example:1234", "127.0.0.1.evil.example", "[x"]
)
def test_a_name_that_was_rebound_to_this_machine_is_refused(ask: Any, method: str, host: str) -> None:
    answer = ask(method, Host=host, Origin=f"http://{host}", **JSON)

    assert answer.status_code == 403
    assert answer.headers["content-type"] == "application/json"
    assert "[api] trusted_hosts" in answer.json["error_message"]
    assert answer.headers["x-openstack-request-id"].startswith("req-")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://127.0.0.1:8080"},
        {"Origin": "http://[x"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_a_change_by_a_page_of_another_origin_is_refused(ask: Any, headers: dict[str, str]) -> None:
    for method, path in (("POST", "/v1/leases"), ("PUT", "/v1/leases/l1"), ("DELETE", "/v1/leases/l1")):
        answer = ask(method, path, **JSON, **headers)

        assert answer.status_code == 403
        assert "another origin" in answer.json["error_message"]


def test_a_page_of_a_trusted_host_may_change(ask: Any) -> None:
    assert ask("POST", Origin="https://blazar.example:8443", **JSON).status_code == 201


@pytest.mark.parametrize("kind", [None, "", "text/plain", "application/x-www-form-urlencoded", "text/json"])
def test_a_post_that_is_not_declared_as_json_is_refused(ask: Any, kind: str | None) -> None:
    answer = ask("POST", **({} if kind is None else {"Content-Type": kind}))

    assert answer.status_code == 400
    assert answer.json["error_message"] == "The body's content type must be application/json"


def test_with_passwords_a_browser_cannot_be_used_either(make_api: Callable[..., Api], tmp_path: Path) -> None:
    users = tmp_path / "htpasswd"
    users.write_text(f"alice:{hashed('wonderland')}\n")
    api = make_api(auth_strategy="http_basic", http_basic_user_file=str(users))
    client = falcon.testing.TestClient(api.app, headers=basic("alice:wonderland"))

    # Any host name is accepted: a browser does not send the password to a rebound name.
    assert client.simulate_post("/v1/leases", json=LEASE).status_code == 201
    foreign = client.simulate_post("/v1/leases", json=LEASE, headers={"Origin": "http://evil.example"})
    assert foreign.status_code == 403
