"""Managers whose clocks differ, and clocks that are set back: a lease that has started stays started."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

import pytest
from clocks import ManualClock
from reconcile.floatingips import floatingips
from reconcile.lab import LESSEE, Lab
from reconcile.parts import Conditions, hosts
from reconcile.slots import instances

from blazar.domain.errors import Unavailable
from blazar.domain.lease import LeaseStatus
from blazar_plugin_testing.service_env import ManagerProcess

BEHIND = timedelta(seconds=5)
LIMIT = timedelta(seconds=2)
Asked = Callable[[Lab], Mapping[str, object]]
every_type = pytest.mark.parametrize(
    "asked",
    [
        pytest.param(lambda lab: hosts(1, 1), id="hosts"),
        pytest.param(lambda lab: floatingips(lab, 1), id="floatingips"),
        pytest.param(lambda lab: instances(1), id="instances"),
    ],
)


def behind(lab: Lab, by: timedelta = BEHIND) -> ManagerProcess:
    """Return another manager, whose clock is behind the lab's."""
    return lab.new_manager(ManualClock(lab.clock.now() - by))


def outside(lab: Lab) -> object:
    """Return the resources that leases have in the cloud."""
    with lab.faults.exempt():
        addresses = sorted((each.id, each.address) for each in lab.cloud.networks.list_floating_ips())
        return lab.aggregates(), addresses


@every_type
def test_a_change_by_a_manager_whose_clock_is_behind_leaves_a_started_lease_alone(
    lab: Lab, asked: Asked
) -> None:
    lab.reset(Conditions(hosts=3, floatingips=3))
    lease = lab.create("a", 1, 3, asked(lab))
    lab.at(1)
    before = outside(lab)
    other = behind(lab)

    other.service.update_lease(LESSEE, lease, {"end_date": lab.date(4)})
    other.reconciler.run_due()

    assert outside(lab) == before
    assert lab.lease(lease).status is LeaseStatus.ACTIVE
    lab.at(1.5)
    assert outside(lab) == before
    lab.at(4)
    assert lab.lease(lease).status is LeaseStatus.TERMINATED


@every_type
def test_a_clock_that_is_set_back_by_hours_takes_nothing_from_a_lessee(lab: Lab, asked: Asked) -> None:
    lab.reset(Conditions(hosts=3, floatingips=3))
    lease = lab.create("a", 3, 5, asked(lab))
    lab.at(3)
    before = outside(lab)

    lab.jump(1)
    lab.plan_look(lease)
    lab.run_due()

    assert outside(lab) == before
    assert lab.lease(lease).status is LeaseStatus.ACTIVE
    lab.at(5)


@every_type
def test_a_lease_that_has_ended_does_not_come_back(lab: Lab, asked: Asked) -> None:
    lab.reset(Conditions(hosts=3, floatingips=3, server_deletion_time=timedelta(minutes=1)))
    free = outside(lab)
    lease = lab.create("a", 1, 2, asked(lab))
    lab.at(2.1)
    assert outside(lab) == free

    lab.plan_look(lease)
    behind(lab, timedelta(hours=1)).reconciler.run_due()

    assert outside(lab) == free
    assert lab.lease(lease).status is LeaseStatus.TERMINATED


def test_an_end_that_is_under_way_goes_on_by_a_clock_that_is_behind(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1, server_deletion_time=timedelta(seconds=20)))
    lease = lab.create("a", 1, 2)
    lab.at(1.5)
    lab.boot("", reservation_id=lab.lease(lease).reservations[0].id)
    lab.run_until(2)
    assert lab.lease(lease).status is LeaseStatus.TERMINATING

    lab.plan_look(lease)
    behind(lab).reconciler.run_due()

    assert lab.lease(lease).status is LeaseStatus.TERMINATING
    lab.at(2.1)
    assert lab.lease(lease).status is LeaseStatus.TERMINATED


@every_type
def test_a_lease_that_is_deleted_by_a_clock_before_its_start_owes_its_cleaning_time(
    lab: Lab, asked: Asked
) -> None:
    lab.reset(Conditions(hosts=3, floatingips=3, cleaning_time=timedelta(minutes=10)))
    lease = lab.create("a", 1, 3, asked(lab))
    lab.at(1)
    other = behind(lab)

    other.service.delete_lease(LESSEE, lease)
    other.reconciler.run_due()

    assert lab.leases() == ()
    assert [row.released_at is not None for row in lab.world().allocations] == [True]


class TestAManagerWhoseClockIsWrong:
    def test_claims_nothing_and_says_why(self, lab: Lab) -> None:
        lease = lab.create("a", 1, 2)
        wrong = lab.new_manager(ManualClock(lab.instant(1.5)), LIMIT)
        wrong.reconciler.compare_clocks()

        assert wrong.reconciler.run_due() == 0
        assert lab.lease(lease).status is LeaseStatus.PENDING
        assert "5400.0 s ahead of the database's" in wrong.reconciler.problems()[0]

    def test_leaves_requests_that_change_leases_to_others_and_answers_the_rest(self, lab: Lab) -> None:
        lease = lab.create("a", 1, 2)
        wrong = lab.new_manager(ManualClock(lab.clock.now() - BEHIND), LIMIT)
        wrong.reconciler.compare_clocks()

        for change in (
            lambda: wrong.service.create_lease(LESSEE, {}),
            lambda: wrong.service.update_lease(LESSEE, lease, {"name": "b"}),
            lambda: wrong.service.delete_lease(LESSEE, lease),
        ):
            with pytest.raises(Unavailable, match="clock of this manager is wrong"):
                change()
        assert wrong.service.get_lease(LESSEE, lease)["name"] == "a"
        assert len(wrong.service.list_hosts(LESSEE)) == 3

    def test_stops_in_the_middle_of_a_lease_and_leaves_it_to_others(self, lab: Lab) -> None:
        lease = lab.create("a", 1, 2, (2, 2))
        lab.at(0.9)
        clock = ManualClock(lab.instant(1))
        manager = lab.new_manager(clock, LIMIT)
        lab.jump(1)

        def go_wrong() -> None:
            clock.set(lab.instant(1) + BEHIND)
            manager.reconciler.compare_clocks()

        lab.faults.before("compute.add_host", go_wrong)
        manager.reconciler.run_due()

        assert lab.lease(lease).status is LeaseStatus.STARTING
        lab.at(1)
        assert lab.lease(lease).status is LeaseStatus.ACTIVE

    def test_goes_on_when_its_clock_is_right_again(self, lab: Lab) -> None:
        lease = lab.create("a", 1, 2)
        lab.jump(1)
        clock = ManualClock(lab.instant(1) + BEHIND)
        manager = lab.new_manager(clock, LIMIT)
        manager.reconciler.compare_clocks()
        assert manager.reconciler.run_due() == 0

        clock.set(lab.instant(1))
        manager.reconciler.compare_clocks()

        assert manager.reconciler.run_due() > 0
        assert lab.lease(lease).status is LeaseStatus.ACTIVE
