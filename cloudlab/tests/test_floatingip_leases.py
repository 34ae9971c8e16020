"""Leases for floating IPs, on the real Neutron."""

from __future__ import annotations

import uuid

import pytest

from blazarclient.exception import BlazarClientException
from cloudlab.tests.actors import Actor, Operator, in_minutes
from cloudlab.tests.end_to_end_lab import EndToEndLab
from cloudlab.tests.floatingips import ADDRESSES, AddressPool, port_of
from cloudlab.tests.networks import VLANS, Segments
from cloudlab.waiting import wait_until

FIRST, SECOND = ADDRESSES


def test_addresses_are_the_lessees_while_the_lease_runs_attached_or_not(
    lab: EndToEndLab, pool: AddressPool, lessee: Actor, other: Actor
) -> None:
    lease = lessee.reserve_floatingips(2, SECOND)
    lessee.wait_for_lease(lease, "ACTIVE")
    found = pool.of(lessee, lease)
    assert found.keys() == set(ADDRESSES)
    assert {each["project_id"] for each in found.values()} == {lessee.project_id}
    assert pool.of(other, lease) == {}

    with port_of(lab, lessee) as port_id:
        body = {"floatingip": {"port_id": port_id}}
        lab.openstack.api("network", "lessee").put(f"/v2.0/floatingips/{found[FIRST]['id']}", json=body)
        assert pool.existing()[FIRST]["port_id"] == port_id
        lessee.end_now(lease)
        assert pool.existing() == {}


def test_an_active_lease_gets_more_and_its_end_leaves_others_alone(pool: AddressPool, lessee: Actor) -> None:
    running = lessee.reserve_floatingips(1, FIRST)
    lessee.wait_for_lease(running, "ACTIVE")
    before = pool.existing()
    future = lessee.reserve_floatingips(1, FIRST, start=in_minutes(61), end=in_minutes(90))

    lessee.end(future)
    assert pool.existing() == before

    (reservation,) = running["reservations"]
    changes = [{"id": reservation["id"], "amount": 2}]
    lessee.reservations.put(f"/leases/{running['id']}", json={"reservations": changes})
    wait_until(lambda: pool.of(lessee, running).keys() == set(ADDRESSES), "there are two", seconds=30)
    assert pool.existing()[FIRST]["id"] == before[FIRST]["id"]
    lessee.end(running)
    assert pool.existing() == {}


def test_a_lessee_cannot_keep_an_address_by_editing_its_tags(
    lab: EndToEndLab, pool: AddressPool, lessee: Actor
) -> None:
    lease = lessee.reserve_floatingips(1, FIRST)
    lessee.wait_for_lease(lease, "ACTIVE")
    before = pool.existing()
    path = f"/v2.0/floatingips/{before[FIRST]['id']}/tags"
    stolen = {"tags": ["blazar", f"reservation:{uuid.uuid4()}"]}
    lab.openstack.api("network", "lessee").put(path, json=stolen)

    assert " 0 have failed" in lab.check_floatingips(found=False)
    (reservation,) = lease["reservations"]
    changes = [{"id": reservation["id"], "required_floatingips": []}]
    lessee.reservations.put(f"/leases/{lease['id']}", json={"reservations": changes})
    wait_until(lambda: pool.of(lessee, lease).keys() == {FIRST}, "its tags are restored", seconds=30)
    assert pool.existing()[FIRST]["id"] == before[FIRST]["id"]
    lab.openstack.api("network", "lessee").put(path, json=stolen)
    lessee.end_now(lease)
    assert pool.existing() == {}


def test_an_active_lease_shrinks_to_the_addresses_on_ports(
    lab: EndToEndLab, pool: AddressPool, lessee: Actor
) -> None:
    lease = lessee.reserve_floatingips(2)
    lessee.wait_for_lease(lease, "ACTIVE")
    (reservation,) = lease["reservations"]

    def shrink(amount: int) -> None:
        changes = [{"id": reservation["id"], "amount": amount}]
        lessee.blazar.lease.update(lease["id"], reservations=changes)

    with port_of(lab, lessee) as port_id:
        body = {"floatingip": {"port_id": port_id}}
        found = pool.of(lessee, lease)
        lab.openstack.api("network", "lessee").put(f"/v2.0/floatingips/{found[SECOND]['id']}", json=body)
        shrink(1)
        assert pool.existing().keys() == {SECOND}
        with pytest.raises(BlazarClientException, match=SECOND) as refusal:
            shrink(0)
        assert refusal.value.code == 409
        assert pool.existing()[SECOND]["id"] == found[SECOND]["id"]
        lessee.end_now(lease)
    assert pool.existing() == {}


@pytest.mark.long
def test_what_neutron_gives_away_is_noticed_before_it_hurts_a_lease(
    lab: EndToEndLab, pool: AddressPool, segments: Segments, lessee: Actor, other: Actor
) -> None:
    """Addresses and network segments together: the test waits for the start of a lease, and for checks."""
    lease = lessee.reserve_floatingips(1, start=in_minutes(2), end=in_minutes(60))
    ahead = segments.reserve(lessee, start=in_minutes(30))
    (vlan,) = segments.held(lessee, ahead)
    (spare,) = {*VLANS} - {vlan}

    with segments.taken(other, vlan):
        with pool.in_neutrons_pool(FIRST):
            assert FIRST in lab.check_floatingips()
            assert (pool.reservable(FIRST), pool.reservable(SECOND)) == (False, True)
            wait_until(
                lambda: "reservation.replaced" in lab.history(lease["id"]), "it has another one", seconds=30
            )
            with pytest.raises(BlazarClientException, match="Not enough floating IPs") as refusal:
                other.reserve_floatingips(1, start=in_minutes(10), end=in_minutes(20))
            assert refusal.value.code == 400
        with pool.given_to(other, FIRST) as foreign:
            lessee.wait_for_lease(lease, "ACTIVE", seconds=300)
            assert pool.of(lessee, lease).keys() == {SECOND}
            lessee.end(lease)
            assert pool.existing().keys() == {FIRST}
            assert pool.existing()[FIRST]["id"] == foreign["id"]
        segments.wait_until_reservable(vlan, False)
        wait_until(lambda: segments.held(lessee, ahead) == {spare}, "it has another segment", seconds=30)
        assert lessee.status(ahead) == "PENDING"
        with pytest.raises(BlazarClientException, match="Not enough networks"):
            segments.reserve(other, start=in_minutes(30))
    pool.wait_until_reservable(FIRST, True)
    segments.wait_until_reservable(vlan, True)


def test_what_neutron_itself_may_give_out_is_not_registered(
    lab: EndToEndLab, pool: AddressPool, operator: Operator, other: Actor
) -> None:
    def status_of(address: str, network_id: str = lab.openstack.details.network_id) -> int:
        with pytest.raises(BlazarClientException) as refusal:
            operator.blazar.floatingip.create(network_id, address)
        return int(refusal.value.code)

    for address in ("203.0.113.50", "203.0.113.1", "203.0.113.255", "198.51.100.7", "nonsense"):
        assert status_of(address) == 400
    assert status_of("203.0.113.220", "no-such-network") == 400
    assert status_of(FIRST) == 409
    with pool.given_to(other, "203.0.113.220"):
        assert status_of("203.0.113.220") == 409
