"""The simulated cloud over HTTP on a port of this machine, with a thread for each connection."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from http.server import ThreadingHTTPServer
from types import TracebackType
from urllib.parse import parse_qs, unquote, urlsplit

from blazar.cloud.simulated import SimulatedCloud
from rig.cloud.front import Front, Request
from rig.cloud.handler import Handler
from rig.cloud.messages import Reply
from rig.cloud.traffic import Traffic


class ServedCloud:
    """An OpenStack on this machine; use it in a ``with`` statement."""

    def __init__(self, cloud: SimulatedCloud, *, latency: timedelta = timedelta(0), port: int = 0) -> None:
        """Start to listen; requests are served inside the ``with`` statement.

        Args:
            cloud: The cloud to serve.
            latency: Duration of each call before it is executed.
            port: Port of 127.0.0.1; 0 for any free one.
        """
        self.cloud = cloud
        self.traffic = Traffic(latency.total_seconds())
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.front = Front(cloud, self.traffic, self._closing)
        self._server.url = self.url
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="served cloud")

    def __enter__(self) -> ServedCloud:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Return the URL under which all services are served."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def auth_url(self) -> str:
        """Return the URL of Keystone."""
        return f"{self.url}/identity"


class _Server(ThreadingHTTPServer):
    front: Front
    url: str
    daemon_threads = True
    block_on_close = False
    request_queue_size = 512


class _Handler(Handler):
    server: _Server

    def serve(self) -> None:
        """Serve the present request."""
        content = self.content()
        try:
            reply = self.server.front.answer(self._request(content), self.server.url)
        except json.JSONDecodeError:
            reply = Reply(status=400, body={"error": "the body is no JSON"})
        if reply is None:
            self.close_connection = True
            return
        try:
            self._send(reply)
        except ConnectionError:
            # The client has disconnected.
            self.close_connection = True

    def _request(self, content: bytes) -> Request:
        parts = urlsplit(self.path)
        return Request(
            method=self.command,
            path=unquote(parts.path),
            query=parse_qs(parts.query),
            headers=self.headers,
            body=json.loads(content) if content else None,
        )

    def _send(self, reply: Reply) -> None:
        content = b"" if reply.body is None else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        if content:
            self.send_header("Content-Type", "application/json")
        if reply.status != 204:
            self.send_header("Content-Length", str(len(content)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()
