"""The service's own options, by group; those of the OpenStack driver are beside it.

Names, groups and defaults are those of the existing service where it has the option (behaviour 9.1).
"""

from __future__ import annotations

from oslo_config import cfg, types

from blazar.enforcement import options as enforcement
from blazar.request_options import LIMIT_OPTIONS

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
    cfg.Opt(
        "shortage_status",
        type=types.Integer(choices=[400, 409, 500]),
        default=400,
        help="HTTP status at API version 1.0 if a request asks for more hosts, instances or floating IPs "
        "than are available. From 1.1 on it is 409. Some clients treat only 400 and 500 as final and repeat "
        "the request otherwise. 500 matches the existing service for hosts and instances; floating IPs then "
        "get 400.",
    ),
    cfg.IntOpt(
        "max_request_body_size",
        default=114688,
        min=1024,
        help="Longest request body in bytes; longer ones are refused with 413.",
    ),
    cfg.ListOpt(
        "trusted_hosts",
        default=[],
        help="Host names of the API, in addition to IP addresses, localhost, the machine's name and "
        "[DEFAULT] host. With auth_strategy = noauth, requests for other names are refused; with noauth and "
        "http_basic, so are changes requested by a web page of another origin. Empty, the default, adds "
        "none.",
    ),
    cfg.BoolOpt(
        "allow_unauthenticated_access",
        default=False,
        help="Allow blazar-api to listen on an address that other machines can reach although auth_strategy "
        "is noauth. Every caller is then an operator.",
    ),
    cfg.IntOpt(
        "manager_silence_seconds",
        default=20,
        min=0,
        help="Seconds after which the API answers 503 to a request that no manager is processing, for "
        "example because all were killed. A manager confirms twice per interval that it is still processing "
        "the request, until rpc_response_timeout. 0 for only after rpc_response_timeout.",
    ),
    cfg.IntOpt("workers", default=8, min=1, help="Threads of the API's built-in server."),
    cfg.IntOpt(
        "connections",
        default=2000,
        min=16,
        help="Connections that the API's built-in server has open at the same time; others wait to be "
        "accepted. The process's limit of open files is raised for them as far as it can be.",
    ),
    cfg.IntOpt(
        "request_seconds",
        default=60,
        min=1,
        help="Seconds from the first byte of a request to its last, after which the API's built-in server "
        "closes the connection; it also closes one on which nothing has happened for so long.",
    ),
]

