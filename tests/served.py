"""WSGI applications behind HTTP, for tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server


class _Quiet(WSGIRequestHandler):
    def log_message(self, *args: object) -> None:
        """Log nothing."""


@contextmanager
def served(application: Any) -> Iterator[str]:
    """Serve an application on loopback; yield its address."""
    with make_server("127.0.0.1", 0, application, handler_class=_Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
