"""The API as a WSGI application, from a configuration."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from oslo_config.cfg import CONF, ConfigOpts

from blazar import config
from blazar.api.app import make_app
from blazar.api.auth import make_guard
from blazar.api.health import make_healthcheck
from blazar.api.policies import make_policy
from blazar.ports.manager import Manager
from blazar.ports.metrics import OF_API
from blazar.rpc.bus import bus_manager, get_transport
from blazar.settings import Settings
from blazar.telemetry.measured import measured_managers
from blazar.telemetry.pages import counted, with_metrics
from blazar.telemetry.watch import Watch

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication


def make_application(conf: ConfigOpts) -> WSGIApplication:
    """Return the API that talks to the managers behind ``transport_url``."""
    settings, server = config.read_settings(conf), config.read_server_settings(conf)
    managers = bus_manager(get_transport(conf), server.rpc_topic)
    if not server.metrics.is_in_api:
        return _api(conf, settings, managers)
    watch = Watch(OF_API)
    app = counted(_api(conf, settings, measured_managers(managers, watch.meter)), watch.meter)
    return with_metrics(app, watch.page())


def _api(conf: ConfigOpts, settings: Settings, manager: Manager) -> WSGIApplication:
    return make_app(
        manager,
        settings.api,
        make_policy(conf),
        guard=make_guard(settings.api, conf),
        healthcheck=make_healthcheck(conf),
    )


def read_application() -> WSGIApplication:
    """Return the API of the ``blazar.conf`` in ``OS_BLAZAR_CONFIG_DIR``, by default ``/etc/blazar``."""
    folder = Path(os.environ.get("OS_BLAZAR_CONFIG_DIR", "/etc/blazar"))
    files = [str(path) for path in [folder / "blazar.conf"] if path.exists()]
    conf = config.make_conf([], "blazar-api", config_files=files, conf=CONF)
    config.set_up_logging(conf)
    return make_application(conf)
