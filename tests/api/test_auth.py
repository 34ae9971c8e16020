from __future__ import annotations

import base64
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bcrypt
import falcon.testing
import pytest
from api.conftest import Api
from oslo_config import cfg

from blazar.api.auth import make_guard
from blazar.api.basic import parse_users
from blazar.settings import ApiSettings

PUBLIC = ["/", "/versions", "/v1", "/v1/", "/healthcheck"]


def hashed(password: str) -> str:
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()


def basic(text: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(text.encode()).decode()}


def ask(api: Api, path: str = "/v1/leases", **more: Any) -> falcon.testing.Result:
    """Send a GET request without the identity headers that the fixture's client sends."""
    return falcon.testing.TestClient(api.app).simulate_get(path, **more)


@pytest.fixture
def users(tmp_path: Path) -> Path:
    file = tmp_path / "htpasswd"
    file.write_text(
        "# permitted users\n\n"
        f"alice:{hashed('wonder:land')}\n"
        f"bob:{hashed('builder').replace('$2b$', '$2y$')}:member, reader\n"
    )
    return file


@pytest.fixture
def basic_api(make_api: Callable[..., Api], users: Path) -> Api:
    return make_api(auth_strategy="http_basic", http_basic_user_file=str(users))


def test_noauth_takes_everybody_for_an_operator(api: Api) -> None:
    assert ask(api).status_code == 200
    caller = api.manager.caller
    assert (caller.user_id, caller.project_id) == ("admin", "admin")
    assert caller.roles == ("admin", "member", "reader")


def test_noauth_believes_headers(api: Api) -> None:
    answer = ask(api, headers={"X-Roles": "reader", "X-Project-Id": "p2"})

    assert [lease["id"] for lease in answer.json["leases"]] == ["l2"]


def test_roles_and_projects_have_their_older_headers(make_api: Callable[..., Api]) -> None:
    api = make_api(guard=lambda app: app)

    answer = ask(api, headers={"X-Role": "reader", "X-Tenant-Id": "p2"})

    assert [lease["id"] for lease in answer.json["leases"]] == ["l2"]


def test_a_reader_without_a_project_has_no_list(make_api: Callable[..., Api]) -> None:
    api = make_api(guard=lambda app: app)

    assert ask(api, headers={"X-Roles": "reader"}).status_code == 403
    assert len(ask(api, headers={"X-Roles": "admin"}).json["leases"]) == 2


def test_a_user_of_the_file_acts_in_a_project_of_their_name(basic_api: Api) -> None:
    first, second = (ask(basic_api, headers=basic("alice:wonder:land")) for _ in range(2))

    assert first.status_code == second.status_code == 200
    caller = basic_api.manager.caller
    assert (caller.user_id, caller.project_id, caller.token) == ("alice", "alice", None)
    assert caller.roles == ("admin", "member", "reader")


def test_a_user_of_the_file_has_the_roles_written_there(basic_api: Api) -> None:
    assert ask(basic_api, headers=basic("bob:builder")).status_code == 200
    assert basic_api.manager.caller.roles == ("member", "reader")
    assert ask(basic_api, "/v1/os-hosts", headers=basic("bob:builder")).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Basic"},
        {"Authorization": "Basic !!!"},
        {"Authorization": "Bearer x"},
        {"Authorization": "Basic " + base64.b64encode(b"\xff:x").decode()},
        basic("alice"),
        basic("alice:"),
        basic("alice:builder"),
        basic("alice:wonder:land2"),
        basic("carol:wonder:land"),
        basic("alice:" + "x" * 200),
        basic("# permitted users:x"),
        basic(":"),
    ],
)
def test_who_is_not_in_the_file_is_refused(basic_api: Api, headers: dict[str, str]) -> None:
    answer = ask(basic_api, headers=headers)

    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["www-authenticate"] == 'Basic realm="blazar"'
    assert answer.headers["x-openstack-request-id"].startswith("req-")
    assert answer.json["error"]["code"] == 401
    assert set(answer.json["error"]) == {"code", "title", "message"}


def test_a_user_of_the_file_cannot_pose_as_another_user(basic_api: Api) -> None:
    posing = {
        "X-Roles": "admin",
        "X-Role": "admin",
        "X-User-Id": "alice",
        "X-Project-Id": "p1",
        "X-Tenant-Id": "p1",
        "X-Domain-Id": "d1",
        "X-Auth-Token": "t",
        "X-Service-Roles": "service",
        "OpenStack-System-Scope": "all",
    }

    answer = ask(basic_api, headers={**posing, **basic("bob:builder")})

    assert answer.status_code == 200
    caller = basic_api.manager.caller
    assert (caller.user_id, caller.project_id, caller.token) == ("bob", "bob", None)
    assert caller.roles == ("member", "reader")


def test_a_global_request_id_survives_authentication(basic_api: Api) -> None:
    request_id = "req-0a1b2c3d-0a1b-4c3d-8e5f-0a1b2c3d4e5f"

    ask(basic_api, headers={"X-Openstack-Request-Id": request_id, **basic("bob:builder")})

    assert basic_api.manager.caller.global_request_id == request_id


def test_the_file_is_read_again_when_it_changes(basic_api: Api, users: Path) -> None:
    assert ask(basic_api, headers=basic("bob:builder")).status_code == 200

    users.write_text(f"bob:{hashed('new')}\ncarol:{hashed('x')}\n")

    assert ask(basic_api, headers=basic("bob:builder")).status_code == 401
    assert ask(basic_api, headers=basic("bob:new")).status_code == 200
    assert ask(basic_api, headers=basic("carol:x")).status_code == 200


def test_a_file_that_is_spoilt_or_gone_leaves_the_users_as_they_were(basic_api: Api, users: Path) -> None:
    users.write_text("this is no user\n")
    assert ask(basic_api, headers=basic("bob:builder")).status_code == 200

    os.unlink(users)
    assert ask(basic_api, headers=basic("bob:builder")).status_code == 200


@pytest.mark.parametrize("line", ["alice", "alice:", ":$2y$04$x", "alice:{SHA}x", "alice:plain:admin"])
def test_a_line_that_cannot_be_used_is_named_by_its_number_only(line: str) -> None:
    with pytest.raises(ValueError, match="line 2") as caught:
        parse_users(f"# first\n{line}\n")

    assert "alice" not in str(caught.value)


@pytest.mark.parametrize("path", PUBLIC)
def test_version_documents_and_health_need_no_password(basic_api: Api, path: str) -> None:
    assert ask(basic_api, path).status_code in (200, 300)


@pytest.mark.parametrize("path", ["/v1/leases", "/v1/nothing", "/v2", "/v1/leases/", "//"])
def test_everything_else_does(basic_api: Api, path: str) -> None:
    assert ask(basic_api, path).status_code == 401


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"auth_strategy": "kerberos"}, "kerberos"),
        ({"auth_strategy": "http_basic"}, "http_basic_auth_user_file is not set"),
        ({"auth_strategy": "http_basic", "http_basic_user_file": "/nowhere/htpasswd"}, "cannot read"),
    ],
)
def test_settings_that_cannot_work_stop_the_start(
    conf: cfg.ConfigOpts, settings: dict[str, str], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        make_guard(ApiSettings(**settings), conf)  # type: ignore[arg-type]
