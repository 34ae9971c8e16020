"""Options of storage reservations, and the settings that follow from them."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from oslo_config import cfg

from blazar.plugins.volumes.settings import VolumeSettings
from blazar.settings import Settings
from blazar.type_options import TypeOptions

GROUP: Final = "virtual:volume"

VOLUME_OPTIONS: list[cfg.Opt] = [
    cfg.IntOpt(
        "check_interval_minutes",
        default=10,
        min=0,
        help="Minutes between two checks of registered storage pools against Cinder, for pools that are gone "
        "or too small, and for volumes of others in them; 0 for never.",
    ),
]


def with_options(conf: cfg.ConfigOpts, settings: Settings) -> Settings:
    """Return the settings with the values of the options of storage reservations."""
    interval = timedelta(minutes=conf[GROUP].check_interval_minutes)
    return settings.with_own(VolumeSettings(check_interval=interval))


OPTIONS: Final = TypeOptions(groups={GROUP: VOLUME_OPTIONS}, with_options=with_options)
