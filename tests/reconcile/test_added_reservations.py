"""Reservations that are added and removed while others change the same lease or want its resources."""

from __future__ import annotations

from dataclasses import replace

import pytest
from databases import KINDS
from reconcile.parts import Conditions, hosts
from reconcile.reconciler_env import LESSEE, EnvOn, ReconcilerEnv

from blazar.domain.errors import CannotChange, Unavailable
from blazar.domain.lease import LeaseStatus, Reservation
from blazar.plugins.hosts.errors import NotEnoughHosts
from blazar_plugin_testing.faults import COMMIT_FAULTS

every_database = pytest.mark.parametrize("kind", KINDS)
CALLER = replace(LESSEE, api_version=(1, 1))


def reservations(env: ReconcilerEnv) -> list[Reservation]:
    return [each for lease in env.leases() for each in lease.reservations]


def change(env: ReconcilerEnv, lease_id: str, *items: object) -> None:
    env.manager.service.update_lease(CALLER, lease_id, {"reservations": list(items)})


def removal(env: ReconcilerEnv, lease_id: str, place: int = 0) -> dict[str, object]:
    return {"id": env.lease(lease_id).reservations[place].id, "remove": True}


@every_database
def test_added_and_removed_reservations_leave_nothing_behind(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=3))
    lease = env.create("a", 1, 3, (1, 1), (2, 2))

    change(env, lease, removal(env, lease, 1), hosts(1, 1))
    env.create("b", 1, 3, (1, 1))

    assert len(reservations(env)) == 3
    assert len(env.rows().allocations) == 3
    env.at(2)
    assert env.lease(lease).status is LeaseStatus.ACTIVE
    env.at(4)
    assert {each.status for each in env.leases()} == {LeaseStatus.TERMINATED}


@every_database
def test_an_addition_is_refused_if_another_lease_was_faster(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=2))
    lease = env.create("a", 1, 2, (1, 1))
    env.store.overtake(lambda: env.create("b", 1, 2, (1, 1)))

    with pytest.raises(NotEnoughHosts):
        change(env, lease, hosts(1, 1))

    assert len(env.lease(lease).reservations) == 1
    assert len(env.rows().allocations) == 2


@every_database
def test_an_addition_is_added_once_if_it_is_overtaken(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=2))
    lease = env.create("a", 1, 2, (1, 1))
    env.store.overtake(lambda: env.update(lease, end=3))

    change(env, lease, hosts(1, 1))

    assert env.lease(lease).end == env.instant(3)
    assert len(reservations(env)) == len(env.rows().allocations) == 2
    env.at(3.5)


def test_a_reservation_that_is_being_started_at_the_last_moment_is_not_removed(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, (1, 1), (1, 1))
    item = removal(env, lease)

    def start() -> None:
        env.jump(1)
        env.run_due()

    env.store.overtake(start)

    with pytest.raises(CannotChange):
        change(env, lease, item)

    assert len(env.lease(lease).reservations) == 2
    assert env.lease(lease).status is LeaseStatus.ACTIVE
    env.at(3.5)


@pytest.mark.parametrize("fault", ["fails", "reply-lost", "deadlock"])
def test_a_failed_commit_changes_all_or_nothing(env: ReconcilerEnv, fault: str) -> None:
    lease = env.create("a", 1, 2, (1, 1), (1, 1))
    env.store.arm(COMMIT_FAULTS[fault], 1)

    if fault == "deadlock":
        change(env, lease, removal(env, lease), hosts(2, 2))
    else:
        with pytest.raises(Unavailable):
            change(env, lease, removal(env, lease), hosts(2, 2))

    expected = 2 if fault == "fails" else 3
    assert len(reservations(env)) == 2
    assert len(env.rows().allocations) == expected
    env.at(3.5)
