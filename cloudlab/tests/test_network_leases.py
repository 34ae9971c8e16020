"""Leases for network segments, on the real Neutron."""

from __future__ import annotations

import pytest

from blazarclient.exception import BlazarClientException
from cloudlab.neutron import PHYSICAL_NETWORK, SHARED_VLANS
from cloudlab.tests.actors import Actor, Operator
from cloudlab.tests.end_to_end_lab import EndToEndLab
from cloudlab.tests.failures import start_and_end_despite_outage
from cloudlab.tests.networks import VLANS, Neutron, Segments


def test_a_network_ends_with_everything_on_it_and_others_stay(
    lab: EndToEndLab, segments: Segments, lessee: Actor
) -> None:
    neutron = Neutron(lab)
    lease = segments.reserve(lessee)
    lessee.wait_for_lease(lease, "ACTIVE")
    ((vlan, network),) = segments.existing().items()
    assert vlan in VLANS
    assert (network["name"], network["project_id"]) == ("lab", lessee.project_id)
    assert network["id"] in neutron.ids("network")

    # On the reserved network and on one that stays: subnets, a router between them, ports, and two trunks.
    own = neutron.make("network", name="stays")
    subnets = [
        neutron.make("subnet", network_id=each, ip_version=4, cidr=f"10.{number}.0.0/24")["id"]
        for number, each in enumerate((network["id"], own["id"]), 50)
    ]
    router = neutron.make("router", name="between")["id"]
    for each in subnets:
        neutron.put(f"routers/{router}/add_router_interface", {"subnet_id": each})
    route = {"destination": "198.51.100.0/24", "nexthop": "10.50.0.77"}
    neutron.put(f"routers/{router}", {"router": {"routes": [route]}})
    gone, stays = (
        [neutron.make("port", network_id=each)["id"] for _ in range(3)] for each in _ids(network, own)
    )
    parent = neutron.make("trunk", port_id=gone[0])["id"]
    tag = {"segmentation_type": "vlan", "segmentation_id": 301}
    child = neutron.make("trunk", port_id=stays[0], sub_ports=[{"port_id": gone[1], **tag}])["id"]

    lessee.end_now(lease)

    assert segments.existing() == {}
    assert neutron.ids("port") & {*gone, *stays} == set(stays)
    assert neutron.ids("trunk") & {parent, child} == {child}
    assert router in neutron.ids("router")
    assert own["id"] in neutron.ids("network")
    neutron.delete("trunk", child)
    neutron.put(f"routers/{router}/remove_router_interface", {"subnet_id": subnets[1]})
    neutron.delete("router", router)
    for each in stays:
        neutron.delete("port", each)
    neutron.delete("network", own["id"])


def _ids(*networks: dict[str, str]) -> list[str]:
    return [each["id"] for each in networks]


def test_two_networks_have_different_segments_and_another_project_sees_neither(
    lab: EndToEndLab, segments: Segments, lessee: Actor, other: Actor
) -> None:
    lease = segments.reserve(lessee, 2, "pair")
    lessee.wait_for_lease(lease, "ACTIVE")
    found = segments.existing()
    assert found.keys() == set(VLANS)
    seen = lab.openstack.api("network", "other").get("/v2.0/networks").json()["networks"]
    assert {each["id"] for each in seen}.isdisjoint(each["id"] for each in found.values())

    with pytest.raises(BlazarClientException, match="Not enough network") as refusal:
        segments.reserve(other)
    assert refusal.value.code in (400, 409)
    lessee.end(lease)
    assert segments.existing() == {}


def test_a_lessee_who_deletes_or_hides_the_network_does_not_keep_the_segment(
    lab: EndToEndLab, segments: Segments, lessee: Actor
) -> None:
    neutron = Neutron(lab)
    lease = segments.reserve(lessee, 2)
    lessee.wait_for_lease(lease, "ACTIVE")
    first, second = [each["id"] for each in segments.existing().values()]
    neutron.delete("network", first)
    neutron.put(f"networks/{second}", {"network": {"name": "mine", "description": "mine"}})
    neutron.put(f"networks/{second}/tags", {"tags": ["mine"]})

    lessee.end_now(lease)

    assert segments.existing() == {}


def test_what_neutron_may_give_out_or_uses_is_not_registered(
    lab: EndToEndLab, operator: Operator, segments: Segments
) -> None:
    def status_of(segment_id: int | str) -> int:
        with pytest.raises(BlazarClientException) as refusal:
            operator.blazar.network.create("vlan", PHYSICAL_NETWORK, segment_id)
        return int(refusal.value.code)

    body = {
        "name": "taken",
        "provider:network_type": "vlan",
        "provider:physical_network": PHYSICAL_NETWORK,
        "provider:segmentation_id": 220,
    }
    taken = operator.networks.post("/v2.0/networks", json={"network": body}).json()["network"]["id"]
    try:
        assert status_of(220) == 409
        assert status_of("219-221") == 409
    finally:
        operator.networks.delete(f"/v2.0/networks/{taken}")
    assert status_of(SHARED_VLANS[0]) == 409
    assert status_of(VLANS[0]) == 409
    assert status_of(4095) == 400


@pytest.mark.long
def test_neutron_away_for_half_a_minute_only_delays_start_and_end(
    lab: EndToEndLab, segments: Segments, lessee: Actor
) -> None:
    def check_network() -> None:
        assert len(segments.existing()) == 1

    start_and_end_despite_outage(
        lab.openstack.service("neutron"), lessee, lambda: segments.reserve(lessee), check_network
    )
    assert segments.existing() == {}
