"""The simulated compute port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blazar.cloud.simulated.flavors import SimulatedFlavors
from blazar.cloud.simulated.hosts import SimulatedHosts
from blazar.cloud.simulated.servers import SimulatedServers

if TYPE_CHECKING:
    from blazar.ports.compute import Compute


class SimulatedCompute(SimulatedHosts, SimulatedServers, SimulatedFlavors):
    """Nova in memory."""


if TYPE_CHECKING:

    def _witness(compute: SimulatedCompute) -> Compute:
        return compute
