"""All metrics, as a table; ``doc/reference/metrics.md`` is generated from it.

A metric that its caller counts is in one of two lists, by process; the gauges of :data:`FROM_DATABASE` and
:data:`FROM_INDEXES` are read at each request for metrics.
"""

from __future__ import annotations

from dataclasses import replace

from blazar.ports.meter import QUICK, SLOW, Kind, Metric


def _counter(name: str, text: str, *labels: str) -> Metric:
    return Metric(name=name, kind=Kind.COUNTER, help=text, labels=labels)


def _gauge(name: str, text: str, *labels: str) -> Metric:
    return Metric(name=name, kind=Kind.GAUGE, help=text, labels=labels)


def _histogram(name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Metric:
    return Metric(name=name, kind=Kind.HISTOGRAM, help=text, labels=labels, buckets=buckets)


def _formerly(metric: Metric, name: str, *labels: str) -> Metric:
    """Return the metric with the name and the labels that earlier versions gave it as an alias."""
    text = f"Former name of {metric.name}, exported until the next release."
    return replace(metric, alias=replace(metric, name=name, help=text, labels=labels))


BUILD_INFO = _gauge(
    "blazar_build_info", "Always 1; the label is the version of the service that the process runs.", "version"
)

API_REQUESTS = _counter(
    "blazar_api_requests_total",
    "Requests answered by the API. Requests rejected before routing, for example without a token, are "
    'counted under route "none".',
    "method",
    "route",
    "status",
)
API_REQUEST_SECONDS = _histogram(
    "blazar_api_request_duration_seconds",
    "Time from a request's arrival at the API to its answer.",
    QUICK,
    "method",
    "route",
)
MANAGER_CALL_SECONDS = _histogram(
    "blazar_api_manager_call_duration_seconds",
    "Time that the API waited for a manager, including the message bus.",
    QUICK,
    "method",
)
MANAGER_CALL_FAILURES = _counter(
    "blazar_api_manager_call_failures_total",
    "Calls that no manager answered in time, or for which the bus was unreachable.",
    "method",
)

REQUESTS = _counter(
    "blazar_manager_requests_total",
    "Requests that a manager handled. The outcome is ok or the error's code; internal is an unexpected "
    "error, whose cause is in the log.",
    "method",
    "outcome",
)
REQUEST_SECONDS = _histogram(
    "blazar_manager_request_duration_seconds",
    "Time that a manager took for a request, including the waiting of a DELETE.",
    QUICK,
    "method",
)
RULE_REFUSALS = _counter(
    "blazar_rule_refusals_total",
    "Requests that usage rules refused, by rule and mode; with the mode log, those they would have refused.",
    "rule",
    "mode",
)
SHORTAGES = _counter(
    "blazar_resource_shortages_total",
    "Searches, for requests and for healing, that found fewer free resources than requested.",
    "resource_type",
)
REPORTED_RESOURCES = _counter(
    "blazar_reported_resources_total",
    "Resources that lessees reported as broken, once for each lease, also if no other was free.",
    "resource_type",
)
RETRIES = _counter("blazar_request_retries_total", "Retries of use cases after a concurrent update.")
CLOUD_CALL_SECONDS = _histogram(
    "blazar_cloud_call_duration_seconds",
    "Operations on the cloud; one is a request or a few. The service lessee is Nova with a lessee's token.",
    QUICK,
    "service",
    "operation",
)
CLOUD_CALL_FAILURES = _counter(
    "blazar_cloud_call_failures_total",
    "Operations on the cloud that failed, by the error's code. cloud-not-found and cloud-conflict are "
    "normal; cloud-unavailable and cloud-refused are not.",
    "service",
    "operation",
    "error",
)
EVENT_LAG_SECONDS = _histogram(
    "blazar_event_lag_seconds",
    "Time from when an event of a lease was due (or, if later, requested) to when a manager began it.",
    SLOW,
    "event",
)
EVENT_SECONDS = _histogram(
    "blazar_event_duration_seconds",
    "Time from when a manager began an event of a lease to its completion, including waiting for others.",
    SLOW,
    "event",
)
EVENTS = _counter("blazar_events_total", "Completed events of leases: done or error.", "event", "outcome")
PASS_SECONDS = _formerly(
    _histogram(
        "blazar_reconcile_pass_duration_seconds",
        "Reconcile passes over one lease. The outcome is done; overtaken, if the lease was changed "
        "meanwhile, which is normal; interrupted, if the manager stops or lost its claim; failed, if it is "
        "retried later.",
        QUICK,
        "outcome",
    ),
    "blazar_look_duration_seconds",
    "outcome",
)
STEPS = _counter(
    "blazar_steps_total",
    "Steps on the cloud for reservations: make or remove an item. The outcome is done, waiting, refused, "
    "unusable (another resource is needed) or failed (tried again later).",
    "resource_type",
    "action",
    "item",
    "outcome",
)
TAKEOVERS = _counter(
    "blazar_claims_taken_over_total",
    "Expired claims of managers that stopped responding, taken over by this manager.",
)
STEPS_OVERDUE = _counter(
    "blazar_steps_overdue_total",
    "Steps that took longer than [manager] step_deadline_seconds; another manager takes over.",
)
WORKERS_HANGING = _gauge(
    "blazar_workers_hanging",
    "Workers of this manager that are still running such a step. Each was replaced, unless the number of "
    "hanging workers has reached [manager] workers.",
)
PERIODIC_TASK_SECONDS = _formerly(
    _histogram(
        "blazar_periodic_task_duration_seconds",
        "Periodic tasks, which run regardless of leases.",
        SLOW,
        "task",
    ),
    "blazar_chore_duration_seconds",
    "chore",
)
PERIODIC_TASK_FAILURES = _formerly(
    _counter(
        "blazar_periodic_task_failures_total", "Periodic tasks that failed and are tried again later.", "task"
    ),
    "blazar_chore_failures_total",
    "chore",
)
UNPLANNED_LEASES = _counter(
    "blazar_unplanned_leases_total",
    "Leases that had no planned work when checked. The work was planned; the log names the leases.",
)
DAMAGED_ROWS = _counter(
    "blazar_damaged_rows_total",
    "Values of database rows that could not be read, counted each time that the row is read. The log "
    "names the row; the manual describes what to do with its lease.",
    "table",
)
CLOCK_DIFFERENCE_SECONDS = _gauge(
    "blazar_clock_difference_seconds",
    "How far this manager's clock is ahead of the database's; negative if it is behind. If it exceeds "
    "[manager] clock_difference_limit_seconds in either direction, the manager stops acting.",
)
NOTIFICATIONS = _counter(
    "blazar_notifications_total",
    "Notifications passed to the bus (sent) or not (failed); failed ones are tried again.",
    "event_type",
    "outcome",
)
FILTER_CHECKS = _counter(
    "blazar_filter_checks_total",
    "Questions to enforcement filters, create or update: allowed, refused, or failed because the filter "
    "did not answer.",
    "filter",
    "question",
    "outcome",
)
FILTER_CHECK_SECONDS = _histogram(
    "blazar_filter_check_duration_seconds", "Time that an enforcement filter took to answer.", QUICK, "filter"
)
FILTER_MESSAGES = _counter(
    "blazar_filter_messages_total",
    "Notifications to enforcement filters (commit, abort, on-end): sent, or failed and tried again.",
    "filter",
    "occasion",
    "outcome",
)

DATABASE_UP = _gauge(
    "blazar_database_up",
    "1 if the database answered; if 0, the other gauges that are read from it are missing.",
)
LEASES = _gauge("blazar_leases", "Leases by status.", "status")
LEASES_WAITING = _gauge(
    "blazar_leases_waiting",
    "Leases that do not start, change or end because one of their reservations waits, by status, such as "
    "STARTING. Resources that are held after the end as requested do not count.",
    "status",
)
LEASES_WAITING_SECONDS = _gauge(
    "blazar_leases_waiting_longest_seconds",
    "Time since the start or the end of the one of these leases that waits longest was due.",
    "status",
)
RESERVATIONS = _gauge(
    "blazar_reservations", "Reservations that have not ended, by type and status.", "resource_type", "status"
)
MISSING = _gauge(
    "blazar_reservations_missing_resources", "Reservations that hold failed resources without a replacement."
)
WORK_DUE = _gauge("blazar_work_due", "Leases and periodic tasks that are due and unclaimed.")
WORK_CLAIMED = _gauge("blazar_work_claimed", "Leases and periodic tasks that managers have claimed.")
WORK_FAILING = _gauge(
    "blazar_work_failing", "Leases and periodic tasks whose last pass failed and that will be tried again."
)
WORK_OVERDUE_SECONDS = _gauge(
    "blazar_work_oldest_overdue_seconds", "How long the oldest due work is overdue; 0 if none is due."
)
OFFERS_OPEN = _gauge(
    "blazar_offers_open", "Offers that hold resources: they are neither committed nor expired."
)
NOTICES = _counter(
    "blazar_notices_total",
    "Attempts to deliver notices: sent, failed (and tried again), or dead (given up).",
    "channel",
    "outcome",
)
NOTICES_WAITING = _gauge("blazar_notices_waiting", "Notices that are not delivered yet, to all subscribers.")
NOTICES_SECONDS = _gauge(
    "blazar_notices_oldest_seconds",
    "Age of the oldest of these notices; it grows while one receiver does not accept it. 0 without any.",
)
NOTICES_OVERDUE_SECONDS = _gauge(
    "blazar_notices_overdue_seconds",
    "Time since an attempt to deliver a notice was due that no manager has made; 0 without any.",
)
NOTICES_FAILED = _gauge("blazar_notices_failed", "Notices whose delivery was given up, while they are kept.")
OUTBOX = _gauge("blazar_outbox_messages", "Notifications and messages to filters that are not sent yet.")
OUTBOX_SECONDS = _gauge(
    "blazar_outbox_oldest_seconds", "Age of the oldest unsent message; 0 if all were sent."
)
OUTBOX_FAILED = _gauge(
    "blazar_outbox_failed_messages",
    "Notifications and messages to filters whose delivery failed for good; see blazar-manage outbox list.",
)
RESOURCES = _gauge(
    "blazar_resources",
    "Registered hosts and floating IPs by health: sound (healthy), disabled or failed. Only sound ones are "
    "reservable.",
    "collection",
    "health",
)
MAINTENANCES = _gauge("blazar_maintenances", "Maintenances that have not ended: planned or active.", "status")
UNDER_MAINTENANCE = _gauge(
    "blazar_maintenance_resources", "Resources that are under maintenance now.", "collection"
)
MAINTENANCE_LEASES = _gauge(
    "blazar_maintenance_leases",
    "Leases that hold resources during a maintenance of these: active, or ahead, which means that they could "
    "not be moved yet.",
    "state",
)
RESERVED = _formerly(
    _gauge(
        "blazar_resources_reserved",
        "Resources that reservations hold now, in whole or in part, including those not released yet.",
        "collection",
    ),
    "blazar_resources_promised",
    "collection",
)
FREE = _gauge(
    "blazar_resources_free",
    "Healthy resources that no reservation holds now, and that are not under maintenance.",
    "collection",
)

_GROUPED = ("collection", "unit", "property", "value")
_OF_GROUPS = (
    " The unit is resources, for those that are reserved whole, or a resource class. With the label "
    "property, of the resources with this value, as [metrics] capacity_properties asks; without it, of all."
)
CAPACITY = _gauge(
    "blazar_capacity", "Amount that can be reserved: of healthy resources." + _OF_GROUPS, *_GROUPED
)
CAPACITY_FREE = _gauge(
    "blazar_capacity_free",
    "Amount that a lease which starts now could get. Maintenance, offers and cleaning time count as taken.",
    *_GROUPED,
)
CAPACITY_LEAST_FREE = _gauge(
    "blazar_capacity_least_free",
    "Smallest amount that present bookings leave free at any minute of the next hours, of which "
    "[metrics] forecast_hours has the numbers.",
    *_GROUPED,
    "hours",
)
CAPACITY_LOW_AFTER = _gauge(
    "blazar_capacity_low_after_seconds",
    "Time until bookings leave less than [metrics] forecast_low_percent of the amount free; 0 if this is so "
    "now, +Inf if it is not so within the forecast.",
    *_GROUPED,
)

OF_EVERY_PROCESS = (BUILD_INFO,)
OF_API = (API_REQUESTS, API_REQUEST_SECONDS, MANAGER_CALL_SECONDS, MANAGER_CALL_FAILURES)
OF_MANAGER = (
    REQUESTS,
    REQUEST_SECONDS,
    RETRIES,
    SHORTAGES,
    REPORTED_RESOURCES,
    RULE_REFUSALS,
    CLOUD_CALL_SECONDS,
    CLOUD_CALL_FAILURES,
    EVENT_LAG_SECONDS,
    EVENT_SECONDS,
    EVENTS,
    PASS_SECONDS,
    STEPS,
    TAKEOVERS,
    STEPS_OVERDUE,
    WORKERS_HANGING,
    PERIODIC_TASK_SECONDS,
    PERIODIC_TASK_FAILURES,
    UNPLANNED_LEASES,
    DAMAGED_ROWS,
    CLOCK_DIFFERENCE_SECONDS,
    NOTIFICATIONS,
    NOTICES,
    FILTER_CHECKS,
    FILTER_CHECK_SECONDS,
    FILTER_MESSAGES,
)
FROM_DATABASE = (
    DATABASE_UP,
    LEASES,
    LEASES_WAITING,
    LEASES_WAITING_SECONDS,
    RESERVATIONS,
    MISSING,
    WORK_DUE,
    WORK_CLAIMED,
    WORK_FAILING,
    WORK_OVERDUE_SECONDS,
    OFFERS_OPEN,
    OUTBOX,
    OUTBOX_SECONDS,
    OUTBOX_FAILED,
    NOTICES_WAITING,
    NOTICES_SECONDS,
    NOTICES_OVERDUE_SECONDS,
    NOTICES_FAILED,
    RESOURCES,
    MAINTENANCES,
    UNDER_MAINTENANCE,
    MAINTENANCE_LEASES,
    RESERVED,
    FREE,
)
FROM_INDEXES = (CAPACITY, CAPACITY_FREE, CAPACITY_LEAST_FREE, CAPACITY_LOW_AFTER)
ALL = (*OF_EVERY_PROCESS, *OF_API, *OF_MANAGER, *FROM_DATABASE, *FROM_INDEXES)
