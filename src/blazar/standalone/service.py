"""The embedded service's parts, and its life."""

from __future__ import annotations

import fcntl
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from oslo_config.cfg import ConfigOpts

from blazar.api.app import make_app
from blazar.api.auth import make_guard
from blazar.api.health import make_healthcheck
from blazar.api.policies import make_policy
from blazar.booking.context import Context
from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.cloud.simulated.driver import make_cloud
from blazar.config import read_server_settings, read_settings
from blazar.db.engine import make_engine
from blazar.db.figures import SqlFigures
from blazar.db.schema import upgrade
from blazar.manager.build import configured_context, manager_name, warm_up
from blazar.manager.clocks import FastClock, SystemClock
from blazar.manager.service import ManagerService
from blazar.manager.waking import ProcessWaker
from blazar.manager.watching import watched
from blazar.ports.clock import Clock
from blazar.ports.metrics import OF_API, OF_MANAGER
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import OutboxSender
from blazar.rpc.local import local_manager
from blazar.settings import ApiSettings, Settings
from blazar.standalone.log_notifier import LogNotifier
from blazar.telemetry.measured import MeasuredNotifier, measured_manager, measured_managers
from blazar.telemetry.pages import counted, while_healthy, with_metrics
from blazar.telemetry.watch import Watch

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """The service, ready to be served; its reconciler is not started yet."""

    application: WSGIApplication
    reconciler: Reconciler
    cloud: SimulatedCloud
    database_url: str
    lock: IO[str]
    """Held on the state folder as long as it is open."""


def build(conf: ConfigOpts) -> Embedded:
    """Return the embedded service that the configuration describes, with its database up to date.

    Raises:
        ValueError: An option cannot be used, or the state folder is in use or holds something else.
        PluginError: A plugin cannot be loaded.
    """
    options = conf.standalone
    conf.set_default("in_api", True, group="metrics")
    server = read_server_settings(conf)
    state_dir = Path(options.state_dir).expanduser()
    state_dir.mkdir(parents=True, exist_ok=True)
    lock = _lock(state_dir)
    clock = _clock(options.clock_speed, options.clock_epoch)
    # What happens to the simulated hosts is noticed unless the configuration says otherwise.
    conf.set_default("enable_polling_monitor", True, group="physical:host")
    settings = _in_clock_time(read_settings(conf), options.clock_speed)
    url = server.database_url or f"sqlite:///{state_dir / 'blazar.sqlite'}"
    engine = make_engine(url, **server.database_options)
    upgrade(engine)
    conf.set_default("state_file", str(state_dir / "cloud.json"), group="simulated_cloud")
    cloud = make_cloud(conf, clock, speed=options.clock_speed)
    waker = ProcessWaker()
    watch = Watch((*OF_API, *OF_MANAGER))
    context = watched(configured_context(conf, engine, clock, cloud, settings, waker), watch.meter)
    with context.store.begin() as transaction:
        # What a killed predecessor was at need not be waited for: there is no other manager.
        transaction.work.free_all()
        transaction.commit()
    warm_up(context)
    notifier = MeasuredNotifier(LogNotifier(), watch.meter)
    sender = OutboxSender(context.store, clock, notifier, context.filters, context.trail)
    reconciler = Reconciler(context, manager_name(), sender, waker.event)
    application = _application(conf, settings.api, context, watch, reconciler)
    if server.metrics.is_in_api:
        watch.show_database(SqlFigures(engine), clock, server.metrics.kept_for_seconds)
        application = with_metrics(counted(application, watch.meter), watch.page())
    return Embedded(
        application=application,
        reconciler=reconciler,
        cloud=cloud,
        database_url=url,
        lock=lock,
    )


def _application(
    conf: ConfigOpts, settings: ApiSettings, context: Context, watch: Watch, reconciler: Reconciler
) -> WSGIApplication:
    """Return the API with the manager behind it; it is as healthy as its reconciler."""
    healthcheck = make_healthcheck(conf)
    manager = local_manager(measured_manager(ManagerService(context), watch.meter))
    return make_app(
        measured_managers(manager, watch.meter),
        settings,
        make_policy(conf),
        guard=make_guard(settings, conf),
        healthcheck=lambda app: while_healthy(healthcheck(app), reconciler.problems),
    )


def _lock(state_dir: Path) -> IO[str]:
    """Return the lock of a state folder, which is held while the file is open."""
    file = (state_dir / "lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise ValueError(f"[standalone] state_dir: {state_dir} is in use by another process") from None
    return file


def _clock(speed: float, epoch: str | None) -> Clock:
    if speed == 1 and epoch is None:
        return SystemClock()
    since = SystemClock().now() if epoch is None else datetime.fromisoformat(epoch)
    if since.utcoffset() is None:
        raise ValueError("[standalone] clock_epoch: must have an offset, such as +00:00")
    return FastClock(epoch=since, speed=speed)


def _in_clock_time(settings: Settings, speed: float) -> Settings:
    """Return the settings with what is meant in real time, such as claims, in the fast clock's."""
    reconciler = settings.reconciler
    return replace(
        settings,
        leases=replace(settings.leases, delete_wait=settings.leases.delete_wait * speed),
        # There is no bus to listen to.
        monitor=replace(
            settings.monitor,
            is_listening=False,
            polling_interval=settings.monitor.polling_interval * speed,
        ),
        reconciler=replace(
            reconciler,
            claim_duration=reconciler.claim_duration * speed,
            poll_interval=reconciler.poll_interval * speed,
            first_backoff=reconciler.first_backoff * speed,
            longest_backoff=reconciler.longest_backoff * speed,
            sweep_interval=reconciler.sweep_interval * speed,
            refresh_interval=reconciler.refresh_interval * speed,
            floatingip_check_interval=reconciler.floatingip_check_interval * speed,
            stock_interval=reconciler.stock_interval * speed,
        ),
    )
