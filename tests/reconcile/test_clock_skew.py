"""Managers whose clocks differ, and clocks that are set back: a lease that has started stays started."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

import pytest
from clocks import ManualClock
from reconcile.floatingips import floatingips
from reconcile.parts import Conditions, hosts
from reconcile.reconciler_env import LESSEE, ReconcilerEnv
from reconcile.slots import instances

from blazar.domain.errors import Unavailable
from blazar.domain.lease import LeaseStatus
from blazar_plugin_testing.service_env import ManagerProcess

BEHIND = timedelta(seconds=5)
LIMIT = timedelta(seconds=2)
Asked = Callable[[ReconcilerEnv], Mapping[str, object]]
every_type = pytest.mark.parametrize(
    "asked",
    [
        pytest.param(lambda env: hosts(1, 1), id="hosts"),
        pytest.param(lambda env: floatingips(env, 1), id="floatingips"),
        pytest.param(lambda env: instances(1), id="instances"),
    ],
)


def behind(env: ReconcilerEnv, by: timedelta = BEHIND) -> ManagerProcess:
    """Return another manager, whose clock is behind the environment's."""
    return env.new_manager(ManualClock(env.clock.now() - by))


def cloud_resources(env: ReconcilerEnv) -> object:
    """Return the resources that leases have in the cloud."""
    with env.faults.exempt():
        addresses = sorted((each.id, each.address) for each in env.cloud.networks.list_floating_ips())
        return env.aggregates(), addresses


@every_type
def test_a_change_by_a_manager_whose_clock_is_behind_leaves_a_started_lease_alone(
    env: ReconcilerEnv, asked: Asked
) -> None:
    env.reset(Conditions(hosts=3, floatingips=3))
    lease = env.create("a", 1, 3, asked(env))
    env.at(1)
    before = cloud_resources(env)
    other = behind(env)

    other.service.update_lease(LESSEE, lease, {"end_date": env.date(4)})
    other.reconciler.run_due()

    assert cloud_resources(env) == before
    assert env.lease(lease).status is LeaseStatus.ACTIVE
    env.at(1.5)
    assert cloud_resources(env) == before
    env.at(4)
    assert env.lease(lease).status is LeaseStatus.TERMINATED


@every_type
def test_a_clock_that_is_set_back_by_hours_takes_nothing_from_a_lessee(
    env: ReconcilerEnv, asked: Asked
) -> None:
    env.reset(Conditions(hosts=3, floatingips=3))
    lease = env.create("a", 3, 5, asked(env))
    env.at(3)
    before = cloud_resources(env)

    env.jump(1)
    env.plan_look(lease)
    env.run_due()

    assert cloud_resources(env) == before
    assert env.lease(lease).status is LeaseStatus.ACTIVE
    env.at(5)


@every_type
def test_a_lease_that_has_ended_does_not_come_back(env: ReconcilerEnv, asked: Asked) -> None:
    env.reset(Conditions(hosts=3, floatingips=3, server_deletion_time=timedelta(minutes=1)))
    free = cloud_resources(env)
    lease = env.create("a", 1, 2, asked(env))
    env.at(2.1)
    assert cloud_resources(env) == free

    env.plan_look(lease)
    behind(env, timedelta(hours=1)).reconciler.run_due()

    assert cloud_resources(env) == free
    assert env.lease(lease).status is LeaseStatus.TERMINATED


def test_an_end_that_is_under_way_goes_on_by_a_clock_that_is_behind(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=1, server_deletion_time=timedelta(seconds=20)))
    lease = env.create("a", 1, 2)
    env.at(1.5)
    env.boot("", reservation_id=env.lease(lease).reservations[0].id)
    env.run_until(2)
    assert env.lease(lease).status is LeaseStatus.TERMINATING

    env.plan_look(lease)
    behind(env).reconciler.run_due()

    assert env.lease(lease).status is LeaseStatus.TERMINATING
    env.at(2.1)
    assert env.lease(lease).status is LeaseStatus.TERMINATED


@every_type
def test_a_lease_that_is_deleted_by_a_clock_before_its_start_owes_its_cleaning_time(
    env: ReconcilerEnv, asked: Asked
) -> None:
    env.reset(Conditions(hosts=3, floatingips=3, cleaning_time=timedelta(minutes=10)))
    lease = env.create("a", 1, 3, asked(env))
    env.at(1)
    other = behind(env)

    other.service.delete_lease(LESSEE, lease)
    other.reconciler.run_due()

    assert env.leases() == ()
    assert [row.released_at is not None for row in env.rows().allocations] == [True]


class TestAManagerWhoseClockIsWrong:
    def test_claims_nothing_and_says_why(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 1, 2)
        wrong = env.new_manager(ManualClock(env.instant(1.5)), LIMIT)
        wrong.reconciler.compare_clocks()

        assert wrong.reconciler.run_due() == 0
        assert env.lease(lease).status is LeaseStatus.PENDING
        assert "5400.0 s ahead of the database's" in wrong.reconciler.problems()[0]

    def test_leaves_requests_that_change_leases_to_others_and_answers_the_rest(
        self, env: ReconcilerEnv
    ) -> None:
        lease = env.create("a", 1, 2)
        wrong = env.new_manager(ManualClock(env.clock.now() - BEHIND), LIMIT)
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

    def test_stops_in_the_middle_of_a_lease_and_leaves_it_to_others(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 1, 2, (2, 2))
        env.at(0.9)
        clock = ManualClock(env.instant(1))
        manager = env.new_manager(clock, LIMIT)
        env.jump(1)

        def go_wrong() -> None:
            clock.set(env.instant(1) + BEHIND)
            manager.reconciler.compare_clocks()

        env.faults.before("compute.add_host", go_wrong)
        manager.reconciler.run_due()

        assert env.lease(lease).status is LeaseStatus.STARTING
        env.at(1)
        assert env.lease(lease).status is LeaseStatus.ACTIVE

    def test_goes_on_when_its_clock_is_right_again(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 1, 2)
        env.jump(1)
        clock = ManualClock(env.instant(1) + BEHIND)
        manager = env.new_manager(clock, LIMIT)
        manager.reconciler.compare_clocks()
        assert manager.reconciler.run_due() == 0

        clock.set(env.instant(1))
        manager.reconciler.compare_clocks()

        assert manager.reconciler.run_due() > 0
        assert env.lease(lease).status is LeaseStatus.ACTIVE
