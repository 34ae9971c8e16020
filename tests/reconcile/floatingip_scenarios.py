"""Life cycles of leases of floating IPs, as functions of a lab; see :mod:`reconcile.scenarios`."""

from __future__ import annotations

from datetime import timedelta

from reconcile.floatingips import (
    POOLS,
    address,
    addresses_of,
    existing,
    floatingips,
    put,
    registration,
    subnet_of,
    take_away,
)
from reconcile.lab import LESSEE, Lab
from reconcile.scenarios import Scenario, further, representative
from reconcile.slot_scenarios import forget

from blazar.domain.errors import FloatingIPAlreadyRegistered, FloatingIPNotFound
from blazar.domain.lease import LeaseStatus
from blazar.reconcile.periodic.tasks import CHECK_FLOATINGIPS


def addresses_come_and_go(lab: Lab) -> None:
    with lab.trial():
        lab.create("a", 1, 2, floatingips(lab, 2, 3))
        lab.at(0.5)
        lab.at(0.99)
        lab.at(1.1)
        lab.at(2.1)


def addresses_come_now(lab: Lab) -> None:
    lab.jump(0.005)
    with lab.trial():
        lab.create("a", "now", 2, floatingips(lab, 3))
        lab.at(0.1)


def no_address_at_all(lab: Lab) -> None:
    with lab.trial():
        lab.create("a", 1, 2, floatingips(lab, 0))
        lab.at(1.1)
        lab.at(2.1)


def addresses_beside_hosts(lab: Lab) -> None:
    lab.create("a", 0, 2, floatingips(lab, 1, 2), (1, 1), floatingips(lab, 1))
    with lab.trial():
        lab.at(1.1)
        lab.at(2.1)


def addresses_back_to_back(lab: Lab) -> None:
    lab.create("a", 0, 2, floatingips(lab, 3))
    second = lab.create("b", 2, 3, floatingips(lab, 3))
    lab.at(1.9)
    with lab.trial():
        lab.at(2.1)
        assert lab.may_fail or len(addresses_of(lab, second)) == 3


def addresses_are_attached(lab: Lab) -> None:
    lab.create("a", 0, 2, floatingips(lab, 2))
    lab.at(1.9)
    for number, each in enumerate(existing(lab).values()):
        lab.cloud.attach_floating_ip(each.id, f"port-{number}")
    with lab.trial():
        lab.at(2.1)
        assert not existing(lab)


def more_addresses_while_active(lab: Lab) -> None:
    lease = lab.create("a", 0, 2, floatingips(lab, 1, 2))
    lab.at(1)
    (reservation,) = lab.lease(lease).reservations
    before = existing(lab)[address(2)]
    with lab.trial():
        lab.update(lease, reservations=[{"id": reservation.id, "amount": 3}])
        lab.at(1.1)
        assert existing(lab)[address(2)] == before
        lab.at(2.1)


def fewer_addresses_while_active(lab: Lab) -> None:
    lease = lab.create("a", 0, 2, floatingips(lab, 3))
    lab.at(1)
    (reservation,) = lab.lease(lease).reservations
    used = existing(lab)[address(2)]
    lab.cloud.attach_floating_ip(used.id, "port")
    with lab.trial():
        lab.update(lease, reservations=[{"id": reservation.id, "amount": 1}])
        lab.at(1.1)
        assert existing(lab)[address(2)].id == used.id
        lab.at(2.1)


def other_addresses_before_the_start(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, floatingips(lab, 2, 1))
    lab.at(0.99)
    (reservation,) = lab.lease(lease).reservations
    with lab.trial():
        changes = {"id": reservation.id, "amount": 1, "required_floatingips": [address(3)]}
        lab.update(lease, reservations=[changes], end=3)
        lab.at(1.1)
        assert lab.may_fail or addresses_of(lab, lease) == {address(3)}
        lab.at(3.1)


def a_future_lease_for_the_same_address_is_deleted(lab: Lab) -> None:
    running = lab.create("a", 0, 2, floatingips(lab, 1, 1))
    future = lab.create("b", 2, 3, floatingips(lab, 1, 1))
    lab.at(1.99)
    before = existing(lab)
    with lab.trial():
        lab.delete(future)
        lab.run_until(1.991)
        assert existing(lab) == before
        assert lab.lease(running).status is LeaseStatus.ACTIVE
        lab.at(2.1)


