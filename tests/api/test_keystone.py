"""The real token middleware against a Keystone that knows two tokens."""

from __future__ import annotations

import gc
import importlib
import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import falcon.testing
import pytest
from api.conftest import Api
from oslo_config import cfg
from programs import free_port
from served import served

from blazar.api.auth import make_guard
from blazar.settings import ApiSettings

SERVICE_TOKEN = "service"
USER = {"id": "u7", "name": "alice", "domain": {"id": "default", "name": "Default"}}
TOKENS: dict[str, dict[str, object]] = {
    "of-alice": {
        "project": {"id": "p2", "name": "two", "domain": {"id": "default", "name": "Default"}},
        "roles": [{"id": "1", "name": "reader"}, {"id": "2", "name": "member"}],
    },
    "of-the-system": {"system": {"all": True}, "roles": [{"id": "3", "name": "admin"}]},
    "of-a-domain": {"domain": {"id": "d1", "name": "D"}, "roles": [{"id": "3", "name": "admin"}]},
}


def keystone(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """Serve the part of Keystone's API that token validation requires."""
    url = f"http://{environ['HTTP_HOST']}/v3/"
    token = TOKENS.get(environ.get("HTTP_X_SUBJECT_TOKEN", ""))
    body: object
    if not environ["PATH_INFO"].startswith("/v3/auth/tokens"):
        status = "200 OK"
        version = {"id": "v3.14", "status": "stable", "links": [{"rel": "self", "href": url}]}
        body = {"version": version} if environ["PATH_INFO"].startswith("/v3") else {"versions": [version]}
    elif token is None or environ.get("HTTP_X_AUTH_TOKEN") != SERVICE_TOKEN:
        status, body = "404 Not Found", {"error": {"code": 404}}
    else:
        dates = {"issued_at": "2020-01-01T00:00:00.000000Z", "expires_at": "2999-01-01T00:00:00.000000Z"}
        status, body = "200 OK", {"token": {"methods": ["password"], "user": USER, **dates, **token}}
    start_response(status, [("Content-Type", "application/json")])
    return [json.dumps(body).encode()]


@pytest.fixture
def keystone_url() -> Iterator[str]:
    with served(keystone) as url:
        yield url


def configured(file: Path, url: str, more: str = "") -> cfg.ConfigOpts:
    file.write_text(
        "[keystone_authtoken]\n"
        "auth_type = admin_token\n"
        f"endpoint = {url}/v3\n"
        f"token = {SERVICE_TOKEN}\n"
        "www_authenticate_uri = http://keystone.example\n"
        "service_token_roles_required = true\n"
        "http_request_max_retries = 0\n"
        f"delay_auth_decision = true\n{more}"
    )
    found = cfg.ConfigOpts()
    found([], project="blazar", default_config_files=[str(file)], default_config_dirs=[])
    return found


def ask(api: Api, token: str | None, path: str = "/v1/leases", **headers: str) -> falcon.testing.Result:
    sent = {"Accept": "application/json", **headers, **({"X-Auth-Token": token} if token else {})}
    return falcon.testing.TestClient(api.app).simulate_get(path, headers=sent)


@pytest.fixture
def conf(tmp_path: Path, keystone_url: str) -> cfg.ConfigOpts:
    """Return a configuration with the URL of the test's Keystone."""
    return configured(tmp_path / "blazar.conf", keystone_url)


@pytest.fixture
def keystone_api(make_api: Callable[..., Api]) -> Api:
    return make_api(auth_strategy="keystone")


def test_a_valid_token_tells_who_asks(keystone_api: Api) -> None:
    answer = ask(keystone_api, "of-alice")

    assert answer.status_code == 200
    assert [lease["id"] for lease in answer.json["leases"]] == ["l2"]
    caller = keystone_api.manager.caller
    assert (caller.user_id, caller.project_id, caller.token) == ("u7", "p2", "of-alice")
    assert set(caller.roles) == {"reader", "member"}


def test_identity_headers_of_the_client_are_not_believed(keystone_api: Api) -> None:
    posing = {"X-Roles": "admin", "X-Role": "admin", "X-Project-Id": "p1", "X-Tenant-Id": "p1"}

    answer = ask(keystone_api, "of-alice", **posing)

    assert [lease["id"] for lease in answer.json["leases"]] == ["l2"]


@pytest.mark.parametrize("token", [None, "forged"])
@pytest.mark.parametrize("path", ["/v1/leases", "/v1/nothing", "/v2", "//"])
def test_without_a_valid_token_the_middleware_refuses_whatever_is_configured(
    keystone_api: Api, token: str | None, path: str
) -> None:
    answer = ask(keystone_api, token, path, **{"X-Roles": "admin", "X-Project-Id": "p1"})

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Keystone uri="http://keystone.example"'
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.json["error"]["code"] == 401
    assert answer.headers["x-openstack-request-id"].startswith("req-")


@pytest.mark.parametrize("token", ["of-the-system", "of-a-domain"])
def test_a_token_for_no_project_is_refused_by_policy(keystone_api: Api, token: str) -> None:
    answer = ask(keystone_api, token)

    assert answer.status_code == 403
    assert answer.json["error_code"] == 403


@pytest.mark.parametrize("path", ["/", "/versions", "/v1", "/v1/", "/healthcheck"])
def test_version_documents_and_health_need_no_token(keystone_api: Api, path: str) -> None:
    assert ask(keystone_api, None, path).status_code in (200, 300)


def test_an_unreachable_keystone_is_503(
    conf: cfg.ConfigOpts, make_api: Callable[..., Api], tmp_path: Path
) -> None:
    guard = make_guard(ApiSettings(), configured(tmp_path / "other.conf", "http://127.0.0.1:1"))

    answer = ask(make_api(guard=guard), "of-alice")

    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/json"
    assert int(answer.headers["retry-after"]) > 0
    assert answer.json["error"]["code"] == 503
    assert "Keystone does not answer" in answer.json["error"]["message"]


class _Memcached(socketserver.StreamRequestHandler):
    """The part of memcached's protocol that a token cache requires."""

    kept: ClassVar[dict[bytes, tuple[bytes, bytes]]] = {}

    def handle(self) -> None:
        for line in self.rfile:
            verb, *words = line.split()
            if verb == b"set":
                self.kept[words[0]] = (words[1], self.rfile.read(int(words[3])))
                self.rfile.readline()
                self.wfile.write(b"STORED\r\n")
            elif verb in (b"get", b"gets"):
                for key in words:
                    if key in self.kept:
                        flags, value = self.kept[key]
                        self.wfile.write(b"VALUE %b %b %d\r\n%b\r\n" % (key, flags, len(value), value))
                self.wfile.write(b"END\r\n")


@pytest.fixture
def memcached() -> Iterator[int]:
    """Yield the port of a memcached server."""
    _Memcached.kept.clear()
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Memcached) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture
def collected() -> Iterator[None]:
    """Collect garbage after the test; otherwise the middleware's warnings would fail a later test."""
    yield
    gc.collect()


