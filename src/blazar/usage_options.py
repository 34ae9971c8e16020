"""Options of group ``usage_records``: the observation of use, and its records."""

from __future__ import annotations

from oslo_config import cfg

USAGE_OPTIONS: list[cfg.Opt] = [
    cfg.IntOpt(
        "observation_interval_minutes",
        default=5,
        min=0,
        help="Minutes between two observations of which reserved resources are in use, such as hosts with "
        "servers. Each lists the servers, or the floating IPs, of all projects once for each resource type "
        "with active leases. 0 for none: then usage tells only what was reserved and what was lost to "
        "failures.",
    ),
    cfg.IntOpt(
        "keep_days",
        default=0,
        min=0,
        help="Days for which records of usage are kept after what they are about is over; older ones are "
        "deleted. 0 for keeping them without limit.",
    ),
]
