"""Options of group ``feeds``: the calendars that programs read with a token."""

from __future__ import annotations

from oslo_config import cfg

FEED_OPTIONS: list[cfg.Opt] = [
    cfg.IntOpt(
        "max_per_project",
        default=20,
        min=0,
        help="Maximum number of feeds of a project; more are refused with 409. 0: no limit.",
    ),
    cfg.IntOpt(
        "max_age_days",
        default=365,
        min=0,
        help="Days after which a feed expires and its token no longer works. The service cannot "
        "check whether the user who created a feed still has a role in the project, so this limits for how "
        "long a former member can read it. 0: feeds do not expire.",
    ),
    cfg.IntOpt(
        "past_days",
        default=90,
        min=0,
        max=3650,
        help="Days after its end for which a lease stays in the feeds of its project. 0 for none.",
    ),
    cfg.IntOpt(
        "cancelled_days",
        default=30,
        min=0,
        max=3650,
        help="Days for which a lease that was deleted before its end stays in feeds as cancelled, so that "
        "calendar programs remove it. 0 for none.",
    ),
    cfg.IntOpt(
        "availability_days",
        default=90,
        min=1,
        max=365,
        help="Days from now for which feeds show when resources are not free.",
    ),
    cfg.IntOpt(
        "reads_per_hour",
        default=60,
        min=1,
        help="Reads of one feed that a process of the API answers in an hour; more are refused with 429.",
    ),
    cfg.IntOpt(
        "unknown_per_hour",
        default=60,
        min=1,
        help="Reads with unknown tokens that a process of the API answers in an hour to one IPv4 address or "
        "one IPv6 network of 64 bits; more are refused with 429. Feeds that were read recently are still "
        "served to it. Behind a proxy, the API must know the addresses of clients: see [oslo_middleware] "
        "enable_proxy_headers_parsing.",
    ),
]
