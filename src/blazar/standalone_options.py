"""Options of the embedded service."""

from __future__ import annotations

from oslo_config import cfg

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
        help="Speed of the embedded service's clock, as a multiple of real time.",
    ),
    cfg.StrOpt(
        "clock_epoch",
        help="Instant (ISO 8601, with offset) at which the fast clock started; the start of the service by "
        "default.",
    ),
]
