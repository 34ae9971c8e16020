"""A lease whose resource is not released by its earlier holder gets another one, if one is free."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

import pytest
from reconcile.floatingips import floatingips
from reconcile.parts import Conditions, hosts
from reconcile.reconciler_env import ReconcilerEnv
from reconcile.slots import instances

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import CloudUnavailable
from blazar.domain.lease import LeaseStatus

SECOND = 1 / 3600
LONG = timedelta(minutes=10)
"""Longer than the release wait of a minute; a pass every two seconds looks whether it is over."""
KEEPS_ADDRESSES = FaultRule(
    kind=FaultKind.ERROR, operation="networks.delete_floating_ip", error=CloudUnavailable
)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of reservation that takes one whole resource of three."""

    asked: Callable[[ReconcilerEnv], Mapping[str, object]]
    stick: Callable[[ReconcilerEnv, str], None]
    """Makes it impossible to end a running lease."""


def boot_for_long(env: ReconcilerEnv, lease: str) -> None:
    env.cloud.servers.deletion_time = LONG
    for each in env.lease(lease).reservations:
        env.boot("", reservation_id=each.id)


def boot_slot_for_long(env: ReconcilerEnv, lease: str) -> None:
    env.cloud.servers.deletion_time = LONG
    reservation = env.lease(lease).reservations[0]
    env.cloud.boot_server("stays", "project", flavor_id=reservation.id)


def keep_addresses(env: ReconcilerEnv, lease: str) -> None:
    env.faults.add(KEEPS_ADDRESSES)


HOSTS = Kind(asked=lambda env: hosts(1, 1), stick=boot_for_long)
KINDS = {
    "hosts": HOSTS,
    "instances": Kind(asked=lambda env: instances(4), stick=boot_slot_for_long),
    "floatingips": Kind(asked=lambda env: floatingips(env, 1), stick=keep_addresses),
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def holding(env: ReconcilerEnv, lease: str) -> set[str]:
    """Return the IDs of the resources that a lease holds and has not released."""
    own = {each.id for each in env.lease(lease).reservations}
    return {
        row.resource_id
        for row in env.rows().allocations
        if row.reservation_id in own and row.released_at is None
    }


def meet(env: ReconcilerEnv, kind: Kind = HOSTS, idle: int = 2) -> tuple[str, str]:
    """Return a lease whose end is stuck, and one that is allocated the same resource next.

    Of three resources, *idle* are free at that time.
    """
    env.reset(Conditions(hosts=3, floatingips=3))
    others = [env.create(f"other {number}", 0.9, 9, kind.asked(env)) for number in range(2)]
    first = env.create("first", 0, 1, kind.asked(env))
    second = env.create("second", 1, 3, kind.asked(env))
    for each in others[:idle]:
        env.delete(each)
    env.at(0.5)
    kind.stick(env, first)
    assert holding(env, second) == holding(env, first)
    return first, second


@every_kind
def test_a_stuck_end_delays_the_next_lease_by_the_release_wait_only(env: ReconcilerEnv, kind: Kind) -> None:
    first, second = meet(env, kind)

    env.run_until(1 + 59 * SECOND)
    assert env.lease(second).status is LeaseStatus.STARTING
    env.run_until(1 + 61 * SECOND)

    assert env.lease(second).status is LeaseStatus.ACTIVE
    assert not holding(env, second) & holding(env, first)
    assert env.lease(first).status is LeaseStatus.TERMINATING
    told = [row.reason for row in env.rows().journal if row.event == "reservation.replaced"]
    assert len(told) == 1
    assert "was not released yet by reservation" in told[0]


@every_kind
def test_without_another_resource_the_next_lease_waits_and_gets_it_in_the_end(
    env: ReconcilerEnv, kind: Kind
) -> None:
    first, second = meet(env, kind, idle=0)
    env.run_until(1.1)
    assert env.lease(second).status is LeaseStatus.STARTING
    assert holding(env, second) == holding(env, first)

    env.faults.clear()
    env.run_until(1.3)

    assert env.lease(first).status is LeaseStatus.TERMINATED
    assert env.lease(second).status is LeaseStatus.ACTIVE


def test_one_of_two_is_replaced_where_there_is_one_for_one_of_them_only(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=3))
    other = env.create("other", 0.9, 9)
    first = env.create("first", 0, 1, (2, 2))
    second = env.create("second", 1, 3, (2, 2))
    env.delete(other)
    env.at(0.5)
    for name in env.hosts_of(first):
        env.cloud.servers.deletion_time = LONG
        env.boot(name)

    env.run_until(1.1)

    assert env.lease(second).status is LeaseStatus.STARTING
    assert len(holding(env, second) - holding(env, first)) == 1
    assert len(env.hosts_of(second)) == 1


def test_a_lease_after_a_pause_does_not_wait_for_what_has_been_stuck_for_long(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=2))
    others = [env.create("other", 0, 9)]
    first = env.create("first", 0, 1)
    second = env.create("second", 2, 3)
    env.delete(others[0])
    env.at(0.5)
    boot_for_long(env, first)

    env.run_until(2)

    assert env.lease(second).status is LeaseStatus.ACTIVE
