"""``blazar-manager``: use cases over the bus, and the reconciler; run as many as you like."""

from __future__ import annotations

import logging
import sys
from functools import partial
from typing import Protocol

from oslo_config import cfg

from blazar import config
from blazar.booking.context import Context
from blazar.reconcile.periodic.host_monitor import notice_change
from blazar.cmd.signals import stop_event
from blazar.db.engine import make_engine
from blazar.db.figures import SqlFigures
from blazar.db.schema import current_revision, head_revision
from blazar.manager.build import configured_context, manager_name, warm_up
from blazar.manager.clocks import SystemClock
from blazar.manager.plugins import PluginError, load_cloud
from blazar.manager.service import ManagerService
from blazar.manager.waking import ProcessWaker
from blazar.manager.watching import all_problems, watched
from blazar.ports.metrics import OF_MANAGER
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import OutboxSender
from blazar.rpc.bus import get_transport, make_server, make_wake_others
from blazar.rpc.ending import end
from blazar.rpc.host_notifications import HostNotifications
from blazar.rpc.notifications import BusNotifier
from blazar.rpc.self_check import SelfCheck
from blazar.telemetry.measured import MeasuredNotifier, measured_manager
from blazar.telemetry.pages import manager_pages
from blazar.telemetry.server import PagesServer
from blazar.telemetry.watch import Watch

_logger = logging.getLogger(__name__)


class _Part(Protocol):
    """What runs beside the two halves of a manager."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


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
    clock, transport, watch = SystemClock(), get_transport(conf), Watch(OF_MANAGER)
    waker = ProcessWaker(make_wake_others(transport, server.rpc_topic))
    try:
        cloud = load_cloud(conf.manager.cloud, conf, clock)
        settings = config.read_settings(conf)
        context = watched(configured_context(conf, engine, clock, cloud, settings, waker), watch.meter)
    except PluginError as error:
        return _refuse(str(error))
    name = manager_name()
    notifier = MeasuredNotifier(BusNotifier(conf, server.publisher_id), watch.meter)
    sender = OutboxSender(context.store, clock, notifier, context.filters, context.trail)
    reconciler = Reconciler(context, name, sender, waker.event)
    manager = measured_manager(ManagerService(context), watch.meter)
    rpc_server = make_server(transport, server.rpc_topic, name, manager, waker.event.set)
    beside: list[_Part] = [*_listeners(conf, server, context)]
    if server.metrics.listen_port is not None:
        check = SelfCheck(transport, server.rpc_topic, name, clock)
        watch.show_database(SqlFigures(engine), clock, server.metrics.kept_for_seconds)
        pages = manager_pages(watch.page(), all_problems(reconciler.problems, check.problems))
        try:
            beside += [PagesServer(pages, server.metrics.listen_host, server.metrics.listen_port), check]
        except OSError as error:
            return _refuse(f"[metrics] listen_port: {error.strerror}")
    warm_up(context)
    # First of all, so that whoever looks sees what the rest is waiting for.
    for each in beside:
        each.start()
    rpc_server.start()
    reconciler.start()
    _logger.info("manager %s has started, with %s", name, ", ".join(server.plugins))
    stop.wait()
    context.ending.set()
    for each in beside:
        each.stop()
    end(rpc_server)
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
