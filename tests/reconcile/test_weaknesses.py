"""Known weaknesses of the reference service (groups A to C), by number; none of them may exist here.

Weaknesses in concurrency are in ``test_concurrency.py``, those of partial failures (14, 17, 20, 22) in
``test_scenarios.py``, and double allocations, which the database refuses (4), in the store's tests.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from reconcile.parts import Conditions, lease_body
from reconcile.questions import everything, fails, host_id
from reconcile.reconciler_env import LESSEE, ReconcilerEnv

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import CloudUnavailable, InvalidPeriod, LeaseNotFound
from blazar.plugins.hosts.errors import HostHasServers, NotEnoughHosts


def test_weakness_01_an_overtaken_request_chooses_another_host(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=2))
    rival = env.new_manager().service

    def overtake() -> None:
        rival.create_lease(LESSEE, lease_body("b", env.date(1), env.date(2)))

    env.store.overtake(overtake)
    lease = env.create("a", 1, 2)

    env.at(1.1)
    assert len(env.leases()) == 2
    assert len(env.hosts_of(lease)) == 1


def test_weakness_01_who_was_overtaken_at_the_last_host_is_refused(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=1))
    rival = env.new_manager().service

    def overtake() -> None:
        rival.create_lease(LESSEE, lease_body("b", env.date(1), env.date(2)))

    env.store.overtake(overtake)
    with pytest.raises(NotEnoughHosts):
        env.create("a", 1, 2)

    env.at(1.1)


def test_weakness_03_a_lease_that_was_deleted_during_its_update_stays_deleted(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2)
    rival = env.new_manager().service

    env.store.overtake(lambda: rival.delete_lease(LESSEE, lease))
    with pytest.raises(LeaseNotFound):
        env.update(lease, end=3)

    env.at(1.1)
    assert env.leases() == ()


def test_weakness_09_as_many_hosts_as_can_be_had_up_to_the_maximum(env: ReconcilerEnv) -> None:
    env.create("used before", 1, 2, (2, 2))

    lease = env.create("a", 3, 4, (1, 3))

    env.at(3.1)
    assert len(env.hosts_of(lease)) == 3


def test_weakness_09_numbers_are_compared_as_numbers(env: ReconcilerEnv) -> None:
    env.create("a", 1, 2, hypervisor_properties='[">=", "$vcpus", "4"]')
    with pytest.raises(NotEnoughHosts):
        env.create("b", 3, 4, hypervisor_properties='[">=", "$vcpus", "1000"]')


def test_weakness_10_cleaning_time_is_owed_when_a_lease_is_extended(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=1, cleaning_time=timedelta(minutes=30)))
    first = env.create("a", 1, 2)
    env.create("b", 3, 4)
    before = everything(env)

    with pytest.raises(NotEnoughHosts):
        env.update(first, end=2.75)

    assert everything(env) == before
    env.update(first, end=2.5)


def test_weakness_11_a_reduction_needs_no_room_for_a_second_copy(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, (3, 3))

    env.resize(lease, 1, 2)

    env.at(1.1)
    assert len(env.hosts_of(lease)) == 2


def test_weakness_12_a_lease_that_has_ended_does_not_come_back_in_the_same_minute(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=1))
    lease = env.create("a", 1, 2)
    env.run_until(2 + 10 / 3600)

    with pytest.raises(InvalidPeriod):
        env.update(lease, end=3)

    env.create("b", 2.1, 3)
    env.at(2.2)


def test_weakness_12_a_lease_that_was_prepared_and_deleted_blocks_nothing(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=1, cleaning_time=timedelta(minutes=30)))
    lease = env.create("a", 1, 2)
    env.at(0.99)

    env.delete(lease)
    env.run_due()

    env.create("b", 1, 2)
    env.at(1.1)


def test_weakness_13_a_lease_whose_second_reservation_cannot_be_had_leaves_nothing(
    env: ReconcilerEnv,
) -> None:
    before = everything(env)

    with pytest.raises(NotEnoughHosts):
        env.create("a", 1, 2, (2, 2), (2, 2))

    assert everything(env) == before
    env.at(1.1)


@pytest.mark.parametrize("nth", range(1, 11))
def test_weakness_15_a_registration_that_failed_half_way_can_be_made_again(
    env: ReconcilerEnv, nth: int
) -> None:
    env.cloud.add_hypervisor("host-4")
    env.faults.add(fails("*", nth=nth))
    with pytest.raises(CloudUnavailable):
        env.manager.service.create_host(LESSEE, {"name": "host-4"})

    env.manager.service.create_host(LESSEE, {"name": "host-4"})

    env.host_names.append("host-4")
    env.create("a", 1, 2, (4, 4))
    env.at(1.1)


def test_weakness_16_a_host_whose_removal_placement_refuses_stays_usable(env: ReconcilerEnv) -> None:
    env.faults.add(fails("placement.delete_provider", status=409, times=1))

    with pytest.raises(HostHasServers):
        env.manager.service.delete_host(LESSEE, host_id(env, "host-1"))

    env.create("a", 1, 2, (3, 3))
    env.at(1.1)
    assert env.provider_names() == {"host-1", "host-2", "host-3"}


def test_weakness_17_a_lease_deleted_after_a_start_of_unknown_outcome_leaves_nothing(
    env: ReconcilerEnv,
) -> None:
    lease = env.create("a", 1, 2)
    env.faults.add(FaultRule(kind=FaultKind.LOSE_REPLY, operation="compute.create_aggregate"))
    env.run_until(58 / 60)

    env.delete(lease)
    env.faults.clear()

    env.at(0.98)
    assert env.leases() == ()


def test_weakness_18_an_update_of_several_reservations_happens_as_a_whole_or_not(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, (1, 1), (1, 1))
    first, second = env.lease(lease).reservations
    before = everything(env)

    with pytest.raises(NotEnoughHosts):
        env.update(
            lease,
            end=3,
            reservations=[{"id": first.id, "min": 2, "max": 2}, {"id": second.id, "min": 2, "max": 2}],
        )

    assert everything(env) == before
    env.at(1.1)
