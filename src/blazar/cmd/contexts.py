"""Context of operators' commands: the configured database and cloud, without a reconciler."""

from __future__ import annotations

from dataclasses import replace

import sqlalchemy as sa
from oslo_config import cfg

from blazar import config
from blazar.booking.context import Context
from blazar.db.engine import make_engine
from blazar.db.revisions import is_usable
from blazar.db.server_versions import check_server
from blazar.manager.build import build_context
from blazar.manager.plugins import PluginError, load_cloud, load_limits, load_plugins
from blazar.manager.waking import ProcessWaker
from blazar.standalone.clock import embedded_clock

_CONNECT_SECONDS = 5


def impatient_engine(conf: cfg.ConfigOpts) -> sa.Engine:
    """Return an engine that fails within seconds if the configured database is not reachable.

    Services wait for the database at start; commands do not.
    """
    server = config.read_server_settings(conf)
    url = sa.make_url(server.database_url or "")
    if url.get_backend_name() in {"mysql", "postgresql"} and "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": str(_CONNECT_SECONDS)})
    options = {**server.database_options, "max_retries": 0}
    return make_engine(url.render_as_string(hide_password=False), **options)


def make_context(conf: cfg.ConfigOpts) -> Context:
    """Return the context of the use cases.

    Raises:
        PluginError: The configuration is not usable, or the schema is not current.
        ServerTooOld: The service cannot use the database server.
    """
    server = config.read_server_settings(conf)
    if not server.database_url:
        raise PluginError("[database] connection: is not set")
    engine = impatient_engine(conf)
    check_server(engine)
    if not is_usable(engine):
        raise PluginError("the schema is not current: run blazar-db-manage upgrade head")
    clock = embedded_clock(conf)
    cloud = load_cloud(conf.manager.cloud, conf, clock)
    waker = ProcessWaker(lambda: None)
    settings = config.read_settings(conf)
    plugins = load_plugins(server.plugins, settings, conf)
    context = build_context(engine, clock, cloud, settings, plugins, waker)
    return replace(context, limits=load_limits(conf, clock))
