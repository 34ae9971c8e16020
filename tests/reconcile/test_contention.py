"""Concurrent requests do not all choose the same resources."""

from __future__ import annotations

from reconcile.parts import Conditions
from reconcile.reconciler_env import ReconcilerEnv

from blazar.booking.contention import Contention
from blazar.booking.search import find_resources, search_for
from blazar.domain.interval import Interval

HOSTS = 12


def chosen(env: ReconcilerEnv, seed: int) -> str:
    """Return the ID of the host that a request would be given now."""
    lease = env.lease(env.leases()[0].id)
    context = env.manager.context
    context.random.seed(seed)
    window = Interval(env.instant(5), env.instant(6))
    search = search_for(context, lease, lease.reservations[0], window, ())
    (resource_id,) = find_resources(context, [search], 0).chosen[0]
    return str(resource_id)


def test_there_is_a_rush_while_several_are_at_it() -> None:
    contention = Contention()
    seen = [contention.is_present]
    with contention.counted():
        seen.append(contention.is_present)
        with contention.counted():
            seen.append(contention.is_present)
        seen.append(contention.is_present)

    assert seen == [False, False, True, False]


def test_who_is_alone_is_given_the_first_and_others_any_that_is_alike(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=HOSTS))
    env.create("lease", 1, 2)
    contention = env.manager.context.contention

    alone = {chosen(env, seed) for seed in range(20)}
    with contention.counted(), contention.counted():
        together = {chosen(env, seed) for seed in range(20)}

    assert len(alone) == 1
    assert len(together) > HOSTS / 2


def test_each_request_counts_while_it_is_tried(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=2))
    contention = env.manager.context.contention
    seen: list[bool] = []
    env.store.overtake(lambda: seen.append(contention.is_present))

    with contention.counted():
        env.create("lease", 1, 2)

    assert seen == [True]
    assert not contention.is_present
