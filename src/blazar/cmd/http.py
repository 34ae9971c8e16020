"""The built-in HTTP server, with limits for slow clients and oversized bodies."""

from __future__ import annotations

import ipaddress
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

from blazar.api.failures import with_failures_answered

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

_HEADER_BYTES: Final = 65536
"""Maximum size of the headers, as for uWSGI in the operators' guide; a Keystone token may have several kB."""
_OTHER_FILES: Final = 512
"""Number of other files that may be open: connections to the database and the broker, logs."""
_LONGEST_PAUSE_SECONDS: Final = 30


def make_server(application: WSGIApplication, conf: ConfigOpts, host: str, port: int) -> BaseWSGIServer:
    """Return a server that is listening.

    A request is received without a thread of its own, and passed on when it is complete. Incomplete requests
    are limited by the number of connections, and by the bytes and seconds of each.

    Raises:
        ValueError: The address is not available.
    """
    sockets: dict[int, Any] = {}
    server = _listening(
        application=with_failures_answered(HTTPProxyToWSGI(application, conf), names_request=True),
        map=sockets,
        host=host,
        port=port,
        ident="blazar",
        threads=conf.api.workers,
        connection_limit=_connections(conf.api.connections),
        # select() supports at most 1,024 files.
        asyncore_use_poll=True,
        channel_timeout=conf.api.request_seconds,
        cleanup_interval=min(conf.api.request_seconds, _LONGEST_PAUSE_SECONDS),
        max_request_header_size=_HEADER_BYTES,
        # The server refuses bodies of this length or longer.
        max_request_body_size=conf.api.max_request_body_size + 1,
    )
    for each in sockets.values():
        if isinstance(each, BaseWSGIServer):
            each.channel_class = _Connection
    return server


def _listening(**options: Any) -> BaseWSGIServer:
    """Return a listening server. Raises ValueError if the address is not available."""
    try:
        return waitress.create_server(**options)
    except OSError as error:
        raise ValueError(f"{options['host']}:{options['port']}: {error.strerror or error}") from error


def check_exposure(conf: ConfigOpts, host: str, is_allowed: bool) -> None:
    """Raise ValueError if other machines could reach an API without authentication, unless allowed."""
    if conf.auth_strategy != "noauth" or is_allowed or _is_loopback(host):
        return
    raise ValueError(
        f"with auth_strategy = noauth, every client that reaches {host} is an operator: listen on 127.0.0.1, "
        "set auth_strategy to http_basic or keystone, or add --allow-unauthenticated-access"
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve_until(server: BaseWSGIServer, stop: threading.Event) -> None:
    """Serve until *stop* is set, then complete the requests in progress, for up to 10 seconds."""
    thread = threading.Thread(target=server.run, name="http", daemon=True)
    thread.start()
    stop.wait()
    server.task_dispatcher.shutdown(cancel_pending=False, timeout=10)
    server.close()


class _Request(HTTPRequestParser):  # type: ignore[misc]
    """A request that is being received. A body that is too long is dropped.

    The API refuses such a request by its declared length, with its own error. A body of known length is read
    to the end, so that the client reads the response; a chunked body is cut off.
    """

    def received(self, data: bytes) -> int:
        """Process received data; return the number of bytes that belong to this request."""
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
    """Replacement for a body that discards all data."""

    def __len__(self) -> int:
        return 0

    def append(self, data: bytes) -> None:
        """Discard data."""

    def getfile(self) -> BytesIO:
        """Return an empty file."""
        return BytesIO()

    def close(self) -> None:
        """Do nothing; there is nothing to close."""


class _Connection(HTTPChannel):  # type: ignore[misc]
    """A connection that is closed if its request is not complete in time, even if it still sends bytes."""

    parser_class = _Request

    def handle_read(self) -> None:
        """Receive data; the time limit starts with the first byte of a request."""
        request, began = self.request, self.last_activity
        super().handle_read()
        if request is not None and request is self.request:
            self.last_activity: float = began


def _connections(wanted: int) -> int:
    """Raise the file limit of this process as needed; return the possible number of connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted + _OTHER_FILES:
        soft = wanted + _OTHER_FILES if hard == resource.RLIM_INFINITY else min(wanted + _OTHER_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return max(soft - _OTHER_FILES, soft // 2)
    return wanted