def addresses_deleted_while_active(lab: Lab) -> None:
    lease = lab.create("a", 0, 2, floatingips(lab, 2))
    lab.at(1)
    with lab.trial():
        lab.delete(lease)
        lab.at(1.1)


def addresses_overslept(lab: Lab) -> None:
    lab.create("a", 1, 2, floatingips(lab, 3))
    lab.create("b", 2, 4, floatingips(lab, 3))
    with lab.trial():
        lab.jump(3)
        lab.at(3.1)


def a_stranger_has_an_address(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, floatingips(lab, 2))
    foreign = put(lab, 1)
    lab.run_until(0.99)
    with lab.trial():
        lab.at(1.1)
        assert lab.may_fail or addresses_of(lab, lease) == {address(2), address(3)}
        lab.at(2.1)
        assert existing(lab) == {address(1): foreign}


def a_stranger_has_a_required_address(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, floatingips(lab, 2, 1))
    foreign = put(lab, 1)
    lab.run_until(0.99)
    with lab.trial():
        lab.run_until(1.0003)
        assert existing(lab)[address(1)] == foreign
        take_away(lab, foreign)
        lab.at(1.1)
        assert lab.may_fail or address(1) in addresses_of(lab, lease)


def neutron_takes_an_address(lab: Lab) -> None:
    """Remove an address from Neutron's allocation pools, then restore it."""
    lease = lab.create("a", 0.5, 2, floatingips(lab, 2))
    running = lab.create("b", 0, 2, floatingips(lab, 1, 3))
    lab.at(0.1)
    own = existing(lab)
    with lab.trial():
        subnet_id = subnet_of(lab)[1]
        lab.cloud.set_allocation_pools(subnet_id, ((address(2), address(3)),))
        lab.plan_chore(CHECK_FLOATINGIPS)
        lab.run_until(0.2)
        assert existing(lab) == own
        lab.cloud.set_allocation_pools(subnet_id, POOLS)
        lab.at(0.55)
        assert lab.may_fail or len(addresses_of(lab, lease)) == 2
        assert addresses_of(lab, running) == {address(3)}


def lost_addresses_are_swept(lab: Lab) -> None:
    lease = lab.create("a", 0, 1, floatingips(lab, 2))
    lab.at(0.5)
    forget(lab, lease)
    lab.plan_chore()
    with lab.trial():
        lab.run_until(1.05)
        lab.at(1.06)
        assert not existing(lab)


def address_comes(lab: Lab) -> None:
    body = registration(lab, 4)
    with lab.trial():
        lab.request(lambda service: service.create_floatingip(LESSEE, body), FloatingIPAlreadyRegistered)
        assert address(4) in {row.address for row in lab.world().floatingips}
        lab.at(0.1)


def address_goes(lab: Lab) -> None:
    floatingip_id = lab.world().floatingips[0].id
    with lab.trial():
        lab.request(lambda service: service.delete_floatingip(LESSEE, floatingip_id), FloatingIPNotFound)
        assert len(lab.world().floatingips) == 2
        lab.at(0.1)


FLOATINGIP_SCENARIOS: tuple[Scenario, ...] = (
    representative(addresses_come_and_go, floatingips=3, before_end_lead=timedelta(hours=1)),
    further(addresses_come_now, floatingips=3),
    further(no_address_at_all, floatingips=3),
    further(addresses_beside_hosts, floatingips=3),
    further(addresses_back_to_back, floatingips=3),
    representative(addresses_are_attached, floatingips=3),
    further(more_addresses_while_active, floatingips=3),
    further(fewer_addresses_while_active, floatingips=3),
    further(other_addresses_before_the_start, floatingips=3),
    further(a_future_lease_for_the_same_address_is_deleted, floatingips=3),
    further(addresses_deleted_while_active, floatingips=3),
    further(addresses_overslept, floatingips=3),
    further(a_stranger_has_an_address, floatingips=3),
    further(a_stranger_has_a_required_address, floatingips=3),
    representative(neutron_takes_an_address, floatingips=5),
    representative(lost_addresses_are_swept, floatingips=3),
    further(address_comes, floatingips=3),
    further(address_goes, floatingips=3),
)