MANAGER_OPTIONS: list[cfg.Opt] = [
    cfg.ListOpt(
        "plugins",
        default=[
            "physical.host.plugin",
            "virtual.instance.plugin",
            "flavor.instance.plugin",
            "virtual.floatingip.plugin",
        ],
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
        help="Seconds before the start of a lease at which managers prepare what has no effect on the cloud "
        "yet, such as aggregates; 0 for at the start.",
    ),
    cfg.IntOpt(
        "release_wait_seconds",
        default=60,
        min=0,
        help="Seconds after the end of a lease for which the next lease waits for a resource that is not "
        "released, for example because a server on it cannot be deleted. Then the next lease gets another "
        "resource; if none is free, it keeps waiting. 0 for waiting without limit.",
    ),
    cfg.IntOpt(
        "delete_wait_seconds",
        default=30,
        min=0,
        help="Seconds that a DELETE waits for the teardown before it answers; 0 for not at all. "
        "Must be less than rpc_response_timeout.",
    ),
    cfg.IntOpt(
        "update_wait_seconds",
        default=10,
        min=0,
        help="Seconds that a PUT waits for a lease that is STARTING before it is refused with 409; 0 for no "
        "wait. A change of the name alone never waits. Must be less than rpc_response_timeout.",
    ),
    cfg.IntOpt("workers", default=8, min=1, help="Leases that one manager reconciles at the same time."),
    cfg.IntOpt(
        "cloud_calls_side_by_side",
        default=8,
        min=1,
        help="Calls to the cloud that one manager makes at the same time for the hosts of reservations with "
        "several; 1 for one after the other.",
    ),
    cfg.IntOpt(
        "claim_seconds",
        default=10,
        min=2,
        help="Seconds after which other managers take over the work of a manager that stopped renewing its "
        "claims.",
    ),
    cfg.FloatOpt(
        "step_deadline_seconds",
        default=300,
        min=0,
        help="Seconds that one step of a lease or periodic task may take, such as a cloud call or a check of "
        "the servers on a lease's hosts. After that, other managers may take over its claim, and another "
        "thread replaces the one that hangs. Must exceed the longest step that succeeds; 0 for no deadline.",
    ),
    cfg.FloatOpt(
        "clock_difference_limit_seconds",
        default=2,
        min=0,
        help="Seconds by which a manager's clock may differ from the database's. Above that, the manager "
        "claims no work, refuses to create, change and delete leases (503), and fails its health check until "
        "the clock is corrected; it warns at half of that. 0 for no limit. Keep it well below claim_seconds.",
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
        help="Longest delay in seconds before a failed step is retried.",
    ),
    cfg.IntOpt(
        "outbox_give_up_hours",
        default=72,
        min=0,
        help="Hours after which delivery of a notification, or of a message to an enforcement filter, is not "
        "retried any more. The message is kept; blazar-manage outbox lists, resends and deletes such "
        "messages. 0 for retrying without limit.",
    ),
    cfg.IntOpt(
        "sweep_interval_minutes",
        default=10,
        min=0,
        help="Minutes between sweeps for what belongs to no living reservation; 0 for no sweeps.",
    ),
    cfg.IntOpt(
        "discovery_interval_minutes",
        deprecated_name="stock_interval_minutes",
        default=5,
        min=0,
        help="Minutes between two discoveries of resources by the plugins that discover them; 0 for only "
        "when a manager starts. blazar-manage discovery run starts a discovery immediately.",
    ),
    cfg.IntOpt(
        "plan_check_interval_minutes",
        default=10,
        min=0,
        help="Minutes between checks that work is scheduled for every lease that has not ended; 0 for no "
        "checks. Missing work, for example after a manual repair of the database, is scheduled.",
    ),
]

HOST_OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt("blazar_az_prefix", default="blazar_", help="Prefix of the zones of reserved hosts."),
    cfg.StrOpt(
        "before_end",
        default="",
        choices=["", "snapshot"],
        help="Action of a reservation with before_end: default: none, or a snapshot of every server.",
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
    cfg.IntOpt(
        "healing_interval",
        default=60,
        min=0,
        help="Minutes. Leases that start within this time get other hosts as soon as theirs fail, later ones "
        "when it has come so far; and so often other hosts are sought again for those for which there were "
        "none. 0: all at once, and again only when a host comes back.",
    ),
    cfg.BoolOpt(
        "randomize_host_selection",
        default=False,
        help="Choose at random among hosts that fit, instead of small ones first.",
    ),
]

MONITOR_OPTIONS: list[cfg.Opt] = [
    cfg.BoolOpt(
        "enable_polling_monitor",
        default=False,
        help="Ask Nova again and again which registered hosts have failed or are disabled. This alone "
        "notices compute services that fall silent, and hosts that Nova does not list any more. Where "
        "neither this nor the notification monitor is enabled, all hosts are taken for sound.",
    ),
    cfg.IntOpt(
        "polling_interval",
        default=60,
        min=1,
        help="Seconds between two times that Nova is asked. A host that Nova does not list for so long has "
        "failed; until then it is only left out of new leases.",
    ),
    cfg.BoolOpt(
        "enable_notification_monitor",
        default=False,
        help="Ask Nova within seconds after it notified that a compute service was disabled, enabled, or "
        "declared down or up. Needs [notifications] notification_format = versioned or both, and "
        "[oslo_messaging_notifications] driver = messagingv2, in nova.conf of nova-api and nova-compute.",
    ),
    cfg.ListOpt(
        "notification_topics",
        default=["notifications", "versioned_notifications"],
        help="Topics on which Nova notifies, as its [oslo_messaging_notifications] topics and "
        "[notifications] versioned_notifications_topics have them.",
    ),
    cfg.StrOpt(
        "notification_exchange",
        default="nova",
        help="Exchange to which Nova notifies, as its [DEFAULT] control_exchange has it.",
    ),
    cfg.StrOpt(
        "notification_pool",
        default="blazar-monitor",
        help="Queue from which all managers consume notifications, separate from the queues of other "
        "consumers. When you disable the notification monitor, delete the queue in the broker; otherwise it "
        "grows.",
    ),
]

