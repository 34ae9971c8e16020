"""Wiring of the embedded service."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING

from oslo_config.cfg import ConfigOpts

from blazar.api.app import make_app
from blazar.api.auth import make_guard
from blazar.api.health import make_healthcheck
from blazar.api.policies import make_policy
from blazar.api.resources import load_apis
from blazar.app.capacity_levels import CapacityLevels
from blazar.booking.context import Context
from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.cloud.simulated.driver import make_cloud
from blazar.config import read_server_settings, read_settings, read_ui_settings
from blazar.db.engine import make_engine
from blazar.db.ownership import claim_database
from blazar.db.schema import upgrade
from blazar.db.stats import SqlStats
from blazar.known_options import check_keys
from blazar.manager.build import configured_context, manager_name, warm_up
from blazar.manager.channels import make_notice_sender
from blazar.manager.instrumentation import instrumented
from blazar.manager.service import ManagerService
from blazar.manager.waking import ProcessWaker
from blazar.ports.metrics import OF_API, OF_MANAGER
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import make_sender
from blazar.rpc.messages import local_manager
from blazar.settings import ApiSettings, Settings
from blazar.standalone.clock import embedded_clock
from blazar.standalone.folder import CLOUD, database_url, open_folder, use_own_policy_files
from blazar.standalone.log_notifier import LogNotifier
from blazar.telemetry.measured import MeasuredNotifier, measured_manager, measured_managers
from blazar.telemetry.pages import counted, while_healthy, with_metrics
from blazar.telemetry.process_metrics import ProcessMetrics
from blazar.ui.application import with_console

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

_SHORTEST_OBSERVATION = timedelta(seconds=2)
"""Real time between two observations of use on a fast clock."""
_FOREIGN_DATABASE = (
    "[database] connection: {} has tables that no embedded service made, and was not changed. Use an empty "
    "database, or do not set the option to use one in the state folder"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """The embedded service, ready to be served; its reconciler is not started yet."""

    application: WSGIApplication
    reconciler: Reconciler
    context: Context
    cloud: SimulatedCloud
    database_url: str
    lock: IO[str]
    """The lock of the state folder, which is held as long as the file is open."""


def build(conf: ConfigOpts) -> Embedded:
    """Return the configured embedded service, after upgrading its database.

    Raises:
        ValueError: An option is not valid, the state folder is in use or not usable, or the database belongs
            to another installation or is on a server that is too old.
        PluginError: A plugin cannot be loaded.
    """
    options = conf.standalone
    conf.set_default("in_api", True, group="metrics")
    conf.set_default("enabled", True, group="ui")
    server = read_server_settings(conf)
    state_dir = Path(options.state_dir).expanduser().absolute()
    lock = open_folder(state_dir)
    use_own_policy_files(conf, state_dir)
    clock = embedded_clock(conf)
    # Monitor the simulated hosts unless the configuration disables it.
    conf.set_default("enable_polling_monitor", True, group="physical:host")
    settings = _in_clock_time(read_settings(conf), options.clock_speed)
    url = server.database_url or database_url(state_dir)
    engine = make_engine(url, **server.database_options)
    if url != database_url(state_dir) and not claim_database(engine):
        raise ValueError(_FOREIGN_DATABASE.format(engine.url.render_as_string(hide_password=True)))
    upgrade(engine)
    conf.set_default("state_file", str(state_dir / CLOUD), group="simulated_cloud")
    cloud = make_cloud(conf, clock, speed=options.clock_speed)
    waker = ProcessWaker()
    telemetry = ProcessMetrics((*OF_API, *OF_MANAGER))
    context = instrumented(configured_context(conf, engine, clock, cloud, settings, waker), telemetry.meter)
    check_keys(conf, plugin_groups=context.plugins)
    with context.store.begin() as transaction:
        # There is no other manager, so claims of a killed predecessor can be released immediately.
        transaction.work.free_all()
        transaction.commit()
    warm_up(context)
    notifier = MeasuredNotifier(LogNotifier(), telemetry.meter)
    sender = make_sender(context, notifier)
    notices = make_notice_sender(conf, context)
    reconciler = Reconciler(context, manager_name(), sender, waker.event, notices)
    application = _application(conf, settings.api, context, telemetry, reconciler)
    if server.metrics.is_in_api:
        telemetry.show_database(SqlStats(engine), clock, server.metrics.kept_for_seconds)
        levels = CapacityLevels(context, server.metrics.capacity)
        telemetry.show_capacity(levels, server.metrics.kept_for_seconds)
        application = with_metrics(counted(application, telemetry.meter), telemetry.page())
    return Embedded(
        application=application,
        reconciler=reconciler,
        context=context,
        cloud=cloud,
        database_url=url,
        lock=lock,
    )


def _application(
    conf: ConfigOpts,
    settings: ApiSettings,
    context: Context,
    telemetry: ProcessMetrics,
    reconciler: Reconciler,
) -> WSGIApplication:
    """Return the API with its manager; its health check includes the reconciler."""
    types = load_apis(conf.manager.plugins)
    healthcheck = make_healthcheck(conf)
    manager = local_manager(measured_manager(ManagerService(context), telemetry.meter))
    guard = make_guard(settings, conf)
    api = make_app(
        measured_managers(manager, telemetry.meter),
        settings,
        make_policy(conf, types),
        guard=guard,
        healthcheck=lambda app: while_healthy(healthcheck(app), reconciler.problems),
        types=types,
    )
    ui = read_ui_settings(conf)
    return api if ui is None else with_console(api, guard, settings, ui)


def _in_clock_time(settings: Settings, speed: float) -> Settings:
    """Return the settings with durations of real time, such as claims, converted to the fast clock."""
    reconciler = settings.reconciler
    return replace(
        settings,
        leases=replace(
            settings.leases,
            delete_wait=settings.leases.delete_wait * speed,
            update_wait=settings.leases.update_wait * speed,
        ),
        notices=replace(settings.notices, check_interval=settings.notices.check_interval * speed),
        own=tuple(each.embedded(speed) for each in settings.own),
        usage=replace(settings.usage, interval=_observation_interval(settings.usage.interval, speed)),
        reconciler=replace(
            reconciler,
            claim_duration=reconciler.claim_duration * speed,
            step_limit=reconciler.step_limit * speed,
            poll_interval=reconciler.poll_interval * speed,
            first_backoff=reconciler.first_backoff * speed,
            longest_backoff=reconciler.longest_backoff * speed,
            sweep_interval=reconciler.sweep_interval * speed,
            discovery_interval=reconciler.discovery_interval * speed,
            plan_check_interval=reconciler.plan_check_interval * speed,
            answer_check_interval=reconciler.answer_check_interval * speed,
            offer_check_interval=reconciler.offer_check_interval * speed,
            maintenance_check_interval=reconciler.maintenance_check_interval * speed,
        ),
    )


def _observation_interval(interval: timedelta, speed: float) -> timedelta:
    """Return the interval in clock time: leases on a fast clock are short in real time, too."""
    return max(interval, _SHORTEST_OBSERVATION * speed) if interval else interval
