"""A real HTTP server that answers what a test told it to, and clients that talk to it."""

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
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server is to say; *body* is sent as JSON unless it is text."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


class Stub(ThreadingHTTPServer):
    """A reservation service that plays back answers, and a Keystone that knows where it is."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.root = f"http://127.0.0.1:{self.server_port}"
        self.url = f"{self.root}/reservation/v1"
        self.answers: deque[Answer] = deque()
        self.sent: list[Sent] = []
        self.tokens = 0

    def will(self, body: Any = None, status: int = 200, **headers: str) -> None:
        """Answer the next request to the service, after those already told, with that."""
        self.answers.append(
            Answer(status, body, {key.replace("_", "-"): each for key, each in headers.items()})
        )

    @property
    def calls(self) -> list[tuple[str, str, Any]]:
        """Return what the service was asked: method, path below its URL, body."""
        return [(each.method, each.path, each.body) for each in self.sent]

    def identity(self) -> dict[str, Any]:
        link = {"rel": "self", "href": f"{self.root}/identity/v3"}
        return {"id": "v3.14", "status": "stable", "links": [link]}

    def token(self) -> dict[str, Any]:
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
            for kind, where in (("reservation", "/reservation/v1"), ("identity", "/identity/v3"))
        ]
        return {
            "token": {
                "methods": ["password"],
                "user": {"id": "u", "name": "u", "domain": {"id": "default", "name": "Default"}},
                "project": {"id": "p", "name": "p", "domain": {"id": "default", "name": "Default"}},
                "roles": [{"id": "r", "name": "member"}],
                "issued_at": "2031-01-01T00:00:00.000000Z",
                "expires_at": "2099-01-01T00:00:00.000000Z",
                "catalog": catalog,
            }
        }


class Handler(BaseHTTPRequestHandler):
    server: Stub

    def _answer(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/identity/v3/auth/tokens":
            self.server.tokens += 1
            headers = {"X-Subject-Token": f"token-{self.server.tokens}"}
            return self._send(Answer(201, self.server.token(), headers))
        if self.path == "/identity/v3":
            return self._send(Answer(200, {"version": self.server.identity()}))
        prefix = "/reservation/v1"
        if not self.path.startswith(f"{prefix}/"):
            return self._send(Answer(404, {"error": 404, "error_message": f"wrong path {self.path}"}))
        body = json.loads(raw) if raw else None
        self.server.sent.append(Sent(self.command, self.path.removeprefix(prefix), dict(self.headers), body))
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
        """Stay silent."""


@pytest.fixture
def stub() -> Iterator[Stub]:
    with Stub() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


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
    """A client made in each of the two ways."""
    made: Client = request.getfixturevalue(f"by_{request.param}")
    return made


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """The environment of commands: empty, in an empty home, in Berlin's time zone."""
    for name in ("OS_CLOUD", "OS_AUTH_TYPE", "OS_ENDPOINT", "OS_RESERVATION_API_VERSION", "OS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return monkeypatch


def run_blazar(capsys: pytest.CaptureFixture[str], *words: str) -> Ran:
    """Return what ``blazar`` does in this process; what it sets up for logging is taken back."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    capsys.readouterr()
    try:
        code = shell.main(words)
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
    said = capsys.readouterr()
    return Ran(code, said.out, said.err)


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
    """Run ``blazar`` with the stub's Keystone, as a classic openrc file has it."""
    environment.setenv("OS_AUTH_URL", f"{stub.root}/identity/v3")
    for name, value in OPENRC.items():
        environment.setenv(name, value)
    return lambda *words: run_blazar(capsys, *words)


@contextmanager
def running(folder: Path, options: str) -> Iterator[str]:
    """Give the URL of an embedded service with those options in ``[DEFAULT]``."""
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
    """The URL of an embedded service that runs as long as the tests do."""
    with running(tmp_path_factory.mktemp("service"), "") as url:
        yield url


@pytest.fixture
def embedded(service: str, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run ``blazar`` against the embedded service, without authentication."""
    environment.setenv("OS_AUTH_TYPE", "none")
    environment.setenv("OS_ENDPOINT", service)
    return lambda *words: run_blazar(capsys, *words)
