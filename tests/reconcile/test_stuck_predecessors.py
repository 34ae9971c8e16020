"""A lease whose resource is not released by its earlier holder gets another one, if one is free."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

import pytest
from reconcile.floatingips import floatingips
from reconcile.lab import Lab
from reconcile.parts import Conditions, hosts
from reconcile.slots import instances

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import CloudUnavailable
from blazar.domain.lease import LeaseStatus

SECOND = 1 / 3600
LONG = timedelta(hours=1)
KEEPS_ADDRESSES = FaultRule(
    kind=FaultKind.ERROR, operation="networks.delete_floating_ip", error=CloudUnavailable
)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of reservation that takes one whole resource of three."""

    asked: Callable[[Lab], Mapping[str, object]]
    stick: Callable[[Lab, str], None]
    """Makes it impossible to end a running lease."""


def boot_for_long(lab: Lab, lease: str) -> None:
    lab.cloud.compute.deletion_time = LONG
    for each in lab.lease(lease).reservations:
        lab.boot("", reservation_id=each.id)


def boot_slot_for_long(lab: Lab, lease: str) -> None:
    lab.cloud.compute.deletion_time = LONG
    reservation = lab.lease(lease).reservations[0]
    lab.cloud.boot_server("stays", "project", flavor_id=reservation.id)


def keep_addresses(lab: Lab, lease: str) -> None:
    lab.faults.add(KEEPS_ADDRESSES)


HOSTS = Kind(asked=lambda lab: hosts(1, 1), stick=boot_for_long)
KINDS = {
    "hosts": HOSTS,
    "instances": Kind(asked=lambda lab: instances(4), stick=boot_slot_for_long),
    "floatingips": Kind(asked=lambda lab: floatingips(lab, 1), stick=keep_addresses),
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def holding(lab: Lab, lease: str) -> set[str]:
    """Return the IDs of the resources that a lease holds and has not released."""
    own = {each.id for each in lab.lease(lease).reservations}
    return {
        row.resource_id
        for row in lab.world().allocations
        if row.reservation_id in own and row.released_at is None
    }


def meet(lab: Lab, kind: Kind = HOSTS, idle: int = 2) -> tuple[str, str]:
    """Return a lease whose end is stuck, and one that is allocated the same resource next.

    Of three resources, *idle* are free at that time.
    """
    lab.reset(Conditions(hosts=3, floatingips=3))
    others = [lab.create(f"other {number}", 0.9, 9, kind.asked(lab)) for number in range(2)]
    first = lab.create("first", 0, 1, kind.asked(lab))
    second = lab.create("second", 1, 3, kind.asked(lab))
    for each in others[:idle]:
        lab.delete(each)
    lab.at(0.5)
    kind.stick(lab, first)
    assert holding(lab, second) == holding(lab, first)
    return first, second


@every_kind
def test_a_stuck_end_delays_the_next_lease_by_the_release_wait_only(lab: Lab, kind: Kind) -> None:
    first, second = meet(lab, kind)

    lab.run_until(1 + 59 * SECOND)
    assert lab.lease(second).status is LeaseStatus.STARTING
    lab.run_until(1 + 61 * SECOND)

    assert lab.lease(second).status is LeaseStatus.ACTIVE
    assert not holding(lab, second) & holding(lab, first)
    assert lab.lease(first).status is LeaseStatus.TERMINATING
    told = [row.reason for row in lab.world().journal if row.event == "reservation.replaced"]
    assert len(told) == 1
    assert "was not released yet by reservation" in told[0]


@every_kind
def test_without_another_resource_the_next_lease_waits_and_gets_it_in_the_end(lab: Lab, kind: Kind) -> None:
    first, second = meet(lab, kind, idle=0)
    lab.run_until(1.5)
    assert lab.lease(second).status is LeaseStatus.STARTING
    assert holding(lab, second) == holding(lab, first)

    lab.faults.clear()
    lab.run_until(2.1)

    assert lab.lease(first).status is LeaseStatus.TERMINATED
    assert lab.lease(second).status is LeaseStatus.ACTIVE


def test_one_of_two_is_replaced_where_there_is_one_for_one_of_them_only(lab: Lab) -> None:
    lab.reset(Conditions(hosts=3))
    other = lab.create("other", 0.9, 9)
    first = lab.create("first", 0, 1, (2, 2))
    second = lab.create("second", 1, 3, (2, 2))
    lab.delete(other)
    lab.at(0.5)
    for name in lab.hosts_of(first):
        lab.cloud.compute.deletion_time = LONG
        lab.boot(name)

    lab.run_until(1.5)

    assert lab.lease(second).status is LeaseStatus.STARTING
    assert len(holding(lab, second) - holding(lab, first)) == 1
    assert len(lab.hosts_of(second)) == 1


def test_a_lease_after_a_pause_does_not_wait_for_what_has_been_stuck_for_long(lab: Lab) -> None:
    lab.reset(Conditions(hosts=2))
    others = [lab.create("other", 0, 9)]
    first = lab.create("first", 0, 1)
    second = lab.create("second", 2, 3)
    lab.delete(others[0])
    lab.at(0.5)
    boot_for_long(lab, first)

    lab.run_until(2)

    assert lab.lease(second).status is LeaseStatus.ACTIVE