FLAVOR_OPTIONS: list[cfg.Opt] = [
    cfg.MultiStrOpt(
        "pci_alias",
        default=[],
        help="A line of [pci] alias, copied from nova.conf; may be repeated. Set it if Nova schedules PCI "
        "devices through Placement ([filter_scheduler] pci_in_placement): reservations of flavors with "
        "pci_passthrough:alias then include the devices. If not set, the devices are not guaranteed.",
    ),
    cfg.BoolOpt(
        "refuse_unguaranteed",
        default=False,
        help="Refuse flavors with extra specs that a reservation cannot guarantee, such as hw:mem_page_size. "
        "By default they are reserved, the servers get these extra specs, and the reservation names them "
        "under blazar:not_guaranteed.",
    ),
]

FLOATINGIP_OPTIONS: list[cfg.Opt] = [
    cfg.IntOpt(
        "check_interval_minutes",
        default=10,
        min=0,
        help="Minutes between two times that registered floating IPs are compared with Neutron: whether one "
        "lies in an allocation pool by now, or is somebody's; 0 for never.",
    ),
]

QUOTA_OPTIONS: list[cfg.Opt] = [
    cfg.BoolOpt(
        "enabled",
        default=False,
        help="Refuse leases that exceed the limits which Keystone has for the project (unified limits of "
        "this service: leases, reserved_hosts and so on). The group [oslo_limit] says how they are read; "
        "by default with the account of [keystone]. What has no registered limit is not limited.",
    ),
    cfg.IntOpt(
        "limits_lifetime",
        default=60,
        min=0,
        help="Seconds for which limits that were read are taken to be what they are; 0 to read them for "
        "every request. Before a request is refused they are read anew.",
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

METRICS_OPTIONS: list[cfg.Opt] = [
    cfg.HostAddressOpt(
        "listen_host",
        default="127.0.0.1",
        help="Address on which a manager serves /metrics and /healthcheck, without any authentication.",
    ),
    cfg.PortOpt(
        "listen_port",
        min=1,
        help="Port of that; not set, as by default, for none. Managers on one machine need different ones: "
        "set it for each by the environment variable OS_METRICS__LISTEN_PORT.",
    ),
    cfg.BoolOpt(
        "in_api",
        default=False,
        help="Serve /metrics beside the API, too, without any authentication. The embedded service does so "
        "by default.",
    ),
    cfg.FloatOpt(
        "keep_seconds",
        default=10,
        min=0,
        help="Seconds for which numbers that were read from the database are shown again; 0 for not at all.",
    ),
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

GROUPS: dict[str | None, list[cfg.Opt]] = {
    None: DEFAULT_OPTIONS,
    "api": API_OPTIONS,
    "manager": [*MANAGER_OPTIONS, *LIMIT_OPTIONS],
    "physical:host": [*HOST_OPTIONS, *MONITOR_OPTIONS],
    "flavor:instance": FLAVOR_OPTIONS,
    "virtual:floatingip": FLOATINGIP_OPTIONS,
    "quotas": QUOTA_OPTIONS,
    "nova": NOVA_OPTIONS,
    "notifications": NOTIFICATION_OPTIONS,
    enforcement.GROUP: enforcement.OPTIONS,
    "metrics": METRICS_OPTIONS,
    "standalone": STANDALONE_OPTIONS,
    "simulated_cloud": SIMULATED_OPTIONS,
}
