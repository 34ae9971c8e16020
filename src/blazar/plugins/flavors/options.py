"""Options of flavor reservations, and the settings that follow from them."""

from __future__ import annotations

from typing import Final

from oslo_config import cfg

from blazar.plugins.flavors.settings import FlavorSettings
from blazar.settings import Settings
from blazar.type_options import TypeOptions

GROUP: Final = "flavor:instance"

FLAVOR_OPTIONS: list[cfg.Opt] = [
    cfg.MultiStrOpt(
        "pci_alias",
        default=[],
        help="A line of [pci] alias, copied from nova.conf; may be repeated. Set it if Nova schedules PCI "
        "devices through Placement ([filter_scheduler] pci_in_placement): reservations of flavors with "
        "pci_passthrough:alias then include the devices. If not set, the devices are not guaranteed.",
    ),
    cfg.BoolOpt(
        "refuse_unguaranteed",
        default=False,
        help="Refuse flavors with extra specs that a reservation cannot guarantee, such as hw:mem_page_size. "
        "By default they are reserved, the servers get these extra specs, and the reservation names them "
        "under blazar:not_guaranteed.",
    ),
]


def with_options(conf: cfg.ConfigOpts, settings: Settings) -> Settings:
    """Return the settings with the values of the options of flavor reservations."""
    flavor = conf[GROUP]
    return settings.with_own(
        FlavorSettings(pci_aliases=tuple(flavor.pci_alias), refuses_unguaranteed=flavor.refuse_unguaranteed)
    )


OPTIONS: Final = TypeOptions(groups={GROUP: FLAVOR_OPTIONS}, with_options=with_options)
