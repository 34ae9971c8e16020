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
        "or too small, and for volumes of other users in them; 0 for never.",
    ),
    cfg.BoolOpt(
        "discover_pools",
        default=False,
        help="Let the check register pools of Cinder automatically, with the capacity that others have not "
        "allocated. Pools that other volume types may use are left out. Registered pools are never changed "
        "or removed.",
    ),
    cfg.StrOpt(
        "discover_pool_names",
        default="*",
        help="Pattern of the names of pools that are registered by discover_pools, such as *@reserved#*.",
    ),
    cfg.StrOpt(
        "retain_volume_type",
        default="",
        help="Name or id of the ordinary volume type to which the volumes of a reservation with end_action "
        "retain are moved at its end. It must not use registered storage pools. Empty: end_action retain is "
        "refused.",
    ),
    cfg.IntOpt(
        "retain_wait_hours",
        default=168,
        min=0,
        max=87600,
        help="Hours after the end of a reservation with end_action retain for which volumes that cannot be "
        "moved are kept, for example because they have snapshots. Their capacity stays booked. Then they are "
        "deleted. 0: they are kept until an operator or their owner removes the obstacle. A change applies "
        "to later requests.",
    ),
    cfg.IntOpt(
        "freeze_grace_hours",
        default=0,
        min=0,
        max=8760,
        help="Hours for which the volumes of a reservation with end_action freeze are kept after its end, "
        "without access for the lessee. Their capacity stays booked. 0: end_action freeze is refused. A "
        "change applies to later requests.",
    ),
    cfg.BoolOpt(
        "acts_in_projects",
        default=False,
        help="Whether the account in [cinder] or [keystone] has a role other than admin, such as member, in "
        "all projects that reserve storage. Only then can lessees ask for volumes that are created at the "
        "start, and for copies before the end.",
    ),
    cfg.StrOpt(
        "before_end_snapshot",
        default="",
        choices=[
            ("", "reservations with before_end snapshot are refused"),
            ("backup", "a backup, which outlives its volume"),
            ("snapshot", "a snapshot, which is deleted with its volume"),
        ],
        help="Copy of each volume that a reservation with before_end snapshot gets before its end. Needs "
        "acts_in_projects.",
    ),
]


def with_options(conf: cfg.ConfigOpts, settings: Settings) -> Settings:
    """Return the settings with the values of the options of storage reservations."""
    group = conf[GROUP]
    own = VolumeSettings(
        check_interval=timedelta(minutes=group.check_interval_minutes),
        discovers_pools=group.discover_pools,
        discovered_names=group.discover_pool_names,
        retain_volume_type=group.retain_volume_type.strip(),
        retain_wait_hours=group.retain_wait_hours,
        freeze_grace_hours=group.freeze_grace_hours,
        acts_in_projects=group.acts_in_projects,
        before_end_snapshot=group.before_end_snapshot,
    )
    return settings.with_own(own)


OPTIONS: Final = TypeOptions(groups={GROUP: VOLUME_OPTIONS}, with_options=with_options)
