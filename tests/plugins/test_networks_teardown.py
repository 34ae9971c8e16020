"""Networks to which their lessee adds ports while they are being deleted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from clocks import ManualClock

from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.plugins.contract import Done, Waiting
from blazar.plugins.networks.teardown import remove_network
from blazar.ports.segments import Segment, SegmentNetwork, Trunk

VLAN = Segment(network_type="vlan", physical_network="physnet1", segment_id=201)


@dataclass(slots=True)
class BusyNetwork:
    """A cloud in which something happens in each round, after the ports were listed."""

    cloud: Any
    happens: Callable[[], object]

    @property
    def segments(self) -> BusyNetwork:
        return self

    def list_trunks(self) -> tuple[Trunk, ...]:
        found: tuple[Trunk, ...] = self.cloud.segments.list_trunks()
        self.happens()
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.cloud.segments, name)


@pytest.fixture
def cloud() -> SimulatedCloud:
    cloud = SimulatedCloud(ManualClock())
    cloud.add_physical_network("physnet1")
    return cloud


@pytest.fixture
def network(cloud: SimulatedCloud) -> SegmentNetwork:
    network = cloud.segments.create_network(VLAN, name="lab", project_id="project")
    cloud.add_port(network.id, "project")
    return network


def adding_ports(cloud: SimulatedCloud, network: SegmentNetwork, most: int) -> Any:
    """Return the cloud; the lessee adds a port in each round, and stops after the last one."""
    left = iter(range(most))
    return BusyNetwork(cloud, lambda: next(left, None) is not None and cloud.add_port(network.id, "project"))


def test_ports_that_are_added_meanwhile_are_deleted_at_once(
    cloud: SimulatedCloud, network: SegmentNetwork
) -> None:
    outcome = remove_network(adding_ports(cloud, network, 3), network.id)

    assert outcome == Done()
    assert cloud.segments.find_network(VLAN) is None


def test_a_step_ends_even_if_ports_are_added_without_end(
    cloud: SimulatedCloud, network: SegmentNetwork
) -> None:
    outcome = remove_network(adding_ports(cloud, network, 1000), network.id)

    assert isinstance(outcome, Waiting)
    assert cloud.segments.find_network(VLAN) == network
    assert remove_network(cloud, network.id) == Done()


@pytest.mark.parametrize("is_parent", [True, False])
def test_a_trunk_that_the_lessee_disabled_does_not_keep_the_network(
    cloud: SimulatedCloud, network: SegmentNetwork, is_parent: bool
) -> None:
    elsewhere = cloud.add_network("other", is_external=False).id
    here = cloud.add_port(network.id, "project").id
    there = cloud.add_port(elsewhere, "project").id
    trunk = cloud.add_trunk(*(here, frozenset({there})) if is_parent else (there, frozenset({here})))
    cloud.disable_trunk(trunk.id)

    assert remove_network(cloud, network.id) == Done()

    assert cloud.segments.find_network(VLAN) is None
    assert [each.id for each in cloud.segments.list_ports(elsewhere)] == [there]
    assert len(cloud.segments.list_trunks()) == int(not is_parent)


def test_a_trunk_that_a_server_uses_and_the_lessee_disabled_goes_too(
    cloud: SimulatedCloud, network: SegmentNetwork
) -> None:
    parent = cloud.add_port(network.id, "project", device_id="server", device_owner="compute:nova")
    cloud.disable_trunk(cloud.add_trunk(parent.id).id)

    assert remove_network(cloud, network.id) == Done()

    assert cloud.segments.list_trunks() == ()


def test_a_disabled_trunk_that_is_deleted_meanwhile_is_no_obstacle(
    cloud: SimulatedCloud, network: SegmentNetwork
) -> None:
    trunk = cloud.add_trunk(cloud.add_port(network.id, "project").id)
    cloud.disable_trunk(trunk.id)

    def delete_trunk() -> None:
        cloud.segments.enable_trunk(trunk.id)
        cloud.segments.delete_trunk(trunk.id)

    busy: Any = BusyNetwork(cloud, delete_trunk)
    assert remove_network(busy, network.id) == Done()
    assert cloud.segments.list_trunks() == ()
