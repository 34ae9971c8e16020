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
from blazar.settings import ApiSettings, HostSettings, LeaseSettings, ReconcilerSettings, Settings

PROJECT = "blazar"

DEFAULT_OPTIONS: list[cfg.Opt] = [
    cfg.HostAddressOpt(
        "host",
        default="0.0.0.0",  # noqa: S104 - the existing service's default
        help="Address that the API's built-in server listens on.",
    ),
    cfg.PortOpt("port", default=1234, help="Port of the API's built-in server; 0 for any free one."),
    cfg.StrOpt(
        "auth_strategy",
        default="keystone",
        choices=["keystone", "http_basic", "noauth"],
        help="How callers are known: by Keystone's tokens, by name and password, or not at all.",
    ),
    cfg.StrOpt(
        "http_basic_auth_user_file",
        default="/etc/blazar/htpasswd",
        help="File of users for http_basic: lines of name:bcrypt hash[:roles].",
    ),
    cfg.IntOpt(
        "cleaning_time",
        default=0,
        min=0,
        help="Minutes kept free between two uses of one resource; 0 for none.",
    ),
]

API_OPTIONS: list[cfg.Opt] = [
    cfg.IntOpt(
        "max_request_body_size",
        default=114688,
        min=1024,
        help="Bytes; longer request bodies are refused with 413.",
    ),
    cfg.IntOpt("workers", default=8, min=1, help="Threads of the API's built-in server."),
]

MANAGER_OPTIONS: list[cfg.Opt] = [
    cfg.ListOpt(
        "plugins",
        default=["physical.host.plugin", "virtual.instance.plugin", "flavor.instance.plugin"],
        help="Resource plugins, by entry point name. The API needs the same value.",
    ),
    cfg.StrOpt(
        "cloud",
        help="Cloud driver of blazar-manager, by entry point name (group blazar.cloud.drivers). "
        "There is no default, so that no production manager plays with a simulated cloud.",
    ),
    cfg.StrOpt("rpc_topic", default="blazar.manager", help="Topic that all managers serve."),
    cfg.IntOpt(
        "minutes_before_end_lease",
        default=60,
        min=0,
        help="Minutes from the before_end_lease event to the end of a lease; 0 for no such event.",
    ),
    cfg.IntOpt(
        "seconds_to_prepare",
        default=120,
        min=0,
        help="Seconds before the start at which what has no effect yet is made; 0 for at the start.",
    ),
    cfg.IntOpt(
        "delete_wait_seconds",
        default=30,
        min=0,
        help="Seconds that a DELETE waits for the teardown before it answers; 0 for not at all. "
        "Must be less than rpc_response_timeout.",
    ),
    cfg.IntOpt("workers", default=8, min=1, help="Leases that one manager works on at the same time."),
    cfg.IntOpt(
        "claim_seconds",
        default=10,
        min=2,
        help="Seconds after which the work of a manager that fell silent is taken over.",
    ),
    cfg.FloatOpt(
        "poll_interval_seconds",
        default=2,
        min=0.1,
        help="Seconds between looks for due work, as a safety net beside timers and wake-ups.",
    ),
    cfg.IntOpt(
        "longest_retry_seconds",
        default=60,
        min=1,
        help="Seconds that are waited at most before a failed step is tried again.",
    ),
    cfg.IntOpt(
        "sweep_interval_minutes",
        default=10,
        min=0,
        help="Minutes between sweeps for what belongs to no living reservation; 0 for no sweeps.",
    ),
]

HOST_OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt("blazar_az_prefix", default="blazar_", help="Prefix of the zones of reserved hosts."),
    cfg.StrOpt(
        "before_end",
        default="",
        choices=["", "snapshot"],
        help="What before_end: default means: nothing, or a snapshot of every server.",
    ),
    cfg.IntOpt(
        "preemption_notice_seconds",
        default=0,
        min=0,
        help="Seconds that preemptible servers on a host are told in advance, by their metadata "
        "blazar:preempted_at, that a reservation begins and they will be deleted; 0 for not at all.",
    ),
    cfg.IntOpt(
        "refresh_interval_minutes",
        default=60,
        min=0,
        help="Minutes between two times that sizes, zones, inventories and traits of registered hosts are "
        "read from Nova and Placement again; 0 for never. blazar-manage host refresh does it at once.",
    ),
    cfg.BoolOpt(
        "randomize_host_selection",
        default=False,
        help="Choose at random among hosts that fit, instead of small ones first.",
    ),
]

NOVA_OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "aggregate_freepool_name",
        default="freepool",
        deprecated_group="physical:host",
        help="Name of the freepool aggregate.",
    ),
    cfg.StrOpt(
        "blazar_owner",
        default="blazar:owner",
        deprecated_group="physical:host",
        help="Metadata key for the owning project.",
    ),
    cfg.StrOpt(
        "image_prefix",
        default="reserved_",
        deprecated_group="DEFAULT",
        help="Prefix of the names of snapshots.",
    ),
    cfg.BoolOpt("az_aware", default=True, help="Record in which availability zone a host is."),
]

