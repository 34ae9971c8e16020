"""Life cycles of leases of floating IPs, as functions of an environment; see :mod:`reconcile.scenarios`."""

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
from reconcile.reconciler_env import LESSEE, ReconcilerEnv
from reconcile.scenarios import Scenario, further, representative
from reconcile.slot_scenarios import forget

from blazar.domain.lease import LeaseStatus
from blazar.plugins.floatingips.collection import CHECK_FLOATINGIPS
from blazar.plugins.floatingips.errors import FloatingIPAlreadyRegistered, FloatingIPNotFound


def addresses_come_and_go(env: ReconcilerEnv) -> None:
    with env.trial():
        env.create("a", 1, 2, floatingips(env, 2, 3))
        env.at(0.5)
        env.at(0.99)
        env.at(1.1)
        env.at(2.1)


def addresses_come_now(env: ReconcilerEnv) -> None:
    env.jump(0.005)
    with env.trial():
        env.create("a", "now", 2, floatingips(env, 3))
        env.at(0.1)


def no_address_at_all(env: ReconcilerEnv) -> None:
    with env.trial():
        env.create("a", 1, 2, floatingips(env, 0))
        env.at(1.1)
        env.at(2.1)


def addresses_beside_hosts(env: ReconcilerEnv) -> None:
    env.create("a", 0, 2, floatingips(env, 1, 2), (1, 1), floatingips(env, 1))
    with env.trial():
        env.at(1.1)
        env.at(2.1)


def addresses_back_to_back(env: ReconcilerEnv) -> None:
    env.create("a", 0, 2, floatingips(env, 3))
    second = env.create("b", 2, 3, floatingips(env, 3))
    env.at(1.9)
    with env.trial():
        env.at(2.1)
        assert env.may_fail or len(addresses_of(env, second)) == 3


def addresses_are_in_use(env: ReconcilerEnv) -> None:
    env.create("a", 0, 2, floatingips(env, 2))
    env.at(1.9)
    for number, each in enumerate(existing(env).values()):
        if number:
            env.cloud.attach_floating_ip(each.id, f"port-{number}")
        else:
            env.cloud.forward_port(each.id)
    with env.trial():
        env.at(2.1)
        assert not existing(env)


def more_addresses_while_active(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 2, floatingips(env, 1, 2))
    env.at(1)
    (reservation,) = env.lease(lease).reservations
    before = existing(env)[address(2)]
    with env.trial():
        env.update(lease, reservations=[{"id": reservation.id, "amount": 3}])
        env.at(1.1)
        assert existing(env)[address(2)] == before
        env.at(2.1)


def fewer_addresses_while_active(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 2, floatingips(env, 3))
    env.at(1)
    (reservation,) = env.lease(lease).reservations
    used = existing(env)[address(2)]
    env.cloud.attach_floating_ip(used.id, "port")
    with env.trial():
        env.update(lease, reservations=[{"id": reservation.id, "amount": 1}])
        env.at(1.1)
        assert existing(env)[address(2)].id == used.id
        env.at(2.1)


def other_addresses_before_the_start(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, floatingips(env, 2, 1))
    env.at(0.99)
    (reservation,) = env.lease(lease).reservations
    with env.trial():
        changes = {"id": reservation.id, "amount": 1, "required_floatingips": [address(3)]}
        env.update(lease, reservations=[changes], end=3)
        env.at(1.1)
        assert env.may_fail or addresses_of(env, lease) == {address(3)}
        env.at(3.1)


def a_future_lease_for_the_same_address_is_deleted(env: ReconcilerEnv) -> None:
    running = env.create("a", 0, 2, floatingips(env, 1, 1))
    future = env.create("b", 2, 3, floatingips(env, 1, 1))
    env.at(1.99)
    before = existing(env)
    with env.trial():
        env.delete(future)
        env.run_until(1.991)
        assert existing(env) == before
        assert env.lease(running).status is LeaseStatus.ACTIVE
        env.at(2.1)


def addresses_deleted_while_active(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 2, floatingips(env, 2))
    env.at(1)
    with env.trial():
        env.delete(lease)
        env.at(1.1)


def addresses_overslept(env: ReconcilerEnv) -> None:
    env.create("a", 1, 2, floatingips(env, 3))
    env.create("b", 2, 4, floatingips(env, 3))
    with env.trial():
        env.jump(3)
        env.at(3.1)


def a_stranger_has_an_address(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, floatingips(env, 2))
    foreign = put(env, 1)
    env.run_until(0.99)
    with env.trial():
        env.at(1.1)
        assert env.may_fail or addresses_of(env, lease) == {address(2), address(3)}
        env.at(2.1)
        assert existing(env) == {address(1): foreign}


def a_stranger_has_a_required_address(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, floatingips(env, 2, 1))
    foreign = put(env, 1)
    env.run_until(0.99)
    with env.trial():
        env.run_until(1.0003)
        assert existing(env)[address(1)] == foreign
        take_away(env, foreign)
        env.at(1.1)
        assert env.may_fail or address(1) in addresses_of(env, lease)


def neutron_takes_an_address(env: ReconcilerEnv) -> None:
    """Remove an address from Neutron's allocation pools, then restore it."""
    lease = env.create("a", 0.5, 2, floatingips(env, 2))
    running = env.create("b", 0, 2, floatingips(env, 1, 3))
    env.at(0.1)
    own = existing(env)
    with env.trial():
        subnet_id = subnet_of(env)[1]
        env.cloud.set_allocation_pools(subnet_id, ((address(2), address(3)),))
        env.plan_periodic_task(CHECK_FLOATINGIPS)
        env.run_until(0.2)
        assert existing(env) == own
        env.cloud.set_allocation_pools(subnet_id, POOLS)
        env.at(0.55)
        assert env.may_fail or len(addresses_of(env, lease)) == 2
        assert addresses_of(env, running) == {address(3)}


def lost_addresses_are_swept(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 1, floatingips(env, 2))
    env.at(0.5)
    forget(env, lease)
    env.plan_periodic_task()
    with env.trial():
        env.run_until(1.05)
        env.at(1.06)
        assert not existing(env)


def address_comes(env: ReconcilerEnv) -> None:
    body = registration(env, 4)
    with env.trial():
        env.request(lambda service: service.create_floatingip(LESSEE, body), FloatingIPAlreadyRegistered)
        assert address(4) in {row.address for row in env.rows().floatingips}
        env.at(0.1)


def address_goes(env: ReconcilerEnv) -> None:
    floatingip_id = env.rows().floatingips[0].id
    with env.trial():
        env.request(lambda service: service.delete_floatingip(LESSEE, floatingip_id), FloatingIPNotFound)
        assert len(env.rows().floatingips) == 2
        env.at(0.1)


FLOATINGIP_SCENARIOS: tuple[Scenario, ...] = (
    representative(addresses_come_and_go, floatingips=3, before_end_lead=timedelta(hours=1)),
    further(addresses_come_now, floatingips=3),
    further(no_address_at_all, floatingips=3),
    further(addresses_beside_hosts, floatingips=3),
    further(addresses_back_to_back, floatingips=3),
    representative(addresses_are_in_use, floatingips=3),
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
