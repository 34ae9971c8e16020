"""The licence server on loopback, and the plugin's harness for the contract suite."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar
from wsgiref.simple_server import make_server

from blazar.booking.context import Plugin
from blazar.plugins.contract import JsonObject
from blazar_licences.client import HttpLicenceServer
from blazar_licences.plugin import Licences
from blazar_licences.server.__main__ import Quiet, Server
from blazar_licences.server.application import LicenceService
from blazar_licences.server.ledger import Ledger
from blazar_plugin_testing import CloudEnv, Harness

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment


class Switchboard:
    """A WSGI application that passes requests to the ledger of the running test."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.token: str | None = None

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return LicenceService(self.ledger, self.token)(environ, start_response)


SWITCHBOARD = Switchboard()


@functools.cache
def server_url() -> str:
    """Return the URL of the switchboard, which is served on loopback while the tests run."""
    server = make_server("127.0.0.1", 0, SWITCHBOARD, server_class=Server, handler_class=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


class LicenceHarness(Harness):
    """Two pools of one product, and one of another."""

    body: ClassVar[JsonObject] = {"product": "cad", "seats": "6"}
    changes: ClassVar[JsonObject] = {"seats": 7}
    everything: ClassVar[JsonObject] = {"seats": 15}
    less: ClassVar[JsonObject | None] = {"seats": 2}
    refused: ClassVar[tuple[tuple[str, JsonObject], ...]] = (
        ("product", {"product": "solitaire"}),
        ("product", {"product": None}),
        ("seats", {"seats": 0}),
        ("seats", {"seats": "many"}),
    )

    def set_up(self, env: CloudEnv) -> None:
        self.ledger = SWITCHBOARD.ledger = Ledger(now=env.clock.now)
        for name, product, seats in (("site", "cad", 10), ("spare", "cad", 5), ("office", "writer", 3)):
            self.ledger.put_pool(name, product, seats, "open", "")

    def make_plugin(self, env: CloudEnv) -> Plugin:
        return Licences(env.watched(HttpLicenceServer(server_url()), "licences"))

    def snapshot(self, env: CloudEnv) -> object:
        return self.ledger.list_pools(), self.ledger.list_grants("")

    def put_strangers(self, env: CloudEnv) -> None:
        until = (env.clock.now() + timedelta(days=9)).isoformat()
        for number, name in enumerate(("by-hand", "blazar", "blazar:lab")):
            self.ledger.put_grant(name, "office", "another-project", number, until)
