"""Behaviour of Neutron with segments that the contract suite does not cover."""

from __future__ import annotations

import pytest
from cloud.openstack.stub import Reply, StubCloud

from blazar.cloud.openstack.driver import OpenStackCloud
from blazar.domain.errors import CloudUnavailable

RANGES = "/network/v2.0/network-segment-ranges"
TRUNKS = "/network/v2.0/trunks"


def test_without_neutrons_plugins_for_them_there_are_no_trunks_and_no_ranges(
    stub: StubCloud, cloud: OpenStackCloud
) -> None:
    assert cloud.segments.list_trunks() == ()
    assert cloud.segments.list_ranges() is None
    assert len(stub.asked("GET", TRUNKS)) == len(stub.asked("GET", RANGES)) == 1


def test_a_list_of_trunks_that_changes_while_it_is_read_is_not_taken_as_none(
    stub: StubCloud, cloud: OpenStackCloud
) -> None:
    trunk = {"id": "t1", "port_id": "p1", "admin_state_up": True, "sub_ports": []}
    links = [{"rel": "next", "href": "x"}]
    first = Reply(body={"trunks": [trunk], "trunks_links": links})
    stub.lay_out("GET", TRUNKS, first, Reply(status=404))

    with pytest.raises(CloudUnavailable):
        cloud.segments.list_trunks()


def test_networks_and_ports_always_have_a_list(cloud: OpenStackCloud) -> None:
    with pytest.raises(CloudUnavailable):
        cloud.segments.list_networks()
    with pytest.raises(CloudUnavailable):
        cloud.segments.list_ports("n1")
