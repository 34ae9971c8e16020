"""``blazar-manager``: use cases over the bus, and the reconciler. Any number of managers may run."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

import sqlalchemy as sa
from oslo_config import cfg

from blazar import config
from blazar.app.capacity_levels import CapacityLevels
from blazar.booking.context import Context
from blazar.cmd.flags import FLAGS, IDLE_IN_MANAGER, warn_of_flags
from blazar.cmd.problems import run
from blazar.cmd.signals import stop_event
from blazar.db.clock import SqlClock
from blazar.db.engine import make_engine
from blazar.db.revisions import is_usable
from blazar.db.server_versions import check_server
from blazar.db.stats import SqlStats
from blazar.known_options import check_keys
from blazar.manager.build import configured_context, guarded, load_all, manager_name, warm_up_for_first
from blazar.manager.channels import make_notice_sender
from blazar.manager.clocks import SystemClock
from blazar.manager.database_check import DatabaseCheck
from blazar.manager.instrumentation import all_problems, instrumented
from blazar.manager.plugins import PluginError, load_cloud
from blazar.manager.service import ManagerService
from blazar.manager.waking import ProcessWaker
from blazar.plugins.hosts.monitor import notice_change
from blazar.plugins.hosts.options import read_notification_source
from blazar.plugins.hosts.settings import MonitorSettings
from blazar.ports.clock import Clock, ReferenceClock
from blazar.ports.metrics import OF_MANAGER
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import make_sender
from blazar.rpc.bus import get_transport, make_server, make_wake_others
from blazar.rpc.consumer_priority import receive_requests
from blazar.rpc.ending import end
from blazar.rpc.host_notifications import HostNotifications
from blazar.rpc.notifications import BusNotifier
from blazar.rpc.self_check import SelfCheck
from blazar.telemetry.measured import MeasuredNotifier, measured_manager
from blazar.telemetry.pages import manager_pages
from blazar.telemetry.process_metrics import ProcessMetrics
from blazar.telemetry.server import PagesServer

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

    # Imported before the bus is, it would choose another kind of threads.
    from oslo_messaging import MessageHandlingServer

_CHECK_SECONDS = 1.0

_logger = logging.getLogger(__name__)


class _Part(Protocol):
    """Background part of a manager, in addition to the RPC server and the reconciler."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


def main() -> int:
    """Run until SIGTERM or SIGINT; return the exit code."""
    return run("blazar-manager", lambda: serve(sys.argv[1:], SystemClock(), SqlClock))


def serve(arguments: Sequence[str], clock: Clock, reference_of: Callable[[sa.Engine], ReferenceClock]) -> int:
    """Run a manager until SIGTERM or SIGINT; return the exit code.

    Args:
        arguments: The arguments of the command.
        clock: The clock of the manager. No option selects another one than that of the machine; programs that
            simulate a long time call this function.
        reference_of: Returns the clock that all managers on a database share.
    """
    stop = stop_event()
    conf = config.make_conf([*arguments], "blazar-manager", conf=cfg.CONF, cli_options=FLAGS)
    config.set_up_logging(conf)
    warn_of_flags(conf, IDLE_IN_MANAGER)
    server = config.read_server_settings(conf)
    if not server.database_url:
        raise PluginError("[database] connection is not set")
    engine = make_engine(server.database_url, **server.database_options)
    check_server(engine)
    if not is_usable(engine):
        raise PluginError("the schema is not current: run blazar-db-manage upgrade head")
    transport, telemetry = get_transport(conf), ProcessMetrics(OF_MANAGER)
    waker = ProcessWaker(make_wake_others(transport, server.rpc_topic))
    cloud = load_cloud(conf.manager.cloud, conf, clock)
    settings = config.read_settings(conf)
    context = configured_context(conf, engine, clock, cloud, settings, waker)
    context = guarded(instrumented(context, telemetry.meter), reference_of(engine))
    check_keys(conf, plugin_groups=context.plugins)
    name = manager_name()
    notifier = MeasuredNotifier(BusNotifier(conf, server.publisher_id), telemetry.meter)
    sender = make_sender(context, notifier)
    reconciler = Reconciler(context, name, sender, waker.event, make_notice_sender(conf, context))
    manager = measured_manager(ManagerService(context), telemetry.meter)
    rpc_server = make_server(transport, server.rpc_topic, name, manager, waker.event.set)
    receive = partial(_receive, rpc_server, server.rpc_topic, context)
    beside: list[_Part] = [*_listeners(conf, context), DatabaseCheck(engine, receive)]
    if server.metrics.listen_port is not None:
        check = SelfCheck(transport, server.rpc_topic, name, clock)
        telemetry.show_database(SqlStats(engine), clock, server.metrics.kept_for_seconds)
        levels = CapacityLevels(context, server.metrics.capacity)
        telemetry.show_capacity(levels, server.metrics.kept_for_seconds)
        pages = manager_pages(telemetry.page(), all_problems(reconciler.problems, check.problems))
        beside += [_listening(pages, server.metrics.listen_host, server.metrics.listen_port), check]
    warm_up_for_first(context)
    # Start these first, so that metrics and health checks are available while the other parts wait.
    for each in beside:
        each.start()
    rpc_server.start()
    reconciler.start()
    threading.Thread(target=load_all, args=[context], name="load-bookings", daemon=True).start()
    _logger.info("manager has started: name=%s plugins=%s", name, ", ".join(server.plugins))
    code = _wait(stop, reconciler)
    context.ending.set()
    for each in beside:
        each.stop()
    end(rpc_server)
    reconciler.stop()
    return _leave(code, reconciler)


def _listening(pages: WSGIApplication, host: str, port: int) -> PagesServer:
    """Return the server of pages. Raises PluginError if its port cannot be used."""
    try:
        return PagesServer(pages, host, port)
    except OSError as error:
        raise PluginError(f"[metrics] listen_port: {error.strerror}") from error


def _receive(rpc_server: MessageHandlingServer, topic: str, context: Context, answers: bool) -> None:
    """Receive requests last while the database does not answer, or not all bookings are loaded."""
    is_ready = answers and all(each.has_all for each in context.indexes.values())
    receive_requests(rpc_server, topic, last=not is_ready)


def _wait(stop: threading.Event, reconciler: Reconciler) -> int:
    """Wait until the process must end; return its exit code."""
    while not stop.wait(_CHECK_SECONDS):
        if reconciler.is_lost():
            _logger.error("all workers hang; the process exits so that it can be restarted")
            return 1
    return 0


def _leave(code: int, reconciler: Reconciler) -> int:
    """Return the exit code; if a thread hangs, exit immediately, as the interpreter might wait for it."""
    if reconciler.hanging():
        logging.shutdown()
        os._exit(code)
    return code


def _listeners(conf: cfg.ConfigOpts, context: Context) -> list[HostNotifications]:
    """Return the listeners for notifications of other services, not started yet."""
    if not context.settings.of(MonitorSettings).is_listening:
        return []
    return [HostNotifications(conf, read_notification_source(conf), partial(notice_change, context))]


if __name__ == "__main__":
    sys.exit(main())
