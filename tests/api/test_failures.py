"""Requests are answered even if code that serves them raises an exception."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import falcon.testing
import pytest
from api.conftest import Api
from oslo_config import cfg
from telemetry.listening import listening

from blazar.api.failures import with_failures_answered
from blazar.cmd.http import make_server, serve_until
from blazar.config import register


def raising(environ: Any, start_response: Any) -> Any:
    raise RuntimeError("secret")


def raising_after_start(environ: Any, start_response: Any) -> Any:
    start_response("200 OK", [("Content-Type", "text/plain"), ("X-Left", "over")])
    raise RuntimeError("secret")


def raising_in_the_body(environ: Any, start_response: Any) -> Iterator[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    yield b"half"
    raise RuntimeError("secret")


def starting_badly(environ: Any, start_response: Any) -> Any:
    start_response("200 OK", [("X-Bad", "two\r\nlines")])
    return [b""]


BAD = [raising, raising_after_start, raising_in_the_body, starting_badly]
BODY = {"error_code": 500, "error_message": "Internal Server Error", "error_name": "INTERNAL_SERVER_ERROR"}


def check(headers: Any, body: bytes) -> None:
    assert headers["content-type"] == "application/json"
    assert headers["x-openstack-request-id"].startswith("req-")
    assert "x-left" not in headers
    assert json.loads(body) == BODY


@contextmanager
def served(app: Any) -> Iterator[str]:
    conf = cfg.ConfigOpts()
    conf([], project="blazar", default_config_files=[], default_config_dirs=[])
    register(conf)
    server = make_server(app, conf, "127.0.0.1", 0)
    stop = threading.Event()
    thread = threading.Thread(target=serve_until, args=(server, stop))
    thread.start()
    yield f"http://127.0.0.1:{server.effective_port}"
    stop.set()
    thread.join()


@pytest.mark.parametrize("app", BAD)
def test_the_built_in_server_answers_whatever_is_raised(app: Any) -> None:
    with served(app) as url, listening(None) as lines, pytest.raises(HTTPError) as caught:
        urlopen(f"{url}/v1/leases")

    with caught.value as answer:
        assert answer.code == 500
        check({name.lower(): value for name, value in answer.headers.items()}, answer.read())
    assert len([each for each in lines if "Request failed" in each.text]) == 1


@pytest.mark.parametrize("app", BAD[:3])
def test_authentication_that_raises_is_answered_with_the_requests_id(
    make_api: Callable[..., Api], app: Any
) -> None:
    api = make_api(guard=lambda inner: app)

    with listening(None) as lines:
        answer = falcon.testing.TestClient(api.app).simulate_get("/v1/leases")

    assert answer.status_code == 500
    check(answer.headers, answer.content)
    assert len([each for each in lines if "Request failed" in each.text]) == 1


def test_an_exception_is_logged_and_answered_once(make_api: Callable[..., Api]) -> None:
    api = make_api(guard=lambda inner: raising)
    client = falcon.testing.TestClient(with_failures_answered(api.app, names_request=True))

    answer = client.simulate_get("/v1/leases")

    assert answer.status_code == 500
    check(answer.headers, answer.content)


def test_a_body_that_must_be_closed_is_closed() -> None:
    closed = []

    class Body:
        def __iter__(self) -> Iterator[bytes]:
            yield b"{}"

        def close(self) -> None:
            closed.append(True)

    def app(environ: Any, start_response: Any) -> Any:
        start_response("200 OK", [("Content-Type", "application/json")])
        return Body()

    assert falcon.testing.TestClient(with_failures_answered(app)).simulate_get("/").json == {}
    assert closed == [True]
