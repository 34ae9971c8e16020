"""Configuration files and command lines, read once into frozen settings.

Names, groups and defaults are those of the existing service where it has the option (behaviour 9.1),
so an existing ``blazar.conf`` works.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from oslo_config import cfg
from oslo_db import options as db_options
from oslo_log import log

from blazar import __version__
from blazar.cloud.openstack import options as openstack
from blazar.options import GROUPS
from blazar.settings import (
    ApiSettings,
    HealingSettings,
    HostSettings,
    LeaseSettings,
    MetricsSettings,
    MonitorSettings,
    NotificationSource,
    ReconcilerSettings,
    Settings,
)
from blazar.telemetry.trail import INSTANCE_FORMAT

PROJECT = "blazar"
_CONNECTIONS_KEPT = 20
"""To the database, by one process: a manager's threads use as many, and to make one takes milliseconds."""

_COLLECTIONS = {"physical.host.plugin": "physical:host", "virtual.floatingip.plugin": "virtual:floatingip"}
"""Which plugins make the API serve a collection of their resources, and whose these are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Where a process listens, and what it is connected with."""

    host: str
    port: int
    rpc_topic: str
    publisher_id: str
    host_notifications: NotificationSource
    metrics: MetricsSettings
    plugins: tuple[str, ...]
    database_url: str | None
    database_options: dict[str, Any]


def list_opts() -> list[tuple[str | None, list[cfg.Opt]]]:
    """Return the options by group, for ``oslo-config-generator``; those of the OpenStack driver too."""
    own, driver = GROUPS, dict(openstack.list_opts())
    return [(group, [*own.get(group, []), *driver.get(group, [])]) for group in {**own, **driver}]


def make_conf(
    arguments: Sequence[str],
    program: str,
    *,
    config_files: Sequence[str] | None = None,
    config_folders: Sequence[str] = (),
    cli_options: Sequence[cfg.Opt] = (),
    conf: cfg.ConfigOpts | None = None,
) -> cfg.ConfigOpts:
    """Return the configuration of a process, with logging set up.

    Args:
        arguments: The command line, without the program's name.
        program: The program's name.
        config_files: The files to read if the command line names none; None for the default files and
            folders. With a list, only *config_folders* are read in addition.
        config_folders: The folders whose ``*.conf`` files are read after *config_files*.
        cli_options: Command-line options of this program only.
        conf: The object to fill; None for a new one. Programs that use the bus must pass ``cfg.CONF``.
    """
    conf = conf if conf is not None else cfg.ConfigOpts()
    register(conf)
    log.register_options(conf)
    conf.register_cli_opts(cli_options)
    conf(
        list(arguments),
        project=PROJECT,
        prog=program,
        version=__version__,
        default_config_files=None if config_files is None else list(config_files),
        default_config_dirs=None if config_files is None else list(config_folders),
    )
    return conf


def register(conf: cfg.ConfigOpts) -> None:
    """Register the service's own options and those of the database."""
    for group, options in GROUPS.items():
        conf.register_opts(options, group=group)
    conf.register_opts(db_options.database_opts, group="database")
    conf.set_default("max_pool_size", _CONNECTIONS_KEPT, group="database")


def unknown_options(conf: cfg.ConfigOpts, group: str) -> frozenset[str]:
    """Return the options that the configuration files set in a group, and that nobody has registered."""
    found: set[str] = set()
    for path in conf.config_file or ():
        sections: dict[str, dict[str, list[str]]] = {}
        cfg.ConfigParser(path, sections).parse()
        found |= sections.get(group, {}).keys()
    return frozenset(each for each in found if each.replace("-", "_") not in conf[group])


def set_up_logging(conf: cfg.ConfigOpts) -> None:
    """Send logs where the configuration says."""
    conf.set_default("instance_format", INSTANCE_FORMAT)
    log.set_defaults(
        default_log_levels=[*log.get_default_log_levels(), "oslo.messaging=INFO", "alembic=WARNING"]
    )
    log.setup(conf, PROJECT)


