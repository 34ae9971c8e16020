"""A stub of OpenStack with prepared replies, over HTTP on a free port of this machine.

Its Keystone issues tokens. Other requests get the replies that a test prepared, or 404. All requests are
recorded.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from rig.cloud.handler import Handler

TOKENS = "/identity/v3/auth/tokens"
CATALOG = {
    "compute": "/compute/v2.1",
    "placement": "/placement",
    "network": "/network",
    "image": "/image",
    "block-storage": "/volume",
}
"""Paths of the services, by their types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A reply. Text is sent unchanged, other values as JSON."""

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    is_withheld: bool = False
    """No reply is sent until the stub is closed."""
    is_cut: bool = False
    """The connection is closed without a reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A recorded request."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    connection: tuple[str, int]

    @property
    def token(self) -> str | None:
        """Return the token of the request."""
        return self.headers.get("X-Auth-Token")


class StubCloud:
    """A server with its own threads; use it in a ``with`` statement."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.endpoints = {service_type: {("internal", "one"): path} for service_type, path in CATALOG.items()}
        """The catalog: paths by interface and region, by service type."""
        self.roles: tuple[str, ...] = ("admin",)
        """The roles of all tokens."""
        self.token_expires_at = "2999-01-01T00:00:00.000000Z"
        self._replies: dict[tuple[str, str], list[Reply]] = defaultdict(list)
        self._lock = threading.Lock()
        self._is_closing = threading.Event()
        self._tokens = 0
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.stub = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> StubCloud:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Return the base URL of all paths."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def port(self) -> int:
        """Return the port."""
        return int(self._server.server_address[1])

    def lay_out(self, method: str, path: str, *replies: Reply) -> None:
        """Prepare replies: each is used once, but the last one for all further requests."""
        with self._lock:
            self._replies[method, path] = list(replies)

    def asked(self, method: str, path: str) -> list[Request]:
        """Return the requests for this path, oldest first."""
        with self._lock:
            return [each for each in self.requests if (each.method, each.path) == (method, path)]

    def answer(self, request: Request) -> Reply:
        """Record a request and return its reply."""
        with self._lock:
            self.requests.append(request)
            replies = self._replies.get((request.method, request.path))
            if replies:
                return replies.pop(0) if len(replies) > 1 else replies[0]
            if (request.method, request.path) == ("POST", TOKENS):
                self._tokens += 1
                return self._token(f"token-{self._tokens}")
        if request.path.rstrip("/") == "/identity":
            return Reply(status=300, body={"versions": {"values": [self._identity_version()]}})
        return Reply(status=404, body={"itemNotFound": {"code": 404, "message": "not laid out"}})

    def wait_for_end(self) -> None:
        """Return when the stub is closed."""
        self._is_closing.wait()

    def _identity_version(self) -> object:
        links = [{"rel": "self", "href": f"{self.url}/identity/v3/"}]
        return {"id": "v3.14", "status": "stable", "links": links, "media-types": []}

    def _token(self, token: str) -> Reply:
        catalog = [
            {
                "type": service_type,
                "name": f"{service_type}-name",
                "id": service_type,
                "endpoints": [
                    {
                        "id": f"{interface}-{region}",
                        "interface": interface,
                        "region": region,
                        "region_id": region,
                        "url": f"{self.url}{path}",
                    }
                    for (interface, region), path in paths.items()
                ],
            }
            for service_type, paths in self.endpoints.items()
        ]
        domain = {"id": "default", "name": "Default"}
        described = {
            "methods": ["password"],
            "issued_at": "2001-01-01T00:00:00.000000Z",
            "expires_at": self.token_expires_at,
            "user": {"id": "user-id", "name": "user", "domain": domain},
            "project": {"id": "project-id", "name": "project", "domain": domain},
            "roles": [{"id": f"{each}-id", "name": each} for each in self.roles],
            "catalog": catalog,
        }
        return Reply(status=201, body={"token": described}, headers={"X-Subject-Token": token})


class _Server(ThreadingHTTPServer):
    stub: StubCloud
    daemon_threads = True
    block_on_close = False
    request_queue_size = 100


class _Handler(Handler):
    server: _Server

    def serve(self) -> None:
        """Serve the current request."""
        content = self.content()
        parts = urlsplit(self.path)
        request = Request(
            method=self.command,
            path=unquote(parts.path),
            query={key: ",".join(values) for key, values in parse_qs(parts.query).items()},
            headers=dict(self.headers.items()),
            body=json.loads(content) if content else None,
            connection=self.client_address,
        )
        reply = self.server.stub.answer(request)
        if reply.is_withheld:
            self.server.stub.wait_for_end()
        if reply.is_cut or reply.is_withheld:
            self.close_connection = True
            return
        self._send(reply)

    def _send(self, reply: Reply) -> None:
        is_text = isinstance(reply.body, str)
        content = (reply.body if is_text else json.dumps(reply.body)).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", "text/html" if is_text else "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()
