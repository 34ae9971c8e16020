"""Common base of the servers of simulated services: one method serves all requests, without a log."""

from __future__ import annotations

from abc import abstractmethod
from http.server import BaseHTTPRequestHandler


class Handler(BaseHTTPRequestHandler):
    """Serves requests of all methods with :meth:`serve`, on persistent connections."""

    protocol_version = "HTTP/1.1"
    # Send headers and body together; otherwise the client would wait for the second part.
    wbufsize = -1
    disable_nagle_algorithm = True

    @abstractmethod
    def serve(self) -> None:
        """Serve the present request."""

    def content(self) -> bytes:
        """Return the request's body, which is read once."""
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def do_GET(self) -> None:
        """Serve a GET."""
        self.serve()

    def do_POST(self) -> None:
        """Serve a POST."""
        self.serve()

    def do_PUT(self) -> None:
        """Serve a PUT."""
        self.serve()

    def do_PATCH(self) -> None:
        """Serve a PATCH."""
        self.serve()

    def do_DELETE(self) -> None:
        """Serve a DELETE."""
        self.serve()

    def log_message(self, *args: object) -> None:
        """Log nothing."""
