"""A manager's index of the database: changes by other managers arrive late and out of order."""

from __future__ import annotations

from datetime import timedelta

import pytest
from clocks import EPOCH
from databases import KINDS
from reconcile.parts import Conditions, lease_body
from reconcile.reconciler_env import LESSEE, EnvOn, ReconcilerEnv

from blazar.booking.index import Watermark
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation
from blazar.plugins.hosts.errors import NotEnoughHosts
from blazar_plugin_testing.service_env import ManagerProcess

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_log_has_forgotten_is_read_from_the_books(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=1))
    idle = env.new_manager()
    idle.service.create_lease(LESSEE, lease_body("a", env.date(1), env.date(2)))
    env.plan_periodic_task()
    env.create("b", 5, 6)
    env.run_until(4)

    idle.service.create_lease(LESSEE, lease_body("c", env.date(6), env.date(7)))
    with pytest.raises(NotEnoughHosts):
        idle.service.create_lease(LESSEE, lease_body("d", env.date(5), env.date(6)))

    env.at(5.1)


@pytest.fixture(params=["mariadb", "postgresql"])
def env_of_two(request: pytest.FixtureRequest, env_on: EnvOn) -> ReconcilerEnv:
    """Return an environment with two hosts, both allocated to a lease on the next day."""
    env = env_on(request.param)
    env.reset(Conditions(hosts=2))
    env.create("tomorrow", 24, 25, (2, 2))
    return env


def commit_late(env: ReconcilerEnv, other: ManagerProcess, books: bool) -> None:
    """Change the first host in a transaction that commits after *other* has stopped waiting for it."""
    (reservation,) = env.leases()[0].reservations
    with env.store.read() as transaction:
        generations = transaction.availability.all_generations("host")
    first, second = sorted(generations)
    with env.store.begin() as frozen:
        frozen.allocations.claim({first: generations[first]})
        if books:
            window = Interval(EPOCH + 5 * HOUR, EPOCH + 6 * HOUR)
            booked = Allocation(resource_id=first, reservation_id=reservation.id, window=window)
            frozen.allocations.insert([booked])
        with env.store.begin() as transaction:
            transaction.allocations.claim({second: generations[second]})
            transaction.commit()
        for _ in range(2):
            other.reconciler.refresh_indexes()
            env.clock.advance(5 * MINUTE)
        frozen.commit()


def test_a_late_commit_fails_no_request_that_relies_on_the_resource(env_of_two: ReconcilerEnv) -> None:
    other = env_of_two.new_manager()
    other.reconciler.refresh_indexes()
    commit_late(env_of_two, other, books=False)

    body = lease_body("late", env_of_two.date(5), env_of_two.date(6), (2, 2))
    other.service.create_lease(LESSEE, body)

    assert [each.name for each in env_of_two.leases()] == ["tomorrow", "late"]


def test_what_was_booked_by_a_commit_that_comes_late_is_not_promised_again(env_of_two: ReconcilerEnv) -> None:
    other = env_of_two.new_manager()
    other.reconciler.refresh_indexes()
    commit_late(env_of_two, other, books=True)

    start, end = env_of_two.date(5), env_of_two.date(6)
    with pytest.raises(NotEnoughHosts):
        other.service.create_lease(LESSEE, lease_body("both", start, end, (2, 2)))
    other.service.create_lease(LESSEE, lease_body("one", start, end, (1, 2)))

    assert [each.name for each in env_of_two.leases()] == ["tomorrow", "one"]


def test_a_manager_that_is_idle_for_long_need_not_load_everything_again(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=3))
    index = env.manager.context.indexes["host"]
    with index.searching() as first:
        pass

    for minutes in range(20, 240, 20):
        env.jump(minutes / 60)
        env.manager.reconciler.refresh_indexes()
    env.jump(4)
    with index.searching() as kept:
        pass
    env.jump(5)
    with index.searching() as loaded_again:
        pass

    assert kept is first
    assert loaded_again is not first


def test_numbers_that_come_late_are_still_new() -> None:
    watermark = Watermark(10)

    watermark.advance([12, 14], EPOCH)

    assert [each for each in range(10, 16) if watermark.is_new(each)] == [11, 13, 15]
    assert set(watermark.missing) == {11, 13}


def test_numbers_that_never_come_are_waited_for_together() -> None:
    watermark = Watermark(0)
    watermark.advance([3, 6], EPOCH)

    watermark.advance([9], EPOCH + MINUTE)

    assert set(watermark.missing) == {7, 8}
    watermark.advance([], EPOCH + 2 * MINUTE)
    assert set(watermark.missing) == set()


def test_a_log_that_was_purged_costs_nothing() -> None:
    watermark = Watermark(0)

    watermark.advance([10**12], EPOCH)

    assert watermark.is_new(10**12 - 1)
    watermark.advance([], EPOCH + MINUTE)
    assert set(watermark.missing) == set()
