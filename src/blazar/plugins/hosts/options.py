"""Options of hosts, and the settings that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final

from oslo_config import cfg

from blazar.plugins.hosts.host import HOST_FIELDS, MAX_CAPABILITY_KEY_LENGTH
from blazar.plugins.hosts.settings import HostSettings, MonitorSettings
from blazar.settings import HealingSettings, NotificationSource, Settings
from blazar.type_options import TypeOptions

GROUP: Final = "physical:host"

HOST_OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "blazar_az_prefix", default="blazar_", help="Prefix of the availability zones of reserved hosts."
    ),
    cfg.StrOpt("project_id_key", help="Accepted for compatibility, without effect."),
    cfg.StrOpt(
        "before_end",
        default="",
        choices=["", "default", "snapshot"],
        help="Action of a reservation with before_end: default: none (empty or default), or a snapshot of "
        "every server.",
    ),
    cfg.IntOpt(
        "snapshot_wait_minutes",
        default=10,
        min=0,
        help="Minutes after the end of a lease for which its servers are kept until their snapshots are "
        "active; 0 for deleting them at the end.",
    ),
    cfg.StrOpt(
        "snapshot_failure",
        default="keep",
        choices=["keep", "continue"],
        help="Action at the end of a lease if snapshots of its servers failed: keep the servers for "
        "snapshot_grace_minutes and retry the snapshots, or continue and delete the servers.",
    ),
    cfg.IntOpt(
        "snapshot_grace_minutes",
        default=60,
        min=0,
        help="Minutes after the end of a lease for which servers whose snapshots failed are kept; 0 for no "
        "grace period.",
    ),
    cfg.IntOpt(
        "preemption_notice_seconds",
        default=0,
        min=0,
        help="Seconds of notice that preemptible servers on a host get, in their metadata "
        "blazar:preempted_at, before a reservation starts and they are deleted; 0 for no notice.",
    ),
    cfg.IntOpt(
        "refresh_interval_minutes",
        default=60,
        min=0,
        help="Minutes between two refreshes of the sizes, zones, inventories and traits of registered hosts "
        "from Nova and Placement; 0 for never. blazar-manage host refresh does it immediately.",
    ),
    cfg.DictOpt(
        "aggregate_properties",
        default={},
        help="Extra capabilities of hosts that follow from host aggregates, as property:pattern, such as "
        "rack:rack-* for racks. The value is the name of the host's aggregate that matches the pattern; if "
        "several match, the first by name. Lessees can then use aggregates in requirements, group_by, same "
        "and spread. Empty: none. Changes are read when hosts are registered or refreshed.",
    ),
    cfg.IntOpt(
        "healing_interval",
        default=60,
        min=0,
        help="Minutes. If a host fails, leases that start within this time get another host immediately, "
        "later leases when their start is that close. If no host is free, the search is repeated at this "
        "interval. 0 for searching for all leases immediately, and again only when a host recovers.",
    ),
    cfg.BoolOpt(
        "randomize_host_selection",
        default=False,
        help="Choose at random among the hosts that fit, those with scarce properties last, instead of the "
        "smallest first.",
    ),
]

MONITOR_OPTIONS: list[cfg.Opt] = [
    cfg.BoolOpt(
        "enable_polling_monitor",
        default=False,
        help="Poll Nova for registered hosts that have failed or are disabled. Only polling detects compute "
        "services that stop reporting and hosts that Nova no longer lists. If neither this nor the "
        "notification monitor is enabled, all hosts are treated as healthy.",
    ),
    cfg.IntOpt(
        "polling_interval",
        default=60,
        min=1,
        help="Seconds between two polls of Nova. A host that Nova does not list for this time has failed; "
        "until then it is only excluded from new leases.",
    ),
    cfg.BoolOpt(
        "enable_notification_monitor",
        default=False,
        help="Poll Nova within seconds after it sends a notification that a compute service was disabled, "
        "enabled, or declared down or up. Needs [notifications] notification_format = versioned or both, and "
        "[oslo_messaging_notifications] driver = messagingv2, in nova.conf of nova-api and nova-compute.",
    ),
    cfg.ListOpt(
        "notification_topics",
        default=["notifications", "versioned_notifications"],
        help="Topics of Nova's notifications, as in its options [oslo_messaging_notifications] topics and "
        "[notifications] versioned_notifications_topics.",
    ),
    cfg.StrOpt(
        "notification_exchange",
        default="nova",
        help="Exchange of Nova's notifications, as in its option [DEFAULT] control_exchange.",
    ),
    cfg.StrOpt(
        "notification_pool",
        default="blazar-monitor",
        help="Queue from which all managers consume notifications, separate from the queues of other "
        "consumers. When you disable the notification monitor, delete the queue in the broker; otherwise it "
        "grows.",
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
    cfg.BoolOpt("az_aware", default=True, help="Record the availability zone of each host."),
]


def with_options(conf: cfg.ConfigOpts, settings: Settings) -> Settings:
    """Return the settings with the values of the options of hosts."""
    host, nova = conf[GROUP], conf.nova
    notice = timedelta(seconds=host.preemption_notice_seconds)
    keeps_failed = host.snapshot_failure == "keep"
    return replace(
        settings,
        leases=replace(
            settings.leases,
            before_end_wait=timedelta(minutes=host.snapshot_wait_minutes),
            before_end_grace=timedelta(minutes=host.snapshot_grace_minutes if keeps_failed else 0),
            # Preemptible servers get their notice when the start is prepared.
            prepare_lead=max(settings.leases.prepare_lead, notice),
            randomize_selection=host.randomize_host_selection,
        ),
        healing=HealingSettings(interval=timedelta(minutes=host.healing_interval)),
    ).with_own(
        HostSettings(
            availability_zone_prefix=host.blazar_az_prefix,
            before_end=host.before_end,
            freepool_name=nova.aggregate_freepool_name,
            owner_key=nova.blazar_owner,
            image_prefix=nova.image_prefix,
            az_aware=nova.az_aware,
            preemption_notice=notice,
            refresh_interval=timedelta(minutes=host.refresh_interval_minutes),
            aggregate_properties=_read_aggregate_properties(host.aggregate_properties),
        ),
        MonitorSettings(
            is_polling=host.enable_polling_monitor,
            is_listening=host.enable_notification_monitor,
            polling_interval=timedelta(seconds=host.polling_interval),
        ),
    )


def _read_aggregate_properties(texts: Mapping[str, str]) -> Mapping[str, str]:
    """Return the patterns by property. Raises ValueError if a property or a pattern is not usable."""
    for name, pattern in texts.items():
        where = f"[{GROUP}] aggregate_properties: {name}"
        if name in HOST_FIELDS:
            raise ValueError(f"{where}: {HOST_FIELDS[name]}; it cannot be an extra capability")
        if not name or len(name) > MAX_CAPABILITY_KEY_LENGTH:
            raise ValueError(f"{where}: a property must have 1 to {MAX_CAPABILITY_KEY_LENGTH} characters")
        if not pattern:
            raise ValueError(f"{where}: needs a pattern of aggregate names, such as rack-*")
    return dict(texts)


def read_notification_source(conf: cfg.ConfigOpts) -> NotificationSource:
    """Return the broker address of Nova's notifications."""
    host = conf[GROUP]
    return NotificationSource(
        topics=tuple(host.notification_topics),
        exchange=host.notification_exchange,
        pool=host.notification_pool,
    )


OPTIONS: Final = TypeOptions(
    groups={GROUP: [*HOST_OPTIONS, *MONITOR_OPTIONS], "nova": NOVA_OPTIONS}, with_options=with_options
)
