"""Options of floating IPs, and the settings that follow from them."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from oslo_config import cfg

from blazar.plugins.floatingips.settings import FloatingIPSettings
from blazar.settings import Settings
from blazar.type_options import TypeOptions

GROUP: Final = "virtual:floatingip"

FLOATING_IP_OPTIONS: list[cfg.Opt] = [
    cfg.IntOpt(
        "check_interval_minutes",
        default=10,
        min=0,
        help="Minutes between two checks of registered floating IPs against Neutron, for addresses that an "
        "allocation pool includes or that another project uses; 0 for never.",
    ),
]


def with_options(conf: cfg.ConfigOpts, settings: Settings) -> Settings:
    """Return the settings with the values of the options of floating IPs."""
    interval = timedelta(minutes=conf[GROUP].check_interval_minutes)
    return settings.with_own(FloatingIPSettings(check_interval=interval))


OPTIONS: Final = TypeOptions(groups={GROUP: FLOATING_IP_OPTIONS}, with_options=with_options)
