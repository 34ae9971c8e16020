"""Fixtures of the tests of the simulated cloud."""

from __future__ import annotations

import pytest
from clocks import ManualClock

from blazar.cloud.simulated import FaultScript, SimulatedCloud


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def faults() -> FaultScript:
    return FaultScript()


@pytest.fixture
def simulated(clock: ManualClock, faults: FaultScript) -> SimulatedCloud:
    cloud = SimulatedCloud(clock, faults=faults)
    cloud.add_hypervisor("node-1")
    cloud.add_hypervisor("node-2")
    return cloud
