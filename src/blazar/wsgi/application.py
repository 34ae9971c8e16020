"""The API as a WSGI application, built from a configuration."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from oslo_config.cfg import CONF, ConfigOpts
from oslo_middleware.http_proxy_to_wsgi import HTTPProxyToWSGI

from blazar import config
from blazar.api.app import make_app
from blazar.api.auth import make_guard
from blazar.api.failures import with_failures_answered
from blazar.api.health import make_healthcheck
from blazar.api.policies import make_policy
from blazar.api.resources import load_apis
from blazar.api.type_api import TypeApi
from blazar.cloud.openstack.options import CREDENTIAL_GROUPS
from blazar.known_options import check_keys
from blazar.options import TYPE_OPTIONS
from blazar.ports.manager import Manager
from blazar.ports.metrics import OF_API
from blazar.rpc.broker import configured_broker
from blazar.rpc.bus import bus_manager, get_transport
from blazar.settings import Settings
from blazar.telemetry.measured import measured_managers
from blazar.telemetry.pages import counted, with_metrics
from blazar.telemetry.process_metrics import ProcessMetrics
from blazar.ui.application import with_console

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication


_OF_MANAGERS = frozenset(
    {"enforcement", *(group for each in TYPE_OPTIONS for group in each.groups)} - CREDENTIAL_GROUPS
)


def make_application(conf: ConfigOpts) -> WSGIApplication:
    """Return the API, which calls the managers over ``transport_url``.

    Raises:
        ValueError: The configuration is not usable.
    """
    settings, server = config.read_settings(conf), config.read_server_settings(conf)
    types = load_apis(server.plugins)
    transport = get_transport(conf)
    # Only managers load filters and plugins, so the options of these groups are not all known here.
    check_keys(conf, without=_OF_MANAGERS)
    managers = bus_manager(
        transport,
        server.rpc_topic,
        broker=configured_broker(conf),
        silence_seconds=conf.api.manager_silence_seconds,
    )
    if not server.metrics.is_in_api:
        return _api(conf, settings, managers, types)
    telemetry = ProcessMetrics(OF_API)
    measured = measured_managers(managers, telemetry.meter)
    app = counted(_api(conf, settings, measured, types), telemetry.meter)
    return with_metrics(app, telemetry.page())


def _api(conf: ConfigOpts, settings: Settings, manager: Manager, types: Sequence[TypeApi]) -> WSGIApplication:
    guard = make_guard(settings.api, conf)
    api = make_app(
        manager,
        settings.api,
        make_policy(conf, types),
        guard=guard,
        healthcheck=make_healthcheck(conf),
        types=types,
    )
    ui = config.read_ui_settings(conf)
    return api if ui is None else with_console(api, guard, settings.api, ui)


def read_application() -> WSGIApplication:
    """Return the API of the ``blazar.conf`` in ``OS_BLAZAR_CONFIG_DIR``, by default ``/etc/blazar``."""
    folder = Path(os.environ.get("OS_BLAZAR_CONFIG_DIR", "/etc/blazar"))
    files = [str(path) for path in [folder / "blazar.conf"] if path.exists()]
    folders = [str(path) for path in [folder / "blazar.conf.d"] if path.is_dir()]
    conf = config.make_conf([], "blazar-api", config_files=files, config_folders=folders, conf=CONF)
    config.set_up_logging(conf)
    application = HTTPProxyToWSGI(make_application(conf), conf)
    return with_failures_answered(application, names_request=True)
