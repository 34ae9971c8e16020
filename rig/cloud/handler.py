"""What servers of simulated services have in common: all methods are one, and nothing is logged."""

from __future__ import annotations

from abc import abstractmethod
from http.server import BaseHTTPRequestHandler


class Handler(BaseHTTPRequestHandler):
    """Answers requests of every method by :meth:`serve`, on connections that stay open."""

    protocol_version = "HTTP/1.1"
    # Headers and body leave in one piece; else the client would wait for the second one.
    wbufsize = -1
    disable_nagle_algorithm = True

    @abstractmethod
    def serve(self) -> None:
        """Answer the request at hand."""

    def content(self) -> bytes:
        """Read the request's body, once."""
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def do_GET(self) -> None:
        """Answer a GET."""
        self.serve()

    def do_POST(self) -> None:
        """Answer a POST."""
        self.serve()

    def do_PUT(self) -> None:
        """Answer a PUT."""
        self.serve()

    def do_PATCH(self) -> None:
        """Answer a PATCH."""
        self.serve()

    def do_DELETE(self) -> None:
        """Answer a DELETE."""
        self.serve()

    def log_message(self, *args: object) -> None:
        """Say nothing."""
