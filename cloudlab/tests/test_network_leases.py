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
    """A floating IP stays, too, and a server without its port; meanwhile, the lessee adds ports."""
    neutron = Neutron(lab)
    lease = segments.reserve(lessee)
    lessee.wait_for_lease(lease, "ACTIVE")
    ((vlan, network),) = segments.existing().items()
    assert vlan in VLANS
    assert (network["name"], network["project_id"]) == ("lab", lessee.project_id)
    assert network["id"] in neutron.ids("network")

    with neutron.connected(network["id"]) as on_it:
        server = lessee.boot(network_id=network["id"])
        assert lessee.wait_for_server(server) == "ACTIVE"
        assert len(lessee.interfaces(server)) == 1

        lessee.reservations.put(f"/leases/{lease['id']}", json={"end_date": "now"})
        assert neutron.add_ports(network["id"], seconds=3) > 0
        lessee.wait_for_lease(lease, "TERMINATED")

        assert segments.existing() == {}
        assert neutron.ids("port") & {*on_it.gone_ports, *on_it.kept_ports} == set(on_it.kept_ports)
        assert neutron.ids("trunk") & {on_it.gone_trunk, on_it.kept_trunk} == {on_it.kept_trunk}
        assert on_it.router in neutron.ids("router")
        assert on_it.other_network in neutron.ids("network")
        (kept,) = lab.operator.floating_ips()
        assert (kept["id"], kept["port_id"]) == (on_it.floating_ip, None)
        assert lessee.wait_for_server(server) == "ACTIVE"
        assert lessee.interfaces(server) == []


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

    with segments.taken(operator, 220):
        assert status_of(220) == 409
        assert status_of("219-221") == 409
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
