"""The built-in HTTP server, for which slow clients and oversized bodies are no trouble."""

from __future__ import annotations

import resource
import threading
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import waitress
from oslo_config.cfg import ConfigOpts
from oslo_middleware.http_proxy_to_wsgi import HTTPProxyToWSGI
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import BaseWSGIServer
from waitress.utilities import RequestEntityTooLarge

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

_HEADER_BYTES: Final = 65536
"""As many as uWSGI takes in the guide for operators; a token of Keystone's may have some thousand."""
_OTHER_FILES: Final = 512
"""What else a process may have open: connections to the database and the broker, logs."""
_LONGEST_PAUSE_SECONDS: Final = 30


def make_server(application: WSGIApplication, conf: ConfigOpts, host: str, port: int) -> BaseWSGIServer:
    """Return a server that listens already.

    It reads requests without spending a thread on each, and hands one on when it is whole. What it keeps of
    those that are not is bounded: by connections, and by bytes and seconds of each.
    """
    sockets: dict[int, Any] = {}
    server = waitress.create_server(
        HTTPProxyToWSGI(application, conf),
        map=sockets,
        host=host,
        port=port,
        ident="blazar",
        threads=conf.api.workers,
        connection_limit=_connections(conf.api.connections),
        # select() cannot wait for more than 1,024 files.
        asyncore_use_poll=True,
        channel_timeout=conf.api.request_seconds,
        cleanup_interval=min(conf.api.request_seconds, _LONGEST_PAUSE_SECONDS),
        max_request_header_size=_HEADER_BYTES,
        # The first length that is refused.
        max_request_body_size=conf.api.max_request_body_size + 1,
    )
    for each in sockets.values():
        if isinstance(each, BaseWSGIServer):
            each.channel_class = _Connection
    return server


def serve_until(server: BaseWSGIServer, stop: threading.Event) -> None:
    """Serve until *stop* is set, and finish what was begun."""
    thread = threading.Thread(target=server.run, name="http", daemon=True)
    thread.start()
    stop.wait()
    server.task_dispatcher.shutdown(cancel_pending=False, timeout=10)
    server.close()


class _Request(HTTPRequestParser):  # type: ignore[misc]
    """A request that is being received. Of a body that is too long nothing is kept.

    It is the API that refuses it, by its declared length, in its own words. A body of known length is read
    to its end, so that who sends it comes to read the answer; a chunked one is cut off.
    """

    def received(self, data: bytes) -> int:
        """Take in what has come; return how much of it belongs to this request."""
        consumed = int(super().received(data))
        if isinstance(self.error, RequestEntityTooLarge):
            self.error: object = None
            if self.chunked:
                self.headers["CONTENT_LENGTH"] = str(self.body_bytes_received)
                self.headers["CONNECTION"] = "close"
            else:
                self.completed = self.body_rcv.completed
            self.body_rcv.buf = _Nothing()
        return consumed


class _Nothing:
    """Takes the place of a body, and keeps nothing."""

    def __len__(self) -> int:
        return 0

    def append(self, data: bytes) -> None:
        """Take something, and drop it."""

    def getfile(self) -> BytesIO:
        """Return an empty file."""
        return BytesIO()

    def close(self) -> None:
        """Do nothing: nothing is open."""


class _Connection(HTTPChannel):  # type: ignore[misc]
    """A connection that is closed unless its request is whole in time, however steadily its bytes trickle."""

    parser_class = _Request

    def handle_read(self) -> None:
        """Receive; time counts from the first byte of a request."""
        request, began = self.request, self.last_activity
        super().handle_read()
        if request is not None and request is self.request:
            self.last_activity: float = began


def _connections(wanted: int) -> int:
    """Return how many connections there can be; this process may have as many files open from now on."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted + _OTHER_FILES:
        soft = wanted + _OTHER_FILES if hard == resource.RLIM_INFINITY else min(wanted + _OTHER_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return max(soft - _OTHER_FILES, soft // 2)
    return wanted
