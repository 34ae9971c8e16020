"""A cloud in memory that follows the rules of Nova, Placement, Neutron and Cinder.

It is part of the product: ``blazar-standalone`` uses it if no OpenStack is configured, and the tests of the
reconciler use it. It passes the same contract suite as the OpenStack adapter.
"""

from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.cloud.simulated.faults import (
    FaultKind,
    FaultRule,
    FaultScript,
    Firing,
    Moment,
    SimulatedCrash,
)
from blazar.cloud.simulated.shape import HostShape

__all__ = [
    "FaultKind",
    "FaultRule",
    "FaultScript",
    "Firing",
    "HostShape",
    "Moment",
    "SimulatedCloud",
    "SimulatedCrash",
]