def read_settings(conf: cfg.ConfigOpts) -> Settings:
    """Return what the code below the wiring is told."""
    manager, host, nova = conf.manager, conf["physical:host"], conf.nova
    basic = conf.auth_strategy == "http_basic"
    return Settings(
        leases=LeaseSettings(
            cleaning_time=timedelta(minutes=conf.cleaning_time),
            before_end_lead=timedelta(minutes=manager.minutes_before_end_lease),
            # Notice is given when the start is prepared.
            prepare_lead=timedelta(seconds=max(manager.seconds_to_prepare, host.preemption_notice_seconds)),
            delete_wait=timedelta(seconds=manager.delete_wait_seconds),
        ),
        hosts=HostSettings(
            availability_zone_prefix=host.blazar_az_prefix,
            before_end=host.before_end,
            randomize_selection=host.randomize_host_selection,
            freepool_name=nova.aggregate_freepool_name,
            owner_key=nova.blazar_owner,
            image_prefix=nova.image_prefix,
            az_aware=nova.az_aware,
            preemption_notice=timedelta(seconds=host.preemption_notice_seconds),
        ),
        healing=HealingSettings(interval=timedelta(minutes=host.healing_interval)),
        monitor=MonitorSettings(
            is_polling=host.enable_polling_monitor,
            is_listening=host.enable_notification_monitor,
            polling_interval=timedelta(seconds=host.polling_interval),
        ),
        reconciler=ReconcilerSettings(
            workers=manager.workers,
            claim_duration=timedelta(seconds=manager.claim_seconds),
            poll_interval=timedelta(seconds=manager.poll_interval_seconds),
            longest_backoff=timedelta(seconds=manager.longest_retry_seconds),
            sweep_interval=timedelta(minutes=manager.sweep_interval_minutes),
            refresh_interval=timedelta(minutes=host.refresh_interval_minutes),
            floatingip_check_interval=timedelta(minutes=conf["virtual:floatingip"].check_interval_minutes),
            stock_interval=timedelta(minutes=manager.stock_interval_minutes),
        ),
        api=ApiSettings(
            auth_strategy=conf.auth_strategy,
            http_basic_user_file=conf.http_basic_auth_user_file if basic else None,
            max_body_bytes=conf.api.max_request_body_size,
            resource_types=_resource_types(manager.plugins),
        ),
    )


def read_server_settings(conf: cfg.ConfigOpts) -> ServerSettings:
    """Return where the process listens and what it is connected with."""
    database, host = conf.database, conf["physical:host"]
    return ServerSettings(
        host=conf.host,
        port=conf.port,
        rpc_topic=conf.manager.rpc_topic,
        publisher_id=conf.notifications.publisher_id,
        host_notifications=NotificationSource(
            topics=tuple(host.notification_topics),
            exchange=host.notification_exchange,
            pool=host.notification_pool,
        ),
        metrics=MetricsSettings(
            listen_host=conf.metrics.listen_host,
            listen_port=conf.metrics.listen_port,
            is_in_api=conf.metrics.in_api,
            kept_for_seconds=conf.metrics.keep_seconds,
        ),
        plugins=tuple(conf.manager.plugins),
        database_url=database.connection,
        database_options={
            "mysql_sql_mode": database.mysql_sql_mode,
            "mysql_wsrep_sync_wait": database.mysql_wsrep_sync_wait,
            "connection_recycle_time": database.connection_recycle_time,
            "connection_debug": database.connection_debug,
            "max_pool_size": database.max_pool_size,
            "max_overflow": database.max_overflow,
            "pool_timeout": database.pool_timeout,
            "max_retries": database.max_retries,
            "retry_interval": database.retry_interval,
        },
    )


def _trusted_hosts(conf: cfg.ConfigOpts) -> frozenset[str]:
    """Return the configured names and the name on which the API listens, without wildcard addresses."""
    return frozenset(each.lower() for each in (*conf.api.trusted_hosts, conf.host)) - {"0.0.0.0", "::"}  # noqa: S104


def _resource_types(plugins: Sequence[str]) -> frozenset[str]:
    """Return which collections the API serves; it reads the same option as the managers."""
    return frozenset(kind for name, kind in _COLLECTIONS.items() if name in plugins)
