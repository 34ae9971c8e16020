"""Configuration files and command lines, read once into frozen settings.

An existing ``blazar.conf`` works: if the existing service has an option, its name, group and default are the
same here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import available_timezones

from oslo_config import cfg
from oslo_db import options as db_options
from oslo_log import log

from blazar import __version__
from blazar.channels.languages import list_languages
from blazar.cloud.openstack import options as openstack
from blazar.domain.notices import NoticeType
from blazar.domain.subscriptions import ChannelKind
from blazar.domain.webhook_rules import WebhookRules
from blazar.options import GROUPS, TYPE_OPTIONS
from blazar.settings import (
    ApiSettings,
    CapacitySettings,
    FeedSettings,
    LeaseSettings,
    MetricsSettings,
    NoticeSettings,
    OfferSettings,
    ReconcilerSettings,
    RequestLimits,
    Settings,
    UiSettings,
    UsageSettings,
)
from blazar.telemetry.log_context import INSTANCE_FORMAT

PROJECT = "blazar"
_CONNECTIONS_KEPT = 20
"""Database connections that one process keeps: as many as a manager's threads use at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Addresses on which a process listens and to which it connects."""

    host: str
    port: int
    rpc_topic: str
    publisher_id: str
    metrics: MetricsSettings
    plugins: tuple[str, ...]
    database_url: str | None
    database_options: dict[str, Any]


