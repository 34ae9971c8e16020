"""Concurrent requests do not all choose the same resources."""

from __future__ import annotations

from reconcile.lab import Lab
from reconcile.parts import Conditions

from blazar.booking.contention import Contention
from blazar.booking.search import find_resources, search_for
from blazar.domain.interval import Interval

HOSTS = 12


def chosen(lab: Lab, seed: int) -> str:
    """Return the ID of the host that a request would be given now."""
    lease = lab.lease(lab.leases()[0].id)
    context = lab.manager.context
    context.random.seed(seed)
    window = Interval(lab.instant(5), lab.instant(6))
    search = search_for(context, lease, lease.reservations[0], window)
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


def test_who_is_alone_is_given_the_first_and_others_any_that_is_alike(lab: Lab) -> None:
    lab.reset(Conditions(hosts=HOSTS))
    lab.create("lease", 1, 2)
    contention = lab.manager.context.contention

    alone = {chosen(lab, seed) for seed in range(20)}
    with contention.counted(), contention.counted():
        together = {chosen(lab, seed) for seed in range(20)}

    assert len(alone) == 1
    assert len(together) > HOSTS / 2


def test_each_request_counts_while_it_is_tried(lab: Lab) -> None:
    lab.reset(Conditions(hosts=2))
    contention = lab.manager.context.contention
    seen: list[bool] = []
    lab.store.overtake(lambda: seen.append(contention.is_present))

    with contention.counted():
        lab.create("lease", 1, 2)

    assert seen == [True]
    assert not contention.is_present
