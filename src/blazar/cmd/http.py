"""The built-in HTTP server."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import waitress
from oslo_config.cfg import ConfigOpts
from oslo_middleware.http_proxy_to_wsgi import HTTPProxyToWSGI
from waitress.server import BaseWSGIServer

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication


def make_server(
    application: WSGIApplication, conf: ConfigOpts, host: str, port: int, threads: int
) -> BaseWSGIServer:
    """Return a server that listens already; waitress reads slow clients without spending a thread on each."""
    return waitress.create_server(
        HTTPProxyToWSGI(application, conf), host=host, port=port, threads=threads, ident="blazar"
    )


def serve_until(server: BaseWSGIServer, stop: threading.Event) -> None:
    """Serve until *stop* is set, and finish what was begun."""
    thread = threading.Thread(target=server.run, name="http", daemon=True)
    thread.start()
    stop.wait()
    server.task_dispatcher.shutdown(cancel_pending=False, timeout=10)
    server.close()
