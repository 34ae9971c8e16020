"""All metrics there are, as a table; ``doc/reference/metrics.md`` is made of it.

A metric that is counted by its caller stands in one of two lists, by the process that has it; the
gauges of :data:`FROM_DATABASE` are read when somebody asks.
"""

from __future__ import annotations

from blazar.ports.meter import QUICK, SLOW, Kind, Metric


def _counter(name: str, text: str, *labels: str) -> Metric:
    return Metric(name=name, kind=Kind.COUNTER, help=text, labels=labels)


def _gauge(name: str, text: str, *labels: str) -> Metric:
    return Metric(name=name, kind=Kind.GAUGE, help=text, labels=labels)


def _histogram(name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Metric:
    return Metric(name=name, kind=Kind.HISTOGRAM, help=text, labels=labels, buckets=buckets)


API_REQUESTS = _counter(
    "blazar_api_requests_total",
    "Requests answered by the API. What was refused before its path was looked at, for want of a token, "
    "say, has the route none.",
    "method",
    "route",
    "status",
)
API_REQUEST_SECONDS = _histogram(
    "blazar_api_request_duration_seconds",
    "From a request's arrival at the API to its answer.",
    QUICK,
    "method",
    "route",
)
MANAGER_CALL_SECONDS = _histogram(
    "blazar_api_manager_call_duration_seconds",
    "What the API waited for a manager, the bus included.",
    QUICK,
    "method",
)
MANAGER_CALL_FAILURES = _counter(
    "blazar_api_manager_call_failures_total",
    "Calls for which no manager answered in time, or the bus could not be reached.",
    "method",
)

REQUESTS = _counter(
    "blazar_manager_requests_total",
    "Requests that a manager dealt with. The outcome is ok, or the code of the error; internal "
    "is one that nobody foresaw, and its cause is in the log.",
    "method",
    "outcome",
)
REQUEST_SECONDS = _histogram(
    "blazar_manager_request_duration_seconds",
    "What a manager took for a request, the waiting of a DELETE included.",
    QUICK,
    "method",
)
SHORTAGES = _counter(
    "blazar_resource_shortages_total",
    "Searches, for requests and for healing, that found fewer free resources than were asked for.",
    "resource_type",
)
RETRIES = _counter(
    "blazar_request_retries_total",
    "Times that a use case was begun again because somebody else was faster.",
)
CLOUD_CALL_SECONDS = _histogram(
    "blazar_cloud_call_duration_seconds",
    "Operations on the cloud; one is a request or a few. The service lessee is Nova with a lessee's rights.",
    QUICK,
    "service",
    "operation",
)
CLOUD_CALL_FAILURES = _counter(
    "blazar_cloud_call_failures_total",
    "Operations on the cloud that failed, by the code of the error. cloud-not-found and cloud-conflict "
    "belong to ordinary life; cloud-unavailable and cloud-refused do not.",
    "service",
    "operation",
    "error",
)
EVENT_LAG_SECONDS = _histogram(
    "blazar_event_lag_seconds",
    "From when an event of a lease was due (or, if later, was asked for) to when a manager began it.",
    SLOW,
    "event",
)
EVENT_SECONDS = _histogram(
    "blazar_event_duration_seconds",
    "From when a manager began an event of a lease to when it was over, the waiting for others included.",
    SLOW,
    "event",
)
EVENTS = _counter(
    "blazar_events_total",
    "Events of leases that are over: done or error.",
    "event",
    "outcome",
)
LOOKS_SECONDS = _histogram(
    "blazar_look_duration_seconds",
    "Looks at one lease. The outcome is done; overtaken, if the lease was changed meanwhile, which is no "
    "fault; interrupted, when a manager stops or lost its claim; failed, if it is tried again later.",
    QUICK,
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
    "Claims of managers that fell silent in the middle of their work, taken over by this one.",
)
CHORE_SECONDS = _histogram(
    "blazar_chore_duration_seconds",
    "What is done again and again, whatever leases there are.",
    SLOW,
    "chore",
)
CHORE_FAILURES = _counter(
    "blazar_chore_failures_total",
    "Chores that failed and are tried again later.",
    "chore",
)
NOTIFICATIONS = _counter(
    "blazar_notifications_total",
    "Notifications given to the bus (sent), or not (failed): those are tried again.",
    "event_type",
    "outcome",
)
FILTER_CHECKS = _counter(
    "blazar_filter_checks_total",
    "Questions to enforcement filters, create or update: allowed, refused, or failed because the filter "
    "had no answer.",
    "filter",
    "question",
    "outcome",
)
FILTER_CHECK_SECONDS = _histogram(
    "blazar_filter_check_duration_seconds",
    "What an enforcement filter took to answer.",
    QUICK,
    "filter",
)
FILTER_MESSAGES = _counter(
    "blazar_filter_messages_total",
    "What enforcement filters were told afterwards (commit, abort, on-end): sent, or failed and tried again.",
    "filter",
    "occasion",
    "outcome",
)

DATABASE_UP = _gauge(
    "blazar_database_up",
    "1 if the database answered; if it is 0, the other gauges that come from there are missing.",
)
LEASES = _gauge("blazar_leases", "Leases by status.", "status")
RESERVATIONS = _gauge(
    "blazar_reservations",
    "Reservations that are not over, by type and status.",
    "resource_type",
    "status",
)
MISSING = _gauge(
    "blazar_reservations_missing_resources",
    "Reservations whose resources have failed, and nothing could take their place yet.",
)
WORK_DUE = _gauge("blazar_work_due", "Leases and chores that should be looked at now, and nobody does.")
WORK_CLAIMED = _gauge("blazar_work_claimed", "Leases and chores that managers are at.")
WORK_FAILING = _gauge(
    "blazar_work_failing", "Leases and chores whose last look failed and that will be tried again."
)
WORK_OVERDUE_SECONDS = _gauge(
    "blazar_work_oldest_overdue_seconds", "How long the oldest of what is due is overdue; 0 for nothing due."
)
OUTBOX = _gauge("blazar_outbox_messages", "Notifications and messages to filters that have not left yet.")
OUTBOX_SECONDS = _gauge("blazar_outbox_oldest_seconds", "Age of the oldest of them; 0 for none.")
RESOURCES = _gauge(
    "blazar_resources",
    "Registered hosts and floating IPs by health: sound, disabled or failed. Only sound ones are reservable.",
    "collection",
    "health",
)
PROMISED = _gauge(
    "blazar_resources_promised",
    "Resources that reservations hold now, all or a share of them, also those not given back yet.",
    "collection",
)
FREE = _gauge("blazar_resources_free", "Sound resources that nobody holds now.", "collection")

OF_API = (API_REQUESTS, API_REQUEST_SECONDS, MANAGER_CALL_SECONDS, MANAGER_CALL_FAILURES)
OF_MANAGER = (
    REQUESTS,
    REQUEST_SECONDS,
    RETRIES,
    SHORTAGES,
    CLOUD_CALL_SECONDS,
    CLOUD_CALL_FAILURES,
    EVENT_LAG_SECONDS,
    EVENT_SECONDS,
    EVENTS,
    LOOKS_SECONDS,
    STEPS,
    TAKEOVERS,
    CHORE_SECONDS,
    CHORE_FAILURES,
    NOTIFICATIONS,
    FILTER_CHECKS,
    FILTER_CHECK_SECONDS,
    FILTER_MESSAGES,
)
FROM_DATABASE = (
    DATABASE_UP,
    LEASES,
    RESERVATIONS,
    MISSING,
    WORK_DUE,
    WORK_CLAIMED,
    WORK_FAILING,
    WORK_OVERDUE_SECONDS,
    OUTBOX,
    OUTBOX_SECONDS,
    RESOURCES,
    PROMISED,
    FREE,
)
ALL = (*OF_API, *OF_MANAGER, *FROM_DATABASE)
