"""Fixtures: a stub HTTP server with responses from the test, clients, and commands."""

from __future__ import annotations

import json
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests
from keystoneauth1 import session as ksa_session
from keystoneauth1.identity import v3
from programs import start_standalone

from blazarclient import shell
from blazarclient.v1.client import Client


@dataclass(frozen=True, slots=True)
class Sent:
    """A received request."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """A response; *body* is sent as JSON unless it is text."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


class Stub(ThreadingHTTPServer):
    """Stub of the reservation service with queued responses, and of Keystone and Nova."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.root = f"http://127.0.0.1:{self.server_port}"
        self.url = f"{self.root}/reservation/v1"
        self.answers: deque[Answer] = deque()
        self.sent: list[Sent] = []
        self.tokens = 0
        self.credentials: list[Any] = []
        """What clients sent to Keystone for a token."""
        self.has_versions = False
        """Whether the service has a version document, which openstacksdk needs for API 1.1."""
        self.accepts_credentials = True
        self.hypervisors: list[str] | None = None
        """Hypervisors in Nova; None for a cloud without Nova."""
        self.project = {"id": "p", "name": "p"}
        """Project of the user's token."""
        self.projects: list[Any] = []
        """Projects that Keystone lists."""
        self.leases: list[Any] = []
        """Leases to list when no response is queued."""

    def respond(self, body: Any = None, status: int = 200, **headers: str) -> None:
        """Queue a response of the service."""
        self.answers.append(
            Answer(status, body, {key.replace("_", "-"): each for key, each in headers.items()})
        )

    @property
    def calls(self) -> list[tuple[str, str, Any]]:
        """Return the requests to the service: method, path below its URL, body."""
        return [(each.method, each.path, each.body) for each in self.sent]

    def version(self) -> dict[str, Any]:
        links = [{"rel": "self", "href": self.url}]
        versions = {"version": "1.1", "min_version": "1.0", "max_version": "1.1"}
        return {"id": "v1.0", "status": "CURRENT", "links": links, **versions}

    def identity(self) -> dict[str, Any]:
        link = {"rel": "self", "href": f"{self.root}/identity/v3"}
        return {"id": "v3.14", "status": "stable", "links": [link]}

    def token(self) -> dict[str, Any]:
        endpoints = [("reservation", "/reservation/v1"), ("identity", "/identity/v3")]
        if self.hypervisors is not None:
            endpoints.append(("compute", "/compute/v2.1"))
        catalog = [
            {
                "type": kind,
                "name": kind,
                "id": kind,
                "endpoints": [
                    {
                        "id": f"{kind}-{region}",
                        "interface": "public",
                        "region": region,
                        "region_id": region,
                        "url": url,
                    }
                    for region, url in (("one", f"{self.root}{where}"), ("two", f"{self.root}/elsewhere/v1"))
                ],
            }
            for kind, where in endpoints
        ]
        return {
            "token": {
                "methods": ["password"],
                "user": {"id": "u", "name": "u", "domain": {"id": "default", "name": "Default"}},
                "project": self.project | {"domain": {"id": "default", "name": "Default"}},
                "roles": [{"id": "r", "name": "member"}],
                "issued_at": "2031-01-01T00:00:00.000000Z",
                "expires_at": "2099-01-01T00:00:00.000000Z",
                "catalog": catalog,
            }
        }


