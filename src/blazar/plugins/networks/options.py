"""Options of reservations of network segments, and the settings that follow from them."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from oslo_config import cfg

from blazar.plugins.networks.settings import NetworkSettings
from blazar.settings import Settings
from blazar.type_options import TypeOptions

GROUP: Final = "network"

NETWORK_OPTIONS: list[cfg.Opt] = [
    cfg.IntOpt(
        "check_interval_minutes",
        default=10,
        min=0,
        help="Minutes between two checks of registered network segments against Neutron, for segments that "
        "have a foreign network, or that Neutron may now choose for projects; 0 for never.",
    ),
]


def with_options(conf: cfg.ConfigOpts, settings: Settings) -> Settings:
    """Return the settings with the values of the options of network segments."""
    interval = timedelta(minutes=conf[GROUP].check_interval_minutes)
    return settings.with_own(NetworkSettings(check_interval=interval))


OPTIONS: Final = TypeOptions(groups={GROUP: NETWORK_OPTIONS}, with_options=with_options)
