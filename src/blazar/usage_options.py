"""Options of group ``usage_records``: the observation of use, and its records."""

from __future__ import annotations

from oslo_config import cfg, types

USAGE_OPTIONS: list[cfg.Opt] = [
    cfg.IntOpt(
        "observation_interval_minutes",
        default=5,
        min=0,
        help="Minutes between two observations of which reserved resources are in use, such as hosts with "
        "servers. Each lists the servers, or the floating IPs, of all projects once for each resource type "
        "with active leases. 0 turns observation off: then usage has only reserved hours and hours lost to "
        "failures.",
    ),
    cfg.IntOpt(
        "keep_days",
        default=0,
        min=0,
        help="Days for which records of usage are kept after the end of the period that they describe; older "
        "ones are deleted. 0 keeps them without limit.",
    ),
    cfg.Opt(
        "no_show_grace_minutes",
        type=types.Dict(types.Integer(min=1), key_value_separator="="),
        default={},
        help="Minutes without use after which a lease ends, by resource type, counted from its start: "
        "physical:host=240,virtual:instance=120. Only types whose use is observed are possible. The owner is "
        "notified before. A lease of which anything was ever used, or with failed resources that were not "
        "replaced, does not end early. The default is empty: no lease ends early.",
    ),
    cfg.IntOpt(
        "no_show_warning_minutes",
        default=30,
        min=1,
        help="Minutes between the notification of the owner and the end of a lease that is not used.",
    ),
    cfg.ListOpt(
        "no_show_exempt_projects",
        default=[],
        help="Ids of projects whose leases do not end early even if they are not used. The default is empty: "
        "no project is exempt.",
    ),
]