# The library closes neither the sockets of its pool nor those that failed to connect.
ignore_open_sockets = pytest.mark.filterwarnings("ignore::ResourceWarning")
CACHES = [
    "",
    "memcache_use_advanced_pool = false\n",
    "memcache_security_strategy = ENCRYPT\nmemcache_secret_key = kept\n",
]


@ignore_open_sockets
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("more", CACHES)
def test_a_token_is_kept_in_memcached(
    keystone_url: str, memcached: int, tmp_path: Path, make_api: Callable[..., Api], more: str
) -> None:
    conf = configured(
        tmp_path / "cached.conf", keystone_url, f"memcached_servers = 127.0.0.1:{memcached}\n{more}"
    )
    api = make_api(guard=make_guard(ApiSettings(), conf))

    answers = [ask(api, "of-alice").status_code for _ in range(2)]

    assert answers == [200, 200]
    assert _Memcached.kept


@ignore_open_sockets
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("more", CACHES)
def test_without_its_memcached_tokens_are_checked_all_the_same(
    keystone_url: str, tmp_path: Path, make_api: Callable[..., Api], more: str
) -> None:
    conf = configured(
        tmp_path / "cached.conf", keystone_url, f"memcached_servers = 127.0.0.1:{free_port()}\n{more}"
    )
    api = make_api(guard=make_guard(ApiSettings(), conf))

    assert [ask(api, "of-alice").status_code for _ in range(2)] == [200, 200]
    assert ask(api, "forged").status_code == 401


def test_libraries_for_memcached_with_tls_are_installed() -> None:
    assert importlib.import_module("bmemcached").Client
