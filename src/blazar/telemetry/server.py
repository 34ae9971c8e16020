"""A small HTTP server that runs next to the work of a process."""

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
    # Clients that wait for an answer do not delay the end of the process.
    block_on_close = False

    def server_bind(self) -> None:
        # Unlike the base class, this does not look up the host name, because the name service may be slow.
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
    """In seconds; a slower client is disconnected."""

    def address_string(self) -> str:
        return str(self.client_address[0])

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
        _logger.debug("Page requested: client=%s request=%s", self.client_address[0], format % args)


class PagesServer:
    """Serves pages in its own threads."""

    def __init__(self, pages: WSGIApplication, host: str, port: int) -> None:
        """Open the port; requests are answered after :meth:`start`.

        Args:
            pages: The application to serve.
            host: Address to listen on.
            port: Port to listen on; 0 for any free port.

        Raises:
            OSError: The address is not available.
        """
        kind = _ServerOnIPv6 if ":" in host else _Server
        self._server = kind((host, port), _Handler)
        self._server.set_app(pages)
        self.port: int = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, name="pages", daemon=True)

    def start(self) -> None:
        """Start answering requests."""
        self._thread.start()

    def stop(self) -> None:
        """Stop listening."""
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()
