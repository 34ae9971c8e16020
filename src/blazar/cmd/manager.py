"""``blazar-manager``: use cases over the bus, and the reconciler; run as many as you like."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace
from functools import partial

from oslo_config import cfg

from blazar import config
from blazar.app.context import Context
from blazar.app.host_monitor import notice_change
from blazar.cmd.signals import stop_event
from blazar.db.engine import make_engine
from blazar.db.schema import current_revision, head_revision
from blazar.manager.build import build_context, manager_name, warm_up
from blazar.manager.clocks import SystemClock
from blazar.manager.plugins import PluginError, load_cloud, load_filters, load_limits, load_plugins
from blazar.manager.service import ManagerService
from blazar.manager.waking import ProcessWaker
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import OutboxSender
from blazar.rpc.bus import get_transport, make_server, make_wake_others
from blazar.rpc.host_notifications import HostNotifications
from blazar.rpc.notifications import BusNotifier

_logger = logging.getLogger(__name__)


def main() -> int:
    """Run until SIGTERM or SIGINT; return the exit code."""
    stop = stop_event()
    conf = config.make_conf(sys.argv[1:], "blazar-manager", conf=cfg.CONF)
    config.set_up_logging(conf)
    server = config.read_server_settings(conf)
    if not server.database_url:
        return _refuse("[database] connection: is not set")
    engine = make_engine(server.database_url, **server.database_options)
    if current_revision(engine) != head_revision():
        return _refuse("the schema is not current: run blazar-db-manage upgrade head")
    clock, transport = SystemClock(), get_transport(conf)
    waker = ProcessWaker(make_wake_others(transport, server.rpc_topic))
    try:
        cloud = load_cloud(conf.manager.cloud, conf, clock)
        settings = config.read_settings(conf)
        plugins = load_plugins(server.plugins, settings, conf)
        context = build_context(engine, clock, cloud, settings, plugins, waker)
        context = replace(context, filters=load_filters(conf), limits=load_limits(conf, clock))
    except PluginError as error:
        return _refuse(str(error))
    name = manager_name()
    sender = OutboxSender(context.store, clock, BusNotifier(conf, server.publisher_id), context.filters)
    reconciler = Reconciler(context, name, sender, waker.event)
    rpc_server = make_server(transport, server.rpc_topic, name, ManagerService(context), waker.event.set)
    listeners = _listeners(conf, server, context)
    warm_up(context)
    rpc_server.start()
    reconciler.start()
    for each in listeners:
        each.start()
    _logger.info("manager %s has started, with %s", name, ", ".join(server.plugins))
    stop.wait()
    for each in listeners:
        each.stop()
    rpc_server.stop()
    rpc_server.wait()
    reconciler.stop()
    return 0


def _listeners(
    conf: cfg.ConfigOpts, server: config.ServerSettings, context: Context
) -> list[HostNotifications]:
    """Return what is to hear of changes from outside, not started yet."""
    if not context.settings.monitor.is_listening:
        return []
    return [HostNotifications(conf, server.host_notifications, partial(notice_change, context))]


def _refuse(problem: str) -> int:
    print(f"blazar-manager: {problem}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
