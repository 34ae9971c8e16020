"""Run the server: ``licence-server --port 8950 --pool site=cad:20``."""

from __future__ import annotations

import argparse
import os
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from blazar_licences.server.application import LicenceService
from blazar_licences.server.ledger import Ledger


class Server(ThreadingMixIn, WSGIServer):
    """A server with one thread for each request."""

    daemon_threads = True


class Quiet(WSGIRequestHandler):
    """A request handler without a log."""

    def log_message(self, *args: Any) -> None:
        """Log nothing."""


def main() -> None:
    """Run until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8950, help="0 for any free port")
    parser.add_argument("--database", default=":memory:", help="SQLite file; in memory by default")
    parser.add_argument("--pool", action="append", default=[], metavar="NAME=PRODUCT:SEATS")
    options = parser.parse_args()
    ledger = Ledger(options.database)
    for each in options.pool:
        name, _, bought = each.partition("=")
        product, _, seats = bought.rpartition(":")
        ledger.put_pool(name, product, int(seats), "open", "")
    service = LicenceService(ledger, os.environ.get("LICENCE_SERVER_TOKEN"))
    with make_server(options.host, options.port, service, server_class=Server, handler_class=Quiet) as server:
        print(f"serving licences at http://{options.host}:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
