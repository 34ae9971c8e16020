"""Options that limit a single request, and what a project may hold with offers."""

from __future__ import annotations

from oslo_config import cfg

LIMIT_OPTIONS: list[cfg.Opt] = [
    cfg.IntOpt(
        "max_reservations_per_lease",
        default=10,
        min=0,
        help="Maximum number of reservations of a new lease; more are refused with 400. 0: no limit.",
    ),
    cfg.IntOpt(
        "max_conditions_per_lease",
        default=100,
        min=0,
        help="Maximum number of conditions in hypervisor_properties and resource_properties of all "
        "reservations of a lease together; more are refused with 400. 0: no limit, except 1000 in one "
        "expression.",
    ),
    cfg.IntOpt(
        "max_expression_length",
        default=16384,
        min=0,
        help="Maximum number of characters of hypervisor_properties, of resource_properties, and of each "
        "preference or filter of a search; longer ones are refused with 400. 0: no limit, except 65536.",
    ),
    cfg.IntOpt(
        "max_amount_per_lease",
        default=1000,
        min=0,
        help="Maximum number of hosts (min), instances and floating IPs (amount) that all reservations of a "
        "lease may request together; more are refused with 400. 0: no limit.",
    ),
    cfg.IntOpt(
        "offer_ttl_seconds",
        default=300,
        min=1,
        help="Seconds for which an offer holds its resources if its request names no ttl_seconds; at most "
        "max_offer_ttl_seconds.",
    ),
    cfg.IntOpt(
        "max_offer_ttl_seconds",
        default=900,
        min=1,
        help="Longest ttl_seconds of an offer; longer ones are refused with 400.",
    ),
    cfg.IntOpt(
        "max_offers_per_project",
        default=10,
        min=0,
        help="Maximum number of offers of a project that are neither committed nor have expired; more are "
        "refused with 409. 0: no limit.",
    ),
]
