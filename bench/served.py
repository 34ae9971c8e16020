"""The service over HTTP in this process, for programs that measure answers."""

from __future__ import annotations

import http.client
import statistics
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from oslo_config import cfg

with warnings.catch_warnings():
    # WebOb, a dependency of oslo.middleware, imports the deprecated cgi module.
    warnings.simplefilter("ignore", DeprecationWarning)
    from blazar import config
    from blazar.api.app import make_app
    from blazar.api.auth import noauth
    from blazar.api.health import make_healthcheck
    from blazar.api.policies import make_policy
    from blazar.cmd.http import make_server, serve_until
from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.manager.build import build_context
from blazar.manager.clocks import SystemClock
from blazar.manager.plugins import load_plugins
from blazar.manager.service import ManagerService
from blazar.manager.waking import ProcessWaker
from blazar.rpc.messages import local_manager
from blazar.settings import ApiSettings, Settings

HEADERS = {
    "OpenStack-API-Version": "reservation 1.1",
    "X-User-Id": "bench",
    "X-Project-Id": "bench",
    "X-Roles": "member,reader",
}


@contextmanager
def served(engine: sa.Engine) -> Iterator[http.client.HTTPConnection]:
    """Serve a database, and yield a connection to the API."""
    stop = threading.Event()
    server, port = _make_service(engine)
    thread = threading.Thread(target=serve_until, args=(server, stop))
    thread.start()
    client = http.client.HTTPConnection("127.0.0.1", port)
    try:
        yield client
    finally:
        client.close()
        stop.set()
        thread.join()


def _make_service(engine: sa.Engine) -> tuple[Any, int]:
    """Return the HTTP server with the service, and its port."""
    conf = config.make_conf([], "bench", config_files=[])
    clock, settings = SystemClock(), Settings(api=ApiSettings(auth_strategy="noauth"))
    plugins = load_plugins(("physical.host.plugin",), settings)
    context = build_context(engine, clock, SimulatedCloud(clock), settings, plugins, ProcessWaker())
    own = cfg.ConfigOpts()
    own([], project="blazar", default_config_files=[], default_config_dirs=[])
    app = make_app(
        local_manager(ManagerService(context)),
        settings.api,
        make_policy(own),
        guard=noauth,
        healthcheck=make_healthcheck(own),
    )
    server = make_server(app, conf, "127.0.0.1", 0)
    return server, int(server.effective_port)


def shown(instant: datetime) -> str:
    """Return a date as in requests."""
    return instant.strftime("%Y-%m-%d %H:%M")


def spread(values: list[float]) -> str:
    """Return median, 99th percentile and maximum."""
    ordered = sorted(values)
    last = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return f"{statistics.median(ordered):.1f}, {last:.1f}, {ordered[-1]:.1f}"
