"""Options of the built-in filters, in the group ``[enforcement]``."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "enforcement"

OPTIONS: list[cfg.Opt] = [
    cfg.ListOpt(
        "enabled_filters",
        default=[],
        help="Filters that may refuse a lease, by entry point name (group blazar.enforcement.filters), in "
        "the order in which they are asked. Built in are MaxLeaseDurationFilter and ExternalServiceFilter.",
    ),
    cfg.StrOpt(
        "rules_file",
        help="YAML file of usage rules; none by default. Managers read it when they start. An invalid file "
        "prevents the start; blazar-manage rules check finds its errors and prints the rules as understood.",
    ),
    cfg.IntOpt(
        "max_lease_duration",
        default=-1,
        min=-1,
        help="Maximum duration of a lease, in seconds, for MaxLeaseDurationFilter; -1 for no limit.",
    ),
    cfg.ListOpt(
        "max_lease_duration_exempt_project_ids",
        default=[],
        help="Projects whose leases max_lease_duration does not limit.",
    ),
    cfg.StrOpt(
        "external_service_base_endpoint",
        help="Base URL for ExternalServiceFilter; check-create, check-update and on-end are resolved "
        "relative to it: without a trailing slash, the last part of its path is replaced.",
    ),
    cfg.StrOpt("external_service_check_create_endpoint", help="URL to use instead of base + check-create."),
    cfg.StrOpt("external_service_check_update_endpoint", help="URL to use instead of base + check-update."),
    cfg.StrOpt("external_service_on_end_endpoint", help="URL to use instead of base + on-end."),
    cfg.StrOpt(
        "external_service_commit_endpoint",
        help="URL that is notified of every allowed lease or change that was stored; none by default.",
    ),
    cfg.StrOpt(
        "external_service_abort_endpoint",
        help="URL that is notified of every allowed lease or change that was not stored; none by default.",
    ),
    cfg.StrOpt(
        "external_service_estimate_cost_endpoint",
        help="URL that is asked in a dry run what the lease would cost; none by default.",
    ),
    cfg.StrOpt("external_service_token", secret=True, help="Sent as X-Auth-Token."),
    cfg.StrOpt("external_service_bearer_token", secret=True, help="Sent as Authorization: Bearer."),
    cfg.FloatOpt(
        "external_service_timeout",
        default=10,
        min=0.1,
        help="Maximum duration of a whole call, in seconds: connecting, sending, and receiving the answer. "
        "Must be well below rpc_response_timeout.",
    ),
    cfg.BoolOpt(
        "external_service_allow_on_error",
        default=False,
        help="Allow a lease if the service does not answer, or answers with 5xx, instead of refusing it.",
    ),
    cfg.ListOpt(
        "external_service_exempt_project_ids",
        default=[],
        help="Projects whose leases are neither checked with the service nor reported to it.",
    ),
    cfg.StrOpt("external_service_cafile", help="File of CA certificates for https; the system's by default."),
    cfg.StrOpt(
        "external_service_auth_url",
        help="Sent as context.auth_url; by default, the Keystone that the service itself uses.",
    ),
    cfg.StrOpt(
        "external_service_region_name", help="Sent as context.region_name; by default, os_region_name."
    ),
]


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return the options by group."""
    return [(GROUP, OPTIONS)]
