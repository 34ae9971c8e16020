"""Floating IPs that are affected by two operations at the same time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reconcile.floatingips import address, addresses_of, floatingips, registration
from reconcile.lab import LESSEE, Lab
from reconcile.parts import Conditions

from blazar.domain.errors import FloatingIPAlreadyRegistered, FloatingIPReserved, NotEnoughFloatingIPs
from blazar.domain.lease import LeaseStatus
from blazar.reconcile.periodic.floatingip_check import check_floatingips


@pytest.fixture(autouse=True)
def two_floatingips(lab: Lab) -> None:
    lab.reset(Conditions(floatingips=2))


def floatingip_id(lab: Lab, number: int) -> str:
    return next(str(row.id) for row in lab.world().floatingips if row.address == address(number))


def test_what_is_reserved_at_the_last_moment_is_not_removed(lab: Lab) -> None:
    wanted = floatingip_id(lab, 1)
    lab.store.overtake(lambda: lab.create("a", 1, 2, floatingips(lab, 1, 1)))

    with pytest.raises(FloatingIPReserved):
        lab.manager.service.delete_floatingip(LESSEE, wanted)

    assert floatingip_id(lab, 1) == wanted


def test_what_is_removed_at_the_last_moment_is_not_promised(lab: Lab) -> None:
    wanted = floatingip_id(lab, 1)
    lab.store.overtake(lambda: lab.manager.service.delete_floatingip(LESSEE, wanted))

    lab.create("a", 1, 2, floatingips(lab, 1))

    assert {row.resource_id for row in lab.world().allocations} == {floatingip_id(lab, 2)}


def test_of_two_who_register_an_address_one_is_refused(lab: Lab) -> None:
    body = registration(lab, 3)
    lab.store.overtake(lambda: lab.manager.service.create_floatingip(LESSEE, body))

    with pytest.raises(FloatingIPAlreadyRegistered):
        lab.manager.service.create_floatingip(LESSEE, body)

    assert len(lab.world().floatingips) == 3


def test_of_two_who_want_the_last_address_one_is_refused(lab: Lab) -> None:
    other = lab.new_manager().service
    body = {
        "name": "b",
        "start_date": lab.date(1),
        "end_date": lab.date(2),
        "reservations": [floatingips(lab, 2)],
    }
    lab.store.overtake(lambda: other.create_lease(LESSEE, body))

    with pytest.raises(NotEnoughFloatingIPs):
        lab.manager.service.create_lease(LESSEE, body)

    assert len(lab.leases()) == 1


@pytest.mark.parametrize(
    "operation", ["networks.list_floating_ips", "networks.find_network", "networks.list_subnets"]
)
@pytest.mark.parametrize("is_starting", [True, False])
def test_a_lease_that_starts_or_ends_during_a_check_is_not_a_foreign_owner(
    lab: Lab, operation: str, is_starting: bool
) -> None:
    def start() -> None:
        lab.create("a", "now", 2, floatingips(lab, 2))
        lab.run_due()

    def end() -> None:
        lab.delete(lab.leases()[0].id)
        lab.run_due()

    if not is_starting:
        start()
    _during(lab, operation, start if is_starting else end)

    assert check_floatingips(lab.manager.context, "manager") == {}
    assert [each.status for each in lab.leases()] == ([LeaseStatus.ACTIVE] if is_starting else [])


def test_a_check_between_the_two_steps_of_a_start_harms_no_lease(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, floatingips(lab, 1, 1))
    found: list[object] = []
    _during(
        lab,
        "networks.set_floating_ip_tags",
        lambda: found.append(check_floatingips(lab.new_manager().context, "manager")),
    )

    lab.at(1.1)

    assert found == [{}]
    assert addresses_of(lab, lease) == {address(1)}


def _during(lab: Lab, operation: str, act: Callable[[], None]) -> None:
    """Run *act* just before the next call of an operation; faults do not apply to the act's own calls."""

    def exempt() -> None:
        with lab.faults.exempt():
            act()

    lab.faults.before(operation, exempt)
