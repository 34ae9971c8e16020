"""Settings of flavor reservations."""

from __future__ import annotations

from dataclasses import dataclass

from blazar.settings import OwnSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorSettings(OwnSettings):
    """Rules for ``flavor:instance``."""

    pci_aliases: tuple[str, ...] = ()
    """Lines of JSON, as in ``[pci] alias`` of ``nova.conf``."""
    refuses_unguaranteed: bool = False
    """Whether flavors with extra specs that a reservation cannot guarantee are refused."""
