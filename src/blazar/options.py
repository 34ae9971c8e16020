"""Options of the service, by group; ``cloud/openstack/options.py`` has those of the OpenStack driver.

If the existing service has an option, its name, group and default are the same here.
"""

from __future__ import annotations

from oslo_config import cfg, types

from blazar.enforcement import options as enforcement
from blazar.feed_options import FEED_OPTIONS
from blazar.notice_options import NOTICE_OPTIONS
from blazar.request_options import LIMIT_OPTIONS
from blazar.resource_types import load_parts
from blazar.standalone_options import STANDALONE_OPTIONS
from blazar.type_options import TypeOptions
from blazar.ui.options import UI_OPTIONS
from blazar.usage_options import USAGE_OPTIONS

DEFAULT_OPTIONS: list[cfg.Opt] = [
    cfg.HostAddressOpt(
        "host",
        default="0.0.0.0",  # noqa: S104 - the existing service's default
        help="Address that the API's built-in server listens on.",
    ),
    cfg.PortOpt("port", default=1234, help="Port of the API's built-in server; 0 for any free one."),
    cfg.StrOpt(
        "os_region_name",
        help="Region of the service, as the catalogue of resources and requirements on $region name it. The "
        "endpoints of services whose group has no region are also those of this region; by default, of any.",
    ),
    cfg.StrOpt(
        "auth_strategy",
        default="keystone",
        choices=["keystone", "http_basic", "noauth"],
        help="Authentication of callers: by Keystone token, by name and password, or none.",
    ),
    cfg.StrOpt(
        "http_basic_auth_user_file",
        default="/etc/blazar/htpasswd",
        help="File of users for http_basic, with lines of name:bcrypt hash[:roles].",
    ),
    cfg.IntOpt(
        "cleaning_time",
        default=0,
        min=0,
        help="Idle minutes between two leases of the same resource; 0 for none.",
    ),
]

API_OPTIONS: list[cfg.Opt] = [
    cfg.Opt(
        "shortage_status",
        type=types.Integer(choices=[400, 409, 500]),
        default=400,
        help="HTTP status at API version 1.0 if a request asks for more hosts, instances or floating IPs "
        "than are available, or if Nova refuses a server group for it. From 1.1 on it is 409. Some clients "
        "treat only 400 and 500 as final and repeat the request otherwise. 500 matches the existing service "
        "for hosts and instances; floating IPs then get 400.",
    ),
    cfg.IntOpt(
        "max_request_body_size",
        default=114688,
        min=1024,
        help="Longest request body in bytes; longer ones are refused with 413.",
    ),
    cfg.IntOpt(
        "max_limit",
        default=1000,
        min=1,
        max=10000,
        help="Most items of a page of a list from API version 1.1 on, and the size of a page if a request "
        "names none. At 1.0 lists are complete.",
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
        help="Seconds after which the API answers 503 to a request that its manager is not processing any "
        "more, for example because it was killed. A manager confirms twice per interval that it is still "
        "processing the request, until rpc_response_timeout. 0 for only after rpc_response_timeout. A "
        "request that no manager receives is answered within 5 seconds.",
    ),
    cfg.IntOpt("workers", default=8, min=1, help="Threads of the API's built-in server."),
    cfg.IntOpt(
        "connections",
        default=2000,
        min=16,
        help="Connections that the API's built-in server keeps open at the same time; others wait to be "
        "accepted. The server raises the process's limit of open files as far as the system allows.",
    ),
    cfg.IntOpt(
        "request_seconds",
        default=60,
        min=1,
        help="Seconds that a client may take to send a request, from the first byte to the last, before the "
        "API's built-in server closes the connection. It also closes connections that are idle that long.",
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
        default="openstack",
        help="Cloud driver of blazar-manager, by entry point name (group blazar.cloud.drivers).",
    ),
    cfg.StrOpt("rpc_topic", default="blazar.manager", help="RPC topic that all managers serve."),
    cfg.IntOpt(
        "minutes_before_end_lease",
        default=60,
        min=0,
        help="Minutes from the before_end_lease event to the end of a lease; 0 for no event.",
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
        help="Seconds that a DELETE waits for the teardown before it answers; 0 for no wait. At most four "
        "requests of a manager wait at the same time, two of them for leases of one project; others are "
        "answered at once. Must be less than rpc_response_timeout.",
    ),
    cfg.IntOpt(
        "update_wait_seconds",
        default=10,
        min=0,
        help="Seconds that a PUT waits for a lease that is STARTING before it is refused with 409; 0 for no "
        "wait. A change of the name alone never waits, nor does one beyond the limit that "
        "delete_wait_seconds describes. Must be less than rpc_response_timeout.",
    ),
    cfg.IntOpt("workers", default=8, min=1, help="Leases that one manager reconciles at the same time."),
    cfg.IntOpt(
        "max_concurrent_cloud_calls",
        deprecated_name="cloud_calls_side_by_side",
        default=8,
        min=1,
        help="Cloud calls that one manager makes at the same time for reservations with several hosts; 1 for "
        "sequential calls.",
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
        help="Seconds between polls for due work, in addition to timers and wake-up messages.",
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
        help="Minutes between sweeps for leftovers that belong to no current reservation; 0 for no sweeps.",
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
    cfg.IntOpt(
        "answer_check_interval_minutes",
        default=60,
        min=0,
        help="Minutes between deletions of stored answers to requests with the header Idempotency-Key, which "
        "are kept for 24 hours; 0 for keeping them without limit.",
    ),
    cfg.IntOpt(
        "offer_check_interval_minutes",
        default=10,
        min=0,
        help="Minutes between deletions of expired offers. An expired offer holds nothing, whether or not it "
        "was deleted; for 24 hours, a lease that is requested from it is refused with 410, and later with "
        "404. 0 for keeping them without limit.",
    ),
    cfg.IntOpt(
        "maintenance_check_interval_seconds",
        default=60,
        min=0,
        help="Seconds between two checks of resources under maintenance: leases that have not started are "
        "moved away from them as soon as that is possible, and resources leave their pool and return to it. "
        "0 for no checks; then only the request moves leases.",
    ),
]

QUOTA_OPTIONS: list[cfg.Opt] = [
    cfg.BoolOpt(
        "enabled",
        default=False,
        help="Refuse leases that exceed the project's limits in Keystone (unified limits of this service: "
        "leases, reserved_hosts and so on). [oslo_limit] configures how they are read, by default with the "
        "account of [keystone]. An amount without a registered limit is unlimited.",
    ),
    cfg.IntOpt(
        "limits_lifetime",
        default=60,
        min=0,
        help="Seconds for which limits are cached; 0 for reading them at every request. They are always read "
        "again before a request is refused.",
    ),
]

NOTIFICATION_OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt("publisher_id", default="blazar.lease", help="Publisher id of notifications."),
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
        help="Port of /metrics and /healthcheck of a manager; they are not served if it is not set. Managers "
        "on one machine need different ports: set the environment variable OS_METRICS__LISTEN_PORT of each.",
    ),
    cfg.BoolOpt(
        "in_api",
        default=False,
        help="Also serve /metrics at the address of the API, without any authentication. The embedded "
        "service does so by default.",
    ),
    cfg.FloatOpt(
        "keep_seconds",
        default=10,
        min=0,
        help="Seconds for which figures from the database are cached; 0 for no caching.",
    ),
    cfg.ListOpt(
        "capacity_properties",
        default=[],
        help="Properties by whose values the free amounts of resources are also shown, for example "
        "availability_zone or rack. By default, only the sums over all resources are shown. Each value is a "
        "time series of each of these metrics.",
    ),
    cfg.IntOpt(
        "capacity_values",
        default=50,
        min=1,
        help="The most values of one of these properties that are shown: those that most resources have. "
        'Resources with other values are counted under the value "others".',
    ),
    cfg.ListOpt(
        "forecast_hours",
        item_type=types.Integer(min=1, max=8760),
        default=[24, 168],
        help="Times in hours for which the smallest free amount that bookings leave is shown. Empty for no "
        "forecast.",
    ),
    cfg.FloatOpt(
        "forecast_low_percent",
        default=5,
        min=0,
        max=100,
        help="Percentage of the reservable amount below which the free amount is low, for the forecast of "
        "when this happens; 0 for never.",
    ),
]

