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
from blazar.rpc.bus import bus_manager, get_transport

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication


def make_application(conf: ConfigOpts) -> WSGIApplication:
    """Return the API that talks to the managers behind ``transport_url``."""
    settings = config.read_settings(conf)
    return make_app(
        bus_manager(get_transport(conf), conf.manager.rpc_topic),
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