NOTIFICATION_OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt("publisher_id", default="blazar.lease", help="Publisher of notifications."),
]

STANDALONE_OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "state_dir",
        default="~/.local/state/blazar",
        help="Folder of the embedded service's database and simulated cloud.",
    ),
    cfg.FloatOpt(
        "clock_speed",
        default=1,
        min=0.001,
        help="How many times as fast as the real one the embedded service's clock runs.",
    ),
    cfg.StrOpt(
        "clock_epoch",
        help="Instant (ISO 8601, with offset) since which the fast clock runs; the start by default.",
    ),
]

SIMULATED_OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "state_file",
        help="Where the simulated cloud is kept; the embedded service has it in its state folder.",
    ),
    cfg.IntOpt("hosts", default=8, min=0, help="Hosts that a new simulated cloud begins with."),
    cfg.FloatOpt("call_seconds", default=0, min=0, help="Seconds that a call takes."),
    cfg.FloatOpt("server_deletion_seconds", default=0, min=0, help="Seconds that a server takes to go."),
    cfg.StrOpt("fault_script", help="JSON file with what is to go wrong."),
]

_GROUPS: dict[str | None, list[cfg.Opt]] = {
    None: DEFAULT_OPTIONS,
    "api": API_OPTIONS,
    "manager": MANAGER_OPTIONS,
    "physical:host": HOST_OPTIONS,
    "nova": NOVA_OPTIONS,
    "notifications": NOTIFICATION_OPTIONS,
    "standalone": STANDALONE_OPTIONS,
    "simulated_cloud": SIMULATED_OPTIONS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Where a process listens, and what it is connected with."""

    host: str
    port: int
    threads: int
    rpc_topic: str
    publisher_id: str
    plugins: tuple[str, ...]
    database_url: str | None
    database_options: dict[str, Any]


def list_opts() -> list[tuple[str | None, list[cfg.Opt]]]:
    """Return the options by group, for ``oslo-config-generator``; those of the OpenStack driver too."""
    own, driver = _GROUPS, dict(openstack.list_opts())
    return [(group, [*own.get(group, []), *driver.get(group, [])]) for group in {**own, **driver}]


def make_conf(
    arguments: Sequence[str],
    program: str,
    *,
    config_files: Sequence[str] | None = None,
    cli_options: Sequence[cfg.Opt] = (),
    conf: cfg.ConfigOpts | None = None,
) -> cfg.ConfigOpts:
    """Return the configuration of a process, with logging set up.

    Args:
        arguments: The command line, without the program's name.
        program: The program's name.
        config_files: The files to read; None for the usual places.
        cli_options: Options of the command line that only this program has.
        conf: What to read into; None for a new one. Programs that use the bus must pass ``cfg.CONF``.
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
        default_config_files=list(config_files) if config_files is not None else None,
    )
    return conf


def register(conf: cfg.ConfigOpts) -> None:
    """Register the service's own options and those of the database."""
    for group, options in _GROUPS.items():
        conf.register_opts(options, group=group)
    conf.register_opts(db_options.database_opts, group="database")


def set_up_logging(conf: cfg.ConfigOpts) -> None:
    """Send logs where the configuration says."""
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
        reconciler=ReconcilerSettings(
            workers=manager.workers,
            claim_duration=timedelta(seconds=manager.claim_seconds),
            poll_interval=timedelta(seconds=manager.poll_interval_seconds),
            longest_backoff=timedelta(seconds=manager.longest_retry_seconds),
            sweep_interval=timedelta(minutes=manager.sweep_interval_minutes),
            refresh_interval=timedelta(minutes=host.refresh_interval_minutes),
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
    database = conf.database
    return ServerSettings(
        host=conf.host,
        port=conf.port,
        threads=conf.api.workers,
        rpc_topic=conf.manager.rpc_topic,
        publisher_id=conf.notifications.publisher_id,
        plugins=tuple(conf.manager.plugins),
        database_url=database.connection,
        database_options={
            "mysql_sql_mode": database.mysql_sql_mode,
            "connection_recycle_time": database.connection_recycle_time,
            "connection_debug": database.connection_debug,
            "max_pool_size": database.max_pool_size,
            "max_overflow": database.max_overflow,
            "pool_timeout": database.pool_timeout,
            "max_retries": database.max_retries,
            "retry_interval": database.retry_interval,
        },
    )


def _resource_types(plugins: Sequence[str]) -> frozenset[str]:
    """Return which collections the API serves; it reads the same option as the managers."""
    return frozenset({"physical:host"} if "physical.host.plugin" in plugins else ())
