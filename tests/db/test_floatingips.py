"""Registered floating IPs."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa
from log import changes_after
from samples import at, make_allocation, make_floatingip, make_host, make_lease
from statements import counted

from blazar.db.store import SqlStore
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.health import Diagnosis, Health
from blazar.domain.lease import ReservationId, ResourceId
from blazar.plugins.floatingips.errors import FloatingIPAlreadyRegistered
from blazar.plugins.floatingips.floatingip import FloatingIP
from blazar.plugins.floatingips.store import FLOATING_IP_STORE
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.allocations import Holder

ONE = ResourceId("fip-1")


def insert(store: SqlStore, *floatingips: FloatingIP) -> None:
    with store.begin() as transaction:
        for each in floatingips:
            transaction.of(FLOATING_IP_STORE).insert(each)
        transaction.commit()


def delete(store: SqlStore, floatingip_id: str) -> None:
    with store.begin() as transaction:
        transaction.of(FLOATING_IP_STORE).delete(ResourceId(floatingip_id))
        transaction.commit()


def listed(store: SqlStore) -> tuple[FloatingIP, ...]:
    with store.read() as transaction:
        return transaction.of(FLOATING_IP_STORE).list()


def test_a_floating_ip_comes_back_as_it_went(store: SqlStore) -> None:
    floatingip = make_floatingip(
        1,
        address="2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
        diagnosis=Diagnosis(health=Health.FAILED, problem="gone"),
    )

    insert(store, floatingip)

    with store.read() as transaction:
        assert transaction.of(FLOATING_IP_STORE).find(floatingip.id) == floatingip
        assert transaction.of(FLOATING_IP_STORE).find_by_address("network", floatingip.address) == floatingip
        assert transaction.of(FLOATING_IP_STORE).list() == (floatingip,)


def test_an_unknown_floating_ip_is_not_found(store: SqlStore) -> None:
    insert(store, make_floatingip(1))

    with store.read() as transaction:
        assert transaction.of(FLOATING_IP_STORE).find("203.0.113.201") is None
        assert transaction.of(FLOATING_IP_STORE).find_by_address("network", "203.0.113.202") is None
        assert transaction.of(FLOATING_IP_STORE).find_by_address("other", "203.0.113.201") is None


def test_floating_ips_are_listed_oldest_first_with_one_statement(store: SqlStore, engine: sa.Engine) -> None:
    insert(store, *(make_floatingip(number, created_at=at(9 - number)) for number in range(1, 9)))

    with counted(engine) as statements:
        found = listed(store)

    assert [each.id for each in found] == [f"fip-{number}" for number in range(8, 0, -1)]
    assert statements.count("SELECT") == 1


@pytest.mark.parametrize(
    "again",
    [make_floatingip(1, address="203.0.113.99"), make_floatingip(2, address="203.0.113.201")],
)
def test_a_floating_ip_is_registered_once(store: SqlStore, again: FloatingIP) -> None:
    insert(store, make_floatingip(1))

    with pytest.raises(FloatingIPAlreadyRegistered):
        insert(store, again)

    assert listed(store) == (make_floatingip(1),)


def test_an_address_may_be_one_of_several_networks(store: SqlStore) -> None:
    insert(store, make_floatingip(1), make_floatingip(2, address="203.0.113.201", network_id="other"))

    assert len(listed(store)) == 2


def test_a_deleted_floating_ip_can_be_registered_again(store: SqlStore) -> None:
    insert(store, make_floatingip(1), make_floatingip(2))

    delete(store, "fip-1")

    assert listed(store) == (make_floatingip(2),)
    insert(store, make_floatingip(1))


def test_a_floating_ip_that_was_booked_meanwhile_is_not_deleted(store: SqlStore) -> None:
    insert(store, make_floatingip(1))
    with store.begin() as transaction:
        transaction.leases.insert(make_lease())
        transaction.allocations.insert([make_allocation("fip-1", "lease-r0", 1, 5)])
        transaction.commit()

    with pytest.raises(ConcurrentUpdate):
        delete(store, "fip-1")

    assert listed(store) == (make_floatingip(1),)


def test_indexes_are_told_of_what_comes_and_goes(store: SqlStore) -> None:
    insert(store, make_floatingip(1))
    delete(store, "fip-1")

    with store.read() as transaction:
        last = transaction.availability.last_change()
        changes = [each[1:] for each in changes_after(transaction, 0) if each[0] > last - 2]
    assert changes == [(ONE, True), (ONE, True)]


def test_a_search_finds_floating_ips_among_their_own_kind_only(store: SqlStore) -> None:
    floatingips = [make_floatingip(number) for number in (1, 2, 3)]
    insert(store, *floatingips)

    with store.read() as transaction:
        reader = transaction.availability
        assert reader.read("floatingip", None) == tuple(each.as_resource() for each in floatingips)
        assert reader.read("floatingip", [ONE]) == (floatingips[0].as_resource(),)
        assert reader.read("host", [ONE]) == ()
        assert reader.all_generations("floatingip").keys() == {each.id for each in floatingips}


def test_those_are_told_that_hold_a_floating_ip(store: SqlStore) -> None:
    insert(store, *(make_floatingip(number) for number in (1, 2, 3)))
    lease = make_lease(reservations=3)
    with store.begin() as transaction:
        transaction.leases.insert(replace(lease, project_id="theirs"))
        transaction.allocations.insert(
            [
                make_allocation("fip-1", "lease-r1", 3, 4),
                make_allocation("fip-1", "lease-r0", 1, 2),
                make_allocation("fip-2", "lease-r2", 1, 2),
            ]
        )
        transaction.allocations.release(ReservationId("lease-r2"), [ResourceId("fip-2")], at(2))
        transaction.commit()

    with store.read() as transaction:
        holders = transaction.allocations.list_holders("floatingip")

    assert holders == {
        ONE: (
            Holder(reservation_id=ReservationId("lease-r0"), project_id="theirs", start=at(1)),
            Holder(reservation_id=ReservationId("lease-r1"), project_id="theirs", start=at(3)),
        )
    }


def test_what_neutron_knows_them_by_is_read_beside_the_names_of_hosts(store: SqlStore) -> None:
    insert(store, make_floatingip(1))
    with store.begin() as transaction:
        transaction.of(HOST_STORE).insert(make_host("7"))
        transaction.commit()

    with store.read() as transaction:
        states = transaction.resources.get_states([ONE, ResourceId("7")])

    assert states[ONE].facts == {"address": "203.0.113.201", "network_id": "network", "subnet_id": "subnet"}
    assert states[ResourceId("7")].facts == {
        "hypervisor_hostname": "node-7.example.org",
        "service_name": "node-7",
    }