class Handler(BaseHTTPRequestHandler):
    server: Stub

    def _elsewhere(self, prefix: str) -> Answer:
        if self.server.has_versions and self.path.rstrip("/") == prefix:
            return Answer(200, {"versions": [self.server.version()]})
        return Answer(404, {"error": 404, "error_message": f"wrong path {self.path}"})

    def _answer(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/identity/v3/auth/tokens":
            self.server.credentials.append(json.loads(raw)["auth"])
            if not self.server.accepts_credentials:
                problem = {"error": {"code": 401, "message": "The request requires authentication."}}
                return self._send(Answer(401, problem, {"X-Openstack-Request-Id": "req-k"}))
            self.server.tokens += 1
            headers = {"X-Subject-Token": f"token-{self.server.tokens}"}
            return self._send(Answer(201, self.server.token(), headers))
        if self.path == "/identity/v3":
            return self._send(Answer(200, {"version": self.server.identity()}))
        if self.path.startswith("/compute/v2.1/os-hypervisors"):
            names = enumerate(self.server.hypervisors or ())
            listed = [{"id": n, "hypervisor_hostname": name} for n, name in names]
            return self._send(Answer(200, {"hypervisors": listed}))
        if self.path.startswith("/identity/v3/projects?"):
            return self._send(Answer(200, {"projects": self.server.projects}))
        prefix = "/reservation/v1"
        if not self.path.removesuffix("/").startswith(f"{prefix}/"):
            return self._send(self._elsewhere(prefix))
        body = json.loads(raw) if raw else None
        self.server.sent.append(Sent(self.command, self.path.removeprefix(prefix), dict(self.headers), body))
        if not self.server.answers and (self.command, self.path) == ("GET", f"{prefix}/leases"):
            return self._send(Answer(200, {"leases": self.server.leases}))
        return self._send(self.server.answers.popleft())

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

    def _send(self, answer: Answer) -> None:
        text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
        raw = b"" if answer.body is None else text.encode()
        self.send_response(answer.status)
        for key, each in answer.headers.items():
            self.send_header(key, each)
        if answer.status != 204:
            self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing."""


@pytest.fixture
def stub() -> Iterator[Stub]:
    with Stub() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def prod(stub: Stub) -> dict[str, str]:
    """Return the authentication of a cloud in clouds.yaml."""
    return {
        "auth_url": f"{stub.root}/identity/v3",
        "username": "u",
        "password": "p",
        "project_name": "p",
        "user_domain_id": "default",
        "project_domain_id": "default",
    }


@pytest.fixture
def session(stub: Stub) -> Iterator[ksa_session.Session]:
    auth = v3.Password(
        f"{stub.root}/identity/v3",
        username="u",
        password="p",
        user_domain_id="default",
        project_name="p",
        project_domain_id="default",
    )
    with requests.Session() as connections:
        connections.trust_env = False
        yield ksa_session.Session(auth=auth, session=connections)


@pytest.fixture
def by_session(session: ksa_session.Session) -> Client:
    return Client(session=session, service_type="reservation", region_name="one")


@pytest.fixture
def by_token(stub: Stub) -> Client:
    return Client(stub.url, "some-token")


@pytest.fixture(params=["session", "token"])
def client(request: pytest.FixtureRequest) -> Client:
    """A client with a session, and one with a URL and a token."""
    made: Client = request.getfixturevalue(f"by_{request.param}")
    return made


@dataclass(frozen=True, slots=True)
class Result:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """An environment for commands: no cloud, an empty home directory, Berlin's time zone."""
    for name in ("OS_CLOUD", "OS_AUTH_TYPE", "OS_ENDPOINT", "OS_RESERVATION_API_VERSION", "OS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return monkeypatch


@contextmanager
def kept_logging() -> Iterator[None]:
    """Restore the configuration of logging when the context ends."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def run_blazar(capsys: pytest.CaptureFixture[str], *words: str) -> Result:
    """Run ``blazar`` in this process, and return the result."""
    capsys.readouterr()
    with kept_logging():
        try:
            code = shell.main(words)
        except SystemExit as ended:
            code = int(ended.code or 0)
    output = capsys.readouterr()
    return Result(code, output.out, output.err)


OPENRC = {
    "OS_USERNAME": "u",
    "OS_PASSWORD": "p",
    "OS_PROJECT_NAME": "p",
    "OS_USER_DOMAIN_ID": "default",
    "OS_PROJECT_DOMAIN_ID": "default",
    "OS_REGION_NAME": "one",
}


@pytest.fixture
def blazar(stub: Stub, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run ``blazar`` with the variables of a classic openrc file for the stub's Keystone."""
    environment.setenv("OS_AUTH_URL", f"{stub.root}/identity/v3")
    for name, value in OPENRC.items():
        environment.setenv(name, value)
    return lambda *words: run_blazar(capsys, *words)


@contextmanager
def running(folder: Path, options: str) -> Iterator[str]:
    """Run an embedded service with *options* in ``[DEFAULT]``; the context is its URL."""
    config = folder / "blazar.conf"
    config.write_text(f"[DEFAULT]\n{options}\n")
    program, url = start_standalone(folder, "--config-file", str(config))
    try:
        yield url
    finally:
        program.stop()
        for stream in (program.process.stdout, program.process.stderr):
            assert stream is not None
            stream.close()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of an embedded service that all tests share."""
    with running(tmp_path_factory.mktemp("service"), "\n[notices]\nchannels = webhook") as url:
        yield url


@pytest.fixture
def embedded(service: str, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run ``blazar`` against the embedded service, without authentication."""
    environment.setenv("OS_AUTH_TYPE", "none")
    environment.setenv("OS_ENDPOINT", service)
    return lambda *words: run_blazar(capsys, *words)


@pytest.fixture
def host(embedded: Run) -> Iterator[str]:
    """Name of a host that is registered for the test."""
    registered = {each["hypervisor_hostname"] for each in embedded("host-list", "-f", "json").json}
    name = next(each for each in (f"host-{n}" for n in range(1, 9)) if each not in registered)
    assert embedded("host-create", name, "--extra", f"only={name}").code == 0
    yield name
    embedded("host-delete", name)
