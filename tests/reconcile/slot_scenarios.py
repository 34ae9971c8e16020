"""Life cycles of leases of instances, as functions of an environment; see :mod:`reconcile.scenarios`."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa
from reconcile.reconciler_env import ReconcilerEnv
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


def slots_start_and_end(env: ReconcilerEnv) -> None:
    with env.trial():
        env.create("a", 1, 3, instances(6))
        env.at(0.5)
        env.at(0.99)
        env.at(1.1)
        env.at(3.1)


def slots_start_now(env: ReconcilerEnv) -> None:
    env.jump(0.005)
    with env.trial():
        env.create("a", "now", 2, instances(3, affinity=True))
        env.at(0.1)


def slots_on_different_hosts_with_servers(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 2, instances(3, affinity=False))
    env.at(1)
    servers = fill(env, lease)
    assert {each.service_host for each in servers} == set(env.host_names)
    with env.trial():
        env.at(2.1)


def slots_of_a_flavor(env: ReconcilerEnv) -> None:
    add_source_flavors(env)
    with env.trial():
        lease = env.create("a", 0.5, 2, of_flavor(9))
        env.at(1)
        if env.arm is None and not env.may_fail:
            assert sum(slots_by_host(env, env.lease(lease).reservations[0]).values()) == 9
        env.at(2.1)


def another_flavor_when_prepared(env: ReconcilerEnv) -> None:
    add_source_flavors(env)
    lease = env.create("a", 1, 2, of_flavor(3, affinity=False))
    env.at(0.97)
    with env.trial():
        revise(env, lease, flavor_id=BIGGER_SOURCE.id, amount=2, affinity=None)
        env.at(0.99)
        env.at(1.1)


def both_types_on_one_host(env: ReconcilerEnv) -> None:
    add_source_flavors(env)
    lease = env.create("a", 0, 2, instances(2), of_flavor(4))
    with env.trial():
        env.at(1)
        env.at(2.1)
    assert env.lease(lease).status is LeaseStatus.TERMINATED


def slots_grow_while_active(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 2, instances(3))
    env.at(1)
    boot(env, env.lease(lease).reservations[0])
    with env.trial():
        revise(env, lease, amount=7)
        env.at(1.1)
        env.at(2.1)


def slots_shrink_while_active(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 2, instances(7))
    env.at(1)
    server = boot(env, env.lease(lease).reservations[0])
    with env.trial():
        revise(env, lease, amount=2)
        env.at(1.1)
        assert server.id in env.servers()
        env.at(2.1)


def slots_back_to_back(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 2, instances(12))
    env.create("b", 2, 3, instances(12))
    env.at(1.9)
    fill(env, lease)
    with env.trial():
        env.at(2.1)


def slots_after_a_host_and_before_one(env: ReconcilerEnv) -> None:
    env.create("a", 0, 1, (3, 3))
    env.create("b", 1, 2, instances(5))
    env.create("c", 2, 3, (3, 3))
    env.at(0.5)
    with env.trial():
        env.at(1.1)
        env.at(2.1)


def affinity_is_changed_before_the_start(env: ReconcilerEnv) -> None:
    with env.trial():
        lease = env.create("a", 1, 2, instances(3, affinity=True))
        revise(env, lease, affinity=False)
        env.at(0.5)
        revise(env, lease, affinity=None)
        env.at(0.99)
        revise(env, lease, affinity=True)
        env.at(1.1)
        env.at(2.1)


def slots_deleted_before_their_start(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, instances(3, affinity=True))
    with env.trial():
        env.delete(lease)
        env.at(0.1)


def slots_deleted_while_active(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 2, instances(4, affinity=True))
    env.at(1)
    fill(env, lease)
    with env.trial():
        env.delete(lease)
        env.at(1.1)


def slots_moved_and_extended(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, instances(12))
    with env.trial():
        env.update(lease, start=1.5, end=2.5)
        env.at(2)
        env.update(lease, end=4)
        env.at(2.6)


def slots_overslept(env: ReconcilerEnv) -> None:
    env.create("a", 1, 2, instances(2, affinity=False))
    env.create("b", 1, 3, instances(4))
    with env.trial():
        env.jump(2.5)
        env.at(2.6)


def slots_swept(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 1, instances(2, affinity=True))
    env.at(0.5)
    forget(env, lease)
    env.plan_periodic_task()
    with env.trial():
        env.run_until(1.05)
        env.at(1.06)


def forget(env: ReconcilerEnv, lease_id: str) -> None:
    """Delete a lease from the database while all its cloud objects exist."""
    with env.store.begin() as transaction:
        lease = transaction.leases.find(lease_id)
        assert lease is not None
        for each in lease.reservations:
            transaction.allocations.remove(each.id)
        transaction.leases.delete(lease)
        transaction.commit()
    with env.engine.begin() as connection:
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
