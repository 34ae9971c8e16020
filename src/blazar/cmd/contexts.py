"""What operators' commands work with: the database and the cloud of the configuration, and no reconciler."""

from __future__ import annotations

from dataclasses import replace

from oslo_config import cfg

from blazar import config
from blazar.booking.context import Context
from blazar.db.engine import make_engine
from blazar.db.schema import current_revision, head_revision
from blazar.manager.build import build_context
from blazar.manager.clocks import SystemClock
from blazar.manager.plugins import PluginError, load_cloud, load_limits, load_plugins
from blazar.manager.waking import ProcessWaker


def make_context(conf: cfg.ConfigOpts) -> Context:
    """Return what use cases work with.

    Raises:
        PluginError: The configuration cannot be used, or the schema is not current.
    """
    server = config.read_server_settings(conf)
    if not server.database_url:
        raise PluginError("[database] connection: is not set")
    engine = make_engine(server.database_url, **server.database_options)
    if current_revision(engine) != head_revision():
        raise PluginError("the schema is not current: run blazar-db-manage upgrade head")
    clock = SystemClock()
    cloud = load_cloud(conf.manager.cloud, conf, clock)
    waker = ProcessWaker(lambda: None)
    settings = config.read_settings(conf)
    plugins = load_plugins(server.plugins, settings, conf)
    context = build_context(engine, clock, cloud, settings, plugins, waker)
    return replace(context, limits=load_limits(conf, clock))
