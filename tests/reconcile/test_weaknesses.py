"""Known weaknesses of the reference service (groups A to C), by number; none of them may exist here.

Weaknesses in concurrency are in ``test_concurrency.py``, those of partial failures (14, 17, 20, 22) in
``test_scenarios.py``, and double allocations, which the database refuses (4), in the store's tests.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from reconcile.lab import LESSEE, Lab
from reconcile.parts import Conditions, lease_body
from reconcile.questions import everything, fails, host_id

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import (
    CloudUnavailable,
    HostHasServers,
    InvalidPeriod,
    LeaseNotFound,
    NotEnoughHosts,
)


def test_weakness_01_an_overtaken_request_chooses_another_host(lab: Lab) -> None:
    lab.reset(Conditions(hosts=2))
    rival = lab.new_manager().service

    def overtake() -> None:
        rival.create_lease(LESSEE, lease_body("b", lab.date(1), lab.date(2)))

    lab.store.overtake(overtake)
    lease = lab.create("a", 1, 2)

    lab.at(1.1)
    assert len(lab.leases()) == 2
    assert len(lab.hosts_of(lease)) == 1


def test_weakness_01_who_was_overtaken_at_the_last_host_is_refused(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1))
    rival = lab.new_manager().service

    def overtake() -> None:
        rival.create_lease(LESSEE, lease_body("b", lab.date(1), lab.date(2)))

    lab.store.overtake(overtake)
    with pytest.raises(NotEnoughHosts):
        lab.create("a", 1, 2)

    lab.at(1.1)


def test_weakness_03_a_lease_that_was_deleted_during_its_update_stays_deleted(lab: Lab) -> None:
    lease = lab.create("a", 1, 2)
    rival = lab.new_manager().service

    lab.store.overtake(lambda: rival.delete_lease(LESSEE, lease))
    with pytest.raises(LeaseNotFound):
        lab.update(lease, end=3)

    lab.at(1.1)
    assert lab.leases() == ()


def test_weakness_09_as_many_hosts_as_can_be_had_up_to_the_maximum(lab: Lab) -> None:
    lab.create("used before", 1, 2, (2, 2))

    lease = lab.create("a", 3, 4, (1, 3))

    lab.at(3.1)
    assert len(lab.hosts_of(lease)) == 3


def test_weakness_09_numbers_are_compared_as_numbers(lab: Lab) -> None:
    lab.create("a", 1, 2, hypervisor_properties='[">=", "$vcpus", "4"]')
    with pytest.raises(NotEnoughHosts):
        lab.create("b", 3, 4, hypervisor_properties='[">=", "$vcpus", "1000"]')


def test_weakness_10_cleaning_time_is_owed_when_a_lease_is_extended(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1, cleaning_time=timedelta(minutes=30)))
    first = lab.create("a", 1, 2)
    lab.create("b", 3, 4)
    before = everything(lab)

    with pytest.raises(NotEnoughHosts):
        lab.update(first, end=2.75)

    assert everything(lab) == before
    lab.update(first, end=2.5)


def test_weakness_11_a_reduction_needs_no_room_for_a_second_copy(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, (3, 3))

    lab.resize(lease, 1, 2)

    lab.at(1.1)
    assert len(lab.hosts_of(lease)) == 2


def test_weakness_12_a_lease_that_has_ended_does_not_come_back_in_the_same_minute(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1))
    lease = lab.create("a", 1, 2)
    lab.run_until(2 + 10 / 3600)

    with pytest.raises(InvalidPeriod):
        lab.update(lease, end=3)

    lab.create("b", 2.1, 3)
    lab.at(2.2)


def test_weakness_12_a_lease_that_was_prepared_and_deleted_blocks_nothing(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1, cleaning_time=timedelta(minutes=30)))
    lease = lab.create("a", 1, 2)
    lab.at(0.99)

    lab.delete(lease)
    lab.run_due()

    lab.create("b", 1, 2)
    lab.at(1.1)


def test_weakness_13_a_lease_whose_second_reservation_cannot_be_had_leaves_nothing(lab: Lab) -> None:
    before = everything(lab)

    with pytest.raises(NotEnoughHosts):
        lab.create("a", 1, 2, (2, 2), (2, 2))

    assert everything(lab) == before
    lab.at(1.1)


@pytest.mark.parametrize("nth", range(1, 11))
def test_weakness_15_a_registration_that_failed_half_way_can_be_made_again(lab: Lab, nth: int) -> None:
    lab.cloud.add_hypervisor("host-4")
    lab.faults.add(fails("*", nth=nth))
    with pytest.raises(CloudUnavailable):
        lab.manager.service.create_host(LESSEE, {"name": "host-4"})

    lab.manager.service.create_host(LESSEE, {"name": "host-4"})

    lab.host_names.append("host-4")
    lab.create("a", 1, 2, (4, 4))
    lab.at(1.1)


def test_weakness_16_a_host_whose_removal_placement_refuses_stays_usable(lab: Lab) -> None:
    lab.faults.add(fails("placement.delete_provider", status=409, times=1))

    with pytest.raises(HostHasServers):
        lab.manager.service.delete_host(LESSEE, host_id(lab, "host-1"))

    lab.create("a", 1, 2, (3, 3))
    lab.at(1.1)
    assert lab.provider_names() == {"host-1", "host-2", "host-3"}


def test_weakness_17_a_lease_deleted_after_a_start_of_unknown_outcome_leaves_nothing(lab: Lab) -> None:
    lease = lab.create("a", 1, 2)
    lab.faults.add(FaultRule(kind=FaultKind.LOSE_REPLY, operation="compute.create_aggregate"))
    lab.run_until(58 / 60)

    lab.delete(lease)
    lab.faults.clear()

    lab.at(0.98)
    assert lab.leases() == ()


def test_weakness_18_an_update_of_several_reservations_happens_as_a_whole_or_not(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, (1, 1), (1, 1))
    first, second = lab.lease(lease).reservations
    before = everything(lab)

    with pytest.raises(NotEnoughHosts):
        lab.update(
            lease,
            end=3,
            reservations=[{"id": first.id, "min": 2, "max": 2}, {"id": second.id, "min": 2, "max": 2}],
        )

    assert everything(lab) == before
    lab.at(1.1)
