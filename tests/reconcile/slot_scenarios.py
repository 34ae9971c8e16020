"""Life cycles of leases of instances, as functions of a lab; see :mod:`reconcile.scenarios`."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa
from reconcile.lab import Lab
from reconcile.scenarios import Scenario, further, representative
from reconcile.slots import (
    BIGGER_SOURCE,
    add_source_flavors,
    boot,
    fill,
    instances,
    of_flavor,
    revise,
    slots_by_host,
)

from blazar.db import tables
from blazar.domain.lease import LeaseStatus


def slots_start_and_end(lab: Lab) -> None:
    with lab.trial():
        lab.create("a", 1, 3, instances(6))
        lab.at(0.5)
        lab.at(0.99)
        lab.at(1.1)
        lab.at(3.1)


def slots_start_now(lab: Lab) -> None:
    lab.jump(0.005)
    with lab.trial():
        lab.create("a", "now", 2, instances(3, affinity=True))
        lab.at(0.1)


def slots_on_different_hosts_with_servers(lab: Lab) -> None:
    lease = lab.create("a", 0, 2, instances(3, affinity=False))
    lab.at(1)
    servers = fill(lab, lease)
    assert {each.service_host for each in servers} == set(lab.host_names)
    with lab.trial():
        lab.at(2.1)


def slots_of_a_flavor(lab: Lab) -> None:
    add_source_flavors(lab)
    with lab.trial():
        lease = lab.create("a", 0.5, 2, of_flavor(9))
        lab.at(1)
        if lab.arm is None and not lab.may_fail:
            assert sum(slots_by_host(lab, lab.lease(lease).reservations[0]).values()) == 9
        lab.at(2.1)


def another_flavor_when_prepared(lab: Lab) -> None:
    add_source_flavors(lab)
    lease = lab.create("a", 1, 2, of_flavor(3, affinity=False))
    lab.at(0.97)
    with lab.trial():
        revise(lab, lease, flavor_id=BIGGER_SOURCE.id, amount=2, affinity=None)
        lab.at(0.99)
        lab.at(1.1)


def both_types_on_one_host(lab: Lab) -> None:
    add_source_flavors(lab)
    lease = lab.create("a", 0, 2, instances(2), of_flavor(4))
    with lab.trial():
        lab.at(1)
        lab.at(2.1)
    assert lab.lease(lease).status is LeaseStatus.TERMINATED


def slots_grow_while_active(lab: Lab) -> None:
    lease = lab.create("a", 0, 2, instances(3))
    lab.at(1)
    boot(lab, lab.lease(lease).reservations[0])
    with lab.trial():
        revise(lab, lease, amount=7)
        lab.at(1.1)
        lab.at(2.1)


def slots_shrink_while_active(lab: Lab) -> None:
    lease = lab.create("a", 0, 2, instances(7))
    lab.at(1)
    server = boot(lab, lab.lease(lease).reservations[0])
    with lab.trial():
        revise(lab, lease, amount=2)
        lab.at(1.1)
        assert server.id in lab.servers()
        lab.at(2.1)


def slots_back_to_back(lab: Lab) -> None:
    lease = lab.create("a", 0, 2, instances(12))
    lab.create("b", 2, 3, instances(12))
    lab.at(1.9)
    fill(lab, lease)
    with lab.trial():
        lab.at(2.1)


def slots_after_a_host_and_before_one(lab: Lab) -> None:
    lab.create("a", 0, 1, (3, 3))
    lab.create("b", 1, 2, instances(5))
    lab.create("c", 2, 3, (3, 3))
    lab.at(0.5)
    with lab.trial():
        lab.at(1.1)
        lab.at(2.1)


def affinity_is_changed_before_the_start(lab: Lab) -> None:
    with lab.trial():
        lease = lab.create("a", 1, 2, instances(3, affinity=True))
        revise(lab, lease, affinity=False)
        lab.at(0.5)
        revise(lab, lease, affinity=None)
        lab.at(0.99)
        revise(lab, lease, affinity=True)
        lab.at(1.1)
        lab.at(2.1)


def slots_deleted_before_their_start(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, instances(3, affinity=True))
    with lab.trial():
        lab.delete(lease)
        lab.at(0.1)


def slots_deleted_while_active(lab: Lab) -> None:
    lease = lab.create("a", 0, 2, instances(4, affinity=True))
    lab.at(1)
    fill(lab, lease)
    with lab.trial():
        lab.delete(lease)
        lab.at(1.1)


def slots_moved_and_extended(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, instances(12))
    with lab.trial():
        lab.update(lease, start=1.5, end=2.5)
        lab.at(2)
        lab.update(lease, end=4)
        lab.at(2.6)


def slots_overslept(lab: Lab) -> None:
    lab.create("a", 1, 2, instances(2, affinity=False))
    lab.create("b", 1, 3, instances(4))
    with lab.trial():
        lab.jump(2.5)
        lab.at(2.6)


def slots_swept(lab: Lab) -> None:
    lease = lab.create("a", 0, 1, instances(2, affinity=True))
    lab.at(0.5)
    forget(lab, lease)
    lab.plan_chore()
    with lab.trial():
        lab.run_until(1.05)
        lab.at(1.06)


def forget(lab: Lab, lease_id: str) -> None:
    """Delete a lease from the database while all its cloud objects exist."""
    with lab.store.begin() as transaction:
        lease = transaction.leases.find(lease_id)
        assert lease is not None
        for each in lease.reservations:
            transaction.allocations.remove(each.id)
        transaction.leases.delete(lease)
        transaction.commit()
    with lab.engine.begin() as connection:
        connection.execute(sa.delete(tables.work).where(tables.work.c.key == lease_id))


SLOT_SCENARIOS: tuple[Scenario, ...] = (
    further(slots_start_and_end),
    further(slots_start_now),
    representative(slots_on_different_hosts_with_servers, server_deletion_time=timedelta(seconds=3)),
    further(slots_of_a_flavor),
    further(another_flavor_when_prepared),
    further(both_types_on_one_host),
    representative(slots_grow_while_active),
    further(slots_shrink_while_active),
    further(slots_back_to_back, server_deletion_time=timedelta(seconds=3)),
    further(slots_after_a_host_and_before_one),
    further(affinity_is_changed_before_the_start),
    further(slots_deleted_before_their_start),
    further(slots_deleted_while_active),
    further(slots_moved_and_extended),
    further(slots_overslept),
    further(slots_swept),
)
