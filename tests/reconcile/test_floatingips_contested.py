"""Floating IPs that are affected by two operations at the same time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reconcile.floatingips import address, addresses_of, floatingips, registration
from reconcile.parts import Conditions
from reconcile.reconciler_env import LESSEE, ReconcilerEnv

from blazar.domain.lease import LeaseStatus
from blazar.plugins.floatingips.check import check_floatingips
from blazar.plugins.floatingips.errors import (
    FloatingIPAlreadyRegistered,
    FloatingIPReserved,
    NotEnoughFloatingIPs,
)


@pytest.fixture(autouse=True)
def two_floatingips(env: ReconcilerEnv) -> None:
    env.reset(Conditions(floatingips=2))


def floatingip_id(env: ReconcilerEnv, number: int) -> str:
    return next(str(row.id) for row in env.rows().floatingips if row.address == address(number))


def test_what_is_reserved_at_the_last_moment_is_not_removed(env: ReconcilerEnv) -> None:
    wanted = floatingip_id(env, 1)
    env.store.overtake(lambda: env.create("a", 1, 2, floatingips(env, 1, 1)))

    with pytest.raises(FloatingIPReserved):
        env.manager.service.delete_floatingip(LESSEE, wanted)

    assert floatingip_id(env, 1) == wanted


def test_what_is_removed_at_the_last_moment_is_not_promised(env: ReconcilerEnv) -> None:
    wanted = floatingip_id(env, 1)
    env.store.overtake(lambda: env.manager.service.delete_floatingip(LESSEE, wanted))

    env.create("a", 1, 2, floatingips(env, 1))

    assert {row.resource_id for row in env.rows().allocations} == {floatingip_id(env, 2)}


def test_of_two_who_register_an_address_one_is_refused(env: ReconcilerEnv) -> None:
    body = registration(env, 3)
    env.store.overtake(lambda: env.manager.service.create_floatingip(LESSEE, body))

    with pytest.raises(FloatingIPAlreadyRegistered):
        env.manager.service.create_floatingip(LESSEE, body)

    assert len(env.rows().floatingips) == 3


def test_of_two_who_want_the_last_address_one_is_refused(env: ReconcilerEnv) -> None:
    other = env.new_manager().service
    body = {
        "name": "b",
        "start_date": env.date(1),
        "end_date": env.date(2),
        "reservations": [floatingips(env, 2)],
    }
    env.store.overtake(lambda: other.create_lease(LESSEE, body))

    with pytest.raises(NotEnoughFloatingIPs):
        env.manager.service.create_lease(LESSEE, body)

    assert len(env.leases()) == 1


@pytest.mark.parametrize(
    "operation", ["networks.list_floating_ips", "networks.find_network", "networks.list_subnets"]
)
@pytest.mark.parametrize("is_starting", [True, False])
def test_a_lease_that_starts_or_ends_during_a_check_is_not_a_foreign_owner(
    env: ReconcilerEnv, operation: str, is_starting: bool
) -> None:
    def start() -> None:
        env.create("a", "now", 2, floatingips(env, 2))
        env.run_due()

    def end() -> None:
        env.delete(env.leases()[0].id)
        env.run_due()

    if not is_starting:
        start()
    _during(env, operation, start if is_starting else end)

    assert check_floatingips(env.manager.context, "manager") == {}
    assert [each.status for each in env.leases()] == ([LeaseStatus.ACTIVE] if is_starting else [])


def test_a_check_between_the_two_steps_of_a_start_harms_no_lease(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, floatingips(env, 1, 1))
    found: list[object] = []
    _during(
        env,
        "networks.set_floating_ip_tags",
        lambda: found.append(check_floatingips(env.new_manager().context, "manager")),
    )

    env.at(1.1)

    assert found == [{}]
    assert addresses_of(env, lease) == {address(1)}


def _during(env: ReconcilerEnv, operation: str, act: Callable[[], None]) -> None:
    """Run *act* just before the next call of an operation; faults do not apply to the act's own calls."""

    def exempt() -> None:
        with env.faults.exempt():
            act()

    env.faults.before(operation, exempt)
