"""Run the service: ``python examples/credits --port 8900 --grant PROJECT=CREDITS``."""

from __future__ import annotations

import argparse
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIServer, make_server

from application import CreditService
from ledger import Ledger


class Server(ThreadingMixIn, WSGIServer):
    """A server with one thread for each request."""

    daemon_threads = True


def main() -> None:
    """Run until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8900)
    parser.add_argument("--database", default=":memory:", help="SQLite file; in memory by default")
    parser.add_argument("--grant", action="append", default=[], metavar="PROJECT=CREDITS")
    options = parser.parse_args()
    ledger = Ledger(options.database)
    for each in options.grant:
        project_id, _, amount = each.partition("=")
        ledger.grant(project_id, float(amount))
    with make_server(options.host, options.port, CreditService(ledger), server_class=Server) as server:
        print(f"serving credits at http://{options.host}:{server.server_port}/", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
