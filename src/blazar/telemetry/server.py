"""A small HTTP server beside a process's work."""

from __future__ import annotations

import logging
import socket
import threading
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

_logger = logging.getLogger(__name__)


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    # Who waits for an answer when the process ends does not hold it up.
    block_on_close = False

    def server_bind(self) -> None:
        # Not by the base class, which asks the name service for this machine's name, and may wait for it.
        if hasattr(socket, "SO_REUSEADDR"):
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "blazar", self.server_address[1]
        self.setup_environ()


class _ServerOnIPv6(_Server):
    address_family = socket.AF_INET6


class _Handler(WSGIRequestHandler):
    timeout = 10.0
    """Seconds; a client that is slower than that is let go."""

    def address_string(self) -> str:
        return str(self.client_address[0])

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
        _logger.debug("Page asked for: client=%s request=%s", self.client_address[0], format % args)


class PagesServer:
    """Serves pages from threads of its own."""

    def __init__(self, pages: WSGIApplication, host: str, port: int) -> None:
        """Listen, and answer from :meth:`start` on.

        Args:
            pages: What is served.
            host: Address to listen on.
            port: Port to listen on; 0 for any free one.

        Raises:
            OSError: The address cannot be had.
        """
        kind = _ServerOnIPv6 if ":" in host else _Server
        self._server = kind((host, port), _Handler)
        self._server.set_app(pages)
        self.port: int = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, name="pages", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Listen no more."""
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()
