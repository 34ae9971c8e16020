"""Contract of ``Segments``."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest
from cloud.contract.lab import CloudLab, LabSegments

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.segments import LARGEST_VXLAN, Route, Segment, SegmentNetwork, Segments, Trunk

UNKNOWN_ID = str(uuid.UUID(int=1))
CIDR = "10.20.0.0/24"
ROUTE = Route(destination="198.51.100.0/24", nexthop="10.20.0.77")


@pytest.fixture
def place(lab: CloudLab) -> LabSegments:
    return lab.segments


@pytest.fixture
def segments(lab: CloudLab, place: LabSegments) -> Segments:
    return lab.cloud.segments


@pytest.fixture
def vlan(place: LabSegments) -> Segment:
    return Segment(network_type="vlan", physical_network=place.physical_network, segment_id=place.free_ids[0])


@pytest.fixture
def network(lab: CloudLab, segments: Segments, vlan: Segment) -> SegmentNetwork:
    return segments.create_network(
        vlan, name=lab.name("net"), project_id=lab.project_ids[0], description="of a test"
    )


@pytest.fixture
def port(lab: CloudLab, place: LabSegments, network: SegmentNetwork) -> str:
    return place.add_port(network.id, lab.project_ids[0])


def test_the_ranges_of_neutron_are_listed(segments: Segments, place: LabSegments) -> None:
    found = segments.list_ranges()

    assert found is not None
    own = [each for each in found if each.physical_network == place.physical_network]
    assert [(each.network_type, each.first, each.last, each.project_id) for each in own] == [
        ("vlan", *place.shared_range, None)
    ]


def test_a_network_is_made_on_a_segment_for_a_project(
    lab: CloudLab, segments: Segments, vlan: Segment, network: SegmentNetwork
) -> None:
    assert network.segment == vlan
    assert (network.name, network.project_id) == (lab.name("net"), lab.project_ids[0])
    assert (network.description, network.tags) == ("of a test", frozenset())
    assert segments.find_network(vlan) == network
    assert network in segments.list_networks()
    assert network in segments.list_networks("vlan")
    assert network not in segments.list_networks("vxlan")
    assert network in segments.list_networks(project_id=lab.project_ids[0])
    assert network not in segments.list_networks(project_id=lab.project_ids[1])


def test_a_network_on_a_segment_is_found_as_a_network(lab: CloudLab, network: SegmentNetwork) -> None:
    found = lab.cloud.networks.find_network(network.id)

    assert found is not None
    assert not found.is_external


def test_a_segment_without_a_network_has_none(
    segments: Segments, place: LabSegments, vlan: Segment, network: SegmentNetwork
) -> None:
    assert segments.find_network(replace(vlan, segment_id=place.free_ids[1])) is None
    assert segments.find_network(replace(vlan, physical_network="elsewhere")) is None


def test_a_segment_has_one_network(
    lab: CloudLab, segments: Segments, vlan: Segment, network: SegmentNetwork
) -> None:
    with pytest.raises(CloudConflict):
        segments.create_network(vlan, name=lab.name("second"), project_id=lab.project_ids[1])

    assert segments.find_network(vlan) == network


def test_the_largest_vxlan_has_no_physical_network(lab: CloudLab, segments: Segments) -> None:
    segment = Segment(network_type="vxlan", segment_id=LARGEST_VXLAN)

    made = segments.create_network(segment, name=lab.name("vxlan"), project_id=lab.project_ids[0])

    assert segments.find_network(segment) == made
    segments.delete_network(made.id)


@pytest.mark.parametrize(
    "changes",
    [
        {"physical_network": "no-such-network"},
        {"segment_id": 4095},
        {"segment_id": 0},
        {"network_type": "vxlan"},
        {"network_type": "flat"},
    ],
)
def test_a_segment_that_neutron_cannot_have_is_refused(
    lab: CloudLab, segments: Segments, vlan: Segment, changes: dict[str, object]
) -> None:
    segment = replace(vlan, **changes)  # type: ignore[arg-type]

    with pytest.raises(CloudRefused):
        segments.create_network(segment, name=lab.name("bad"), project_id=lab.project_ids[0])


def test_the_quota_of_the_project_counts(
    lab: CloudLab, segments: Segments, place: LabSegments, vlan: Segment
) -> None:
    place.limit_networks(lab.project_ids[0])

    with pytest.raises(CloudRefused):
        segments.create_network(vlan, name=lab.name("net"), project_id=lab.project_ids[0])

    assert segments.find_network(vlan) is None


def test_the_tags_of_a_network_are_replaced_as_a_whole(
    segments: Segments, vlan: Segment, network: SegmentNetwork
) -> None:
    segments.set_network_tags(network.id, frozenset({"old", "blazar"}))
    segments.set_network_tags(network.id, frozenset({"blazar", "reservation:1"}))

    assert segments.find_network(vlan) == replace(network, tags=frozenset({"blazar", "reservation:1"}))


def test_a_deleted_network_leaves_its_segment_free(
    lab: CloudLab, segments: Segments, place: LabSegments, vlan: Segment, network: SegmentNetwork
) -> None:
    place.add_subnet(network.id, CIDR)

    segments.delete_network(network.id)

    assert segments.find_network(vlan) is None
    assert lab.cloud.networks.list_subnets(network.id) == ()
    segments.create_network(vlan, name=lab.name("next"), project_id=lab.project_ids[1])


def test_a_network_with_ports_of_any_project_is_not_deleted(
    lab: CloudLab, segments: Segments, place: LabSegments, network: SegmentNetwork
) -> None:
    port_id = place.add_port(network.id, lab.project_ids[1])

    with pytest.raises(CloudConflict):
        segments.delete_network(network.id)

    (port,) = segments.list_ports(network.id)
    assert (port.id, port.project_id, port.is_router_interface) == (port_id, lab.project_ids[1], False)
    segments.delete_port(port_id)
    assert segments.list_ports(network.id) == ()
    segments.delete_network(network.id)


def test_a_parent_port_is_deleted_after_its_trunk(segments: Segments, place: LabSegments, port: str) -> None:
    trunk_id = place.add_trunk(port, frozenset())
    with pytest.raises(CloudConflict):
        segments.delete_port(port)

    segments.delete_trunk(trunk_id)

    segments.delete_port(port)
    assert trunk_id not in [each.id for each in segments.list_trunks()]


def test_a_trunk_of_a_server_is_deleted_after_its_parent_port_is_unbound(
    lab: CloudLab, segments: Segments, place: LabSegments, network: SegmentNetwork
) -> None:
    parent = place.add_port(network.id, lab.project_ids[0], server_id=UNKNOWN_ID)
    trunk_id = place.add_trunk(parent, frozenset())

    segments.unbind_port(parent)

    segments.delete_trunk(trunk_id)
    (port,) = segments.list_ports(network.id)
    assert (port.id, port.device_id, port.device_owner) == (parent, "", "")


def test_a_subport_is_deleted_after_it_has_left_its_trunk(
    lab: CloudLab, segments: Segments, place: LabSegments, network: SegmentNetwork, port: str
) -> None:
    parent = place.add_port(network.id, lab.project_ids[0])
    trunk_id = place.add_trunk(parent, frozenset({port}))
    assert Trunk(id=trunk_id, port_id=parent, subport_ids=frozenset({port})) in segments.list_trunks()
    with pytest.raises(CloudConflict):
        segments.delete_port(port)

    segments.remove_subports(trunk_id, [port])

    segments.delete_port(port)
    assert Trunk(id=trunk_id, port_id=parent) in segments.list_trunks()
    with pytest.raises(CloudNotFound):
        segments.remove_subports(trunk_id, [port])


def test_a_disabled_trunk_is_changed_and_deleted_after_it_is_enabled(
    lab: CloudLab, segments: Segments, place: LabSegments, network: SegmentNetwork, port: str
) -> None:
    parent = place.add_port(network.id, lab.project_ids[0])
    trunk_id = place.add_trunk(parent, frozenset({port}))
    place.disable_trunk(trunk_id)
    before = Trunk(id=trunk_id, port_id=parent, subport_ids=frozenset({port}), is_enabled=False)
    assert before in segments.list_trunks()
    with pytest.raises(CloudConflict):
        segments.remove_subports(trunk_id, [port])
    with pytest.raises(CloudConflict):
        segments.delete_trunk(trunk_id)

    segments.enable_trunk(trunk_id)

    assert replace(before, is_enabled=True) in segments.list_trunks()
    segments.remove_subports(trunk_id, [port])
    segments.delete_trunk(trunk_id)
    assert trunk_id not in [each.id for each in segments.list_trunks()]


def test_a_router_leaves_a_network_after_its_extra_routes_into_it(
    segments: Segments, place: LabSegments, network: SegmentNetwork
) -> None:
    place.add_subnet(network.id, CIDR)
    router_id = place.add_router(network.id, ROUTE.destination, ROUTE.nexthop)
    (port,) = segments.list_ports(network.id)
    assert (port.device_id, port.is_router_interface) == (router_id, True)
    with pytest.raises(CloudConflict):
        segments.delete_port(port.id)
    with pytest.raises(CloudConflict):
        segments.remove_router_interface(router_id, port.id)

    assert segments.list_routes(router_id) == (ROUTE,)
    segments.remove_routes(router_id, [ROUTE, Route(destination="192.0.2.0/24", nexthop=ROUTE.nexthop)])
    segments.remove_router_interface(router_id, port.id)

    assert segments.list_routes(router_id) == ()
    assert segments.list_ports(network.id) == ()


def test_nothing_can_be_done_with_what_is_missing(segments: Segments) -> None:
    assert segments.list_ports(UNKNOWN_ID) == ()
    with pytest.raises(CloudNotFound):
        segments.set_network_tags(UNKNOWN_ID, frozenset())
    with pytest.raises(CloudNotFound):
        segments.delete_network(UNKNOWN_ID)
    with pytest.raises(CloudNotFound):
        segments.delete_port(UNKNOWN_ID)
    with pytest.raises(CloudNotFound):
        segments.unbind_port(UNKNOWN_ID)
    with pytest.raises(CloudNotFound):
        segments.enable_trunk(UNKNOWN_ID)
    with pytest.raises(CloudNotFound):
        segments.delete_trunk(UNKNOWN_ID)
    with pytest.raises(CloudNotFound):
        segments.list_routes(UNKNOWN_ID)
    with pytest.raises(CloudNotFound):
        segments.remove_routes(UNKNOWN_ID, [ROUTE])
    with pytest.raises(CloudNotFound):
        segments.remove_router_interface(UNKNOWN_ID, UNKNOWN_ID)
