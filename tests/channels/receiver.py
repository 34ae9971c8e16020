"""A receiver of webhooks on loopback, which answers as a test wants."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.server
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a receiver."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Received:
    """A request."""

    path: str
    headers: Mapping[str, str]
    body: bytes


class Receiver:
    """Answers with the next of ``answers``, the last one again and again; None closes the connection."""

    def __init__(self, *answers: Answer | int | None) -> None:
        self.answers: list[Answer | int | None] = list(answers or (200,))
        self.received: list[Received] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/leases?key=1"

    def next_answer(self, request: Received) -> Answer | None:
        self.received.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return Answer(answer) if isinstance(answer, int) else answer


class _Handler(http.server.BaseHTTPRequestHandler):
    receiver: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = self.receiver.next_answer(Received(self.path, dict(self.headers.items()), body))
        if answer is None:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *arguments: Any) -> None:
        return


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *arguments: Any) -> None:
        return


@contextmanager
def receiving(*answers: Answer | int | None, tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Yield a receiver; with *tls*, it speaks HTTPS only."""
    receiver = Receiver(*answers)
    handler = type("Handler", (_Handler,), {"receiver": receiver})
    with _Server(("127.0.0.1", 0), handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        receiver.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()


def verified(received: Sequence[Received], secret: str) -> bool:
    """Return whether all requests have a right signature, as a receiver would check it."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    for each in received:
        headers = {name.lower(): value for name, value in each.headers.items()}
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + each.body
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        if f"v1,{expected}" not in headers["webhook-signature"].split(" "):
            return False
    return True