SIMULATED_OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "state_file",
        help="File of the simulated cloud; the embedded service keeps it in its state folder.",
    ),
    cfg.IntOpt("hosts", default=8, min=0, help="Number of hosts of a new simulated cloud."),
    cfg.FloatOpt("call_seconds", default=0, min=0, help="Duration of a call in seconds."),
    cfg.FloatOpt(
        "server_deletion_seconds", default=0, min=0, help="Duration of a server's deletion in seconds."
    ),
    cfg.BoolOpt(
        "read_only",
        default=False,
        help="Refuse all changes, for programs that read the cloud of a running embedded service. "
        "blazar-manage sets it.",
    ),
    cfg.StrOpt("fault_script", help="JSON file with faults to inject."),
]

TYPE_OPTIONS: tuple[TypeOptions, ...] = load_parts("options", TypeOptions)
"""The options of the resource types of this distribution."""


def _list_groups() -> dict[str | None, list[cfg.Opt]]:
    """Return the options by group, with those of the resource types."""
    groups: dict[str | None, list[cfg.Opt]] = {
        None: DEFAULT_OPTIONS,
        "api": API_OPTIONS,
        "manager": [*MANAGER_OPTIONS, *LIMIT_OPTIONS],
        "quotas": QUOTA_OPTIONS,
        "usage_records": USAGE_OPTIONS,
        "feeds": FEED_OPTIONS,
        "notices": NOTICE_OPTIONS,
        "notifications": NOTIFICATION_OPTIONS,
        enforcement.GROUP: enforcement.OPTIONS,
        "metrics": METRICS_OPTIONS,
        "ui": UI_OPTIONS,
        "standalone": STANDALONE_OPTIONS,
        "simulated_cloud": SIMULATED_OPTIONS,
    }
    for each in TYPE_OPTIONS:
        for group, options in each.groups.items():
            groups[group] = [*groups.get(group, []), *options]
    return groups


GROUPS: dict[str | None, list[cfg.Opt]] = _list_groups()