def list_opts() -> list[tuple[str | None, list[cfg.Opt]]]:
    """Return the options by group, with those of the OpenStack driver, for ``oslo-config-generator``."""
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
    """Return the configuration of a process.

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
    # First: an option that is registered without a flag cannot get one later.
    conf.register_cli_opts(cli_options)
    register(conf)
    log.register_options(conf)
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


def set_up_logging(conf: cfg.ConfigOpts) -> None:
    """Configure logging."""
    conf.set_default("instance_format", INSTANCE_FORMAT)
    log.set_defaults(
        default_log_levels=[*log.get_default_log_levels(), "oslo.messaging=INFO", "alembic=WARNING"]
    )
    log.setup(conf, PROJECT)


def read_settings(conf: cfg.ConfigOpts) -> Settings:
    """Return the settings of the code below the wiring."""
    basic = conf.auth_strategy == "http_basic"
    settings = Settings(
        region=conf.os_region_name or None,
        leases=_read_lease_settings(conf),
        reconciler=_read_reconciler_settings(conf),
        usage=UsageSettings(
            interval=timedelta(minutes=conf.usage_records.observation_interval_minutes),
            kept_for=timedelta(days=conf.usage_records.keep_days),
            no_show_grace={
                resource_type: timedelta(minutes=minutes)
                for resource_type, minutes in conf.usage_records.no_show_grace_minutes.items()
            },
            no_show_warning=timedelta(minutes=conf.usage_records.no_show_warning_minutes),
            no_show_exempt=frozenset(conf.usage_records.no_show_exempt_projects),
        ),
        feeds=FeedSettings(
            per_project=conf.feeds.max_per_project,
            longest_age=timedelta(days=conf.feeds.max_age_days),
            past=timedelta(days=conf.feeds.past_days),
            cancelled=timedelta(days=conf.feeds.cancelled_days),
            ahead=timedelta(days=conf.feeds.availability_days),
        ),
        notices=_read_notice_settings(conf),
        api=ApiSettings(
            auth_strategy=conf.auth_strategy,
            http_basic_user_file=conf.http_basic_auth_user_file if basic else None,
            shortage_status=conf.api.shortage_status,
            max_body_bytes=conf.api.max_request_body_size,
            max_limit=conf.api.max_limit,
            trusted_hosts=_trusted_hosts(conf),
            feed_reads_per_hour=conf.feeds.reads_per_hour,
            unknown_feeds_per_hour=conf.feeds.unknown_per_hour,
        ),
    )
    for each in TYPE_OPTIONS:
        settings = each.with_options(conf, settings)
    return settings


def _read_notice_settings(conf: cfg.ConfigOpts) -> NoticeSettings:
    """Return the settings of notices. Raises ValueError if the templates or the time zone are not usable."""
    notices = conf.notices
    folder = Path(notices.template_folder) if notices.template_folder else None
    try:
        others = list_languages(folder)
    except OSError as error:
        raise ValueError(f"[notices] template_folder: {folder}: {error.strerror}") from error
    if notices.language not in others:
        raise ValueError(f"[notices] language: there are templates for {', '.join(others)} only")
    if notices.time_zone not in available_timezones():
        raise ValueError(f"[notices] time_zone: there is no time zone {notices.time_zone}")
    return NoticeSettings(
        channels=frozenset(ChannelKind(each) for each in notices.channels),
        leads=tuple(timedelta(minutes=each) for each in sorted(set(notices.lead_minutes), reverse=True)),
        default_types=frozenset(NoticeType(each) for each in notices.default_events),
        check_interval=timedelta(seconds=notices.check_interval_seconds),
        workers=notices.workers,
        per_project=notices.max_subscriptions_per_project,
        longest_queue=notices.max_undelivered,
        longest_pause=timedelta(minutes=notices.longest_retry_minutes),
        give_up_after=timedelta(hours=notices.give_up_hours),
        kept_for=timedelta(days=notices.keep_failed_days),
        webhook_rules=WebhookRules(
            allows_http=notices.webhook_http_allowed,
            ports=frozenset(notices.webhook_ports),
            allowed=tuple(notices.webhook_allowed_networks),
            refused=tuple(notices.webhook_refused_networks),
        ),
        mail_domains=frozenset(each.lower() for each in notices.mail_domains),
        time_zone=notices.time_zone,
        languages=(notices.language, *(each for each in others if each != notices.language)),
    )


def _read_reconciler_settings(conf: cfg.ConfigOpts) -> ReconcilerSettings:
    manager = conf.manager
    return ReconcilerSettings(
        workers=manager.workers,
        claim_duration=timedelta(seconds=manager.claim_seconds),
        step_limit=timedelta(seconds=manager.step_deadline_seconds),
        clock_limit=timedelta(seconds=manager.clock_difference_limit_seconds),
        poll_interval=timedelta(seconds=manager.poll_interval_seconds),
        longest_backoff=timedelta(seconds=manager.longest_retry_seconds),
        sweep_interval=timedelta(minutes=manager.sweep_interval_minutes),
        discovery_interval=timedelta(minutes=manager.discovery_interval_minutes),
        plan_check_interval=timedelta(minutes=manager.plan_check_interval_minutes),
        answer_check_interval=timedelta(minutes=manager.answer_check_interval_minutes),
        offer_check_interval=timedelta(minutes=manager.offer_check_interval_minutes),
        maintenance_check_interval=timedelta(seconds=manager.maintenance_check_interval_seconds),
        outbox_give_up_after=timedelta(hours=manager.outbox_give_up_hours),
    )


def _read_lease_settings(conf: cfg.ConfigOpts) -> LeaseSettings:
    manager = conf.manager
    return LeaseSettings(
        cleaning_time=timedelta(minutes=conf.cleaning_time),
        before_end_lead=timedelta(minutes=manager.minutes_before_end_lease),
        prepare_lead=timedelta(seconds=manager.seconds_to_prepare),
        release_wait=timedelta(seconds=manager.release_wait_seconds),
        delete_wait=timedelta(seconds=manager.delete_wait_seconds),
        update_wait=timedelta(seconds=manager.update_wait_seconds),
        limits=RequestLimits(
            reservations=manager.max_reservations_per_lease,
            conditions=manager.max_conditions_per_lease,
            expression_length=manager.max_expression_length,
            amount=manager.max_amount_per_lease,
        ),
        offers=OfferSettings(
            default_ttl=timedelta(seconds=min(manager.offer_ttl_seconds, manager.max_offer_ttl_seconds)),
            longest_ttl=timedelta(seconds=manager.max_offer_ttl_seconds),
            per_project=manager.max_offers_per_project,
        ),
    )


def read_ui_settings(conf: cfg.ConfigOpts) -> UiSettings | None:
    """Return the settings of the web console, or None if it is not served.

    Options of ``[keystone_authtoken]`` are known only once the guard of the API exists.
    """
    ui = conf.ui
    if not ui.enabled:
        return None
    keystone = conf.keystone_authtoken if "keystone_authtoken" in conf else None
    return UiSettings(
        session_keys=tuple(ui.session_keys),
        keystone_url=ui.keystone_url or (keystone and keystone.www_authenticate_uri),
        verify=not keystone.insecure and (keystone.cafile or True) if keystone else True,
        user_domain=ui.user_domain,
        websso=dict(ui.websso),
        public_url=ui.public_url,
        frame_ancestors=tuple(ui.frame_ancestors),
        region=conf.os_region_name or None,
    )


def read_server_settings(conf: cfg.ConfigOpts) -> ServerSettings:
    """Return the addresses on which the process listens and to which it connects."""
    database = conf.database
    return ServerSettings(
        host=conf.host,
        port=conf.port,
        rpc_topic=conf.manager.rpc_topic,
        publisher_id=conf.notifications.publisher_id,
        metrics=MetricsSettings(
            listen_host=conf.metrics.listen_host,
            listen_port=conf.metrics.listen_port,
            is_in_api=conf.metrics.in_api,
            kept_for_seconds=conf.metrics.keep_seconds,
            capacity=CapacitySettings(
                properties=tuple(conf.metrics.capacity_properties),
                most_values=conf.metrics.capacity_values,
                within=tuple(timedelta(hours=each) for each in sorted(set(conf.metrics.forecast_hours))),
                low_percent=conf.metrics.forecast_low_percent,
            ),
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
