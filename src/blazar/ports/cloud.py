"""The cloud as a whole: one object per service, bundled."""

from __future__ import annotations

from typing import Protocol

from blazar.ports.compute import Compute, Lessee, LesseeCompute
from blazar.ports.identity import Trusts
from blazar.ports.network import Networks
from blazar.ports.placement import Placement
from blazar.ports.side_by_side import SideBySide


class Cloud(Protocol):
    """What adapters provide: the simulated cloud and the OpenStack one."""

    @property
    def compute(self) -> Compute:
        """Return Nova."""

    @property
    def placement(self) -> Placement:
        """Return Placement."""

    @property
    def networks(self) -> Networks:
        """Return Neutron."""

    @property
    def trusts(self) -> Trusts:
        """Return Keystone's trusts, which the existing service made."""

    @property
    def side_by_side(self) -> SideBySide:
        """Return what makes many calls of any of them at a time."""

    def compute_for(self, lessee: Lessee) -> LesseeCompute:
        """Return the part of Nova that is used with a lessee's rights. Makes no call."""
