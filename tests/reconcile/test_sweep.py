"""A sweep removes leftovers of a lost reservation of slots: seen twice, slots first, failures retried."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import sqlalchemy as sa
from reconcile.leftovers import (
    CLASS,
    INTERVAL,
    LOST,
    classes_on,
    context_of,
    leave_aggregate,
    leave_all,
    leave_class,
    leave_flavor,
    leave_group,
    left,
    store_reservation,
    sweep_once,
    sweep_twice,
)
from reconcile.reconciler_env import FREEPOOL, ReconcilerEnv
from samples import know_a_lease

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.db import tables
from blazar.domain.errors import CloudUnavailable
from blazar.plugins.leftovers import Sweep
from blazar.reconcile.claims import Interrupted
from blazar.reconcile.sweep import Sweepings, sweep


@pytest.fixture(autouse=True)
def earlier_lease(env: ReconcilerEnv) -> None:
    know_a_lease(env.store)


def test_what_a_lost_reservation_left_goes_when_it_is_seen_the_second_time(env: ReconcilerEnv) -> None:
    group_id = leave_all(env)
    leave_class(env, "CUSTOM_GPU")
    everything = {f"class:{CLASS}", f"aggregate:{LOST}", f"flavor:{LOST}", f"group:{group_id}"}

    first = sweep_once(env)

    assert (set(first.found), first.removed) == (everything, ())
    assert left(env) == {*everything, "class:CUSTOM_GPU"}
    env.clock.advance(INTERVAL)
    second = sweep_once(env)
    assert set(second.found) == set(second.removed) == everything
    assert left(env) == {"class:CUSTOM_GPU"}
    assert (classes_on(env, "host-1"), classes_on(env, "host-2")) == ({"CUSTOM_GPU"}, set())
    assert env.aggregates() == {FREEPOOL: frozenset({"host-1", "host-2", "host-3"})}
    assert sweep_twice(env) == Sweepings(found=(), removed=())


def test_a_database_that_never_knew_a_lease_takes_nothing_of_an_installation_that_is_to_be_taken_over(
    env: ReconcilerEnv,
) -> None:
    with env.engine.begin() as connection:
        connection.execute(sa.delete(tables.journal))
    leave_all(env)
    before = left(env)

    sweep_once(env)
    env.clock.advance(INTERVAL)
    swept = sweep_once(env)

    assert (set(swept.found), swept.removed, left(env)) == (before, (), before)
    know_a_lease(env.store)
    assert set(sweep_once(env).removed) == before


def test_what_a_sweep_finds_and_removes_is_in_the_journal(env: ReconcilerEnv) -> None:
    leave_flavor(env)

    sweep_twice(env)

    entries = [(each.event, each.reason, each.lease_id, each.actor) for each in env.rows().journal]
    assert [each for each in entries if each[0].startswith("sweep")] == [
        ("sweep.found", f"flavor:{LOST}", None, "manager"),
        ("sweep.removed", f"flavor:{LOST}", None, "manager"),
    ]


@pytest.mark.parametrize(
    ("broken", "remaining"),
    [
        ("placement.delete_inventory", {"class", "aggregate", "flavor", "group"}),
        ("placement.delete_resource_class", {"class", "aggregate", "flavor", "group"}),
        ("compute.remove_host", {"aggregate", "flavor", "group"}),
        ("compute.delete_aggregate", {"aggregate", "flavor", "group"}),
        ("compute.delete_flavor", {"flavor", "group"}),
        ("compute.delete_server_group", {"group"}),
    ],
)
def test_slots_go_first_and_a_failure_is_made_up_for(
    env: ReconcilerEnv, broken: str, remaining: set[str]
) -> None:
    leave_all(env)
    sweep_once(env)
    env.clock.advance(INTERVAL)
    env.faults.add(FaultRule(kind=FaultKind.STATUS, status=503, operation=broken))

    with pytest.raises(CloudUnavailable):
        sweep_once(env)

    env.faults.clear()
    assert {each.partition(":")[0] for each in left(env)} == remaining
    env.clock.advance(timedelta(seconds=1))
    sweep_once(env)
    assert left(env) == set()


def test_a_group_is_kept_when_the_request_that_made_it_is_stored(env: ReconcilerEnv) -> None:
    group_id = leave_group(env)
    first = sweep_once(env)
    store_reservation(env, is_deployed=True)

    env.clock.advance(INTERVAL)

    assert first.found == (f"group:{group_id}",)
    assert sweep_once(env).found == ()
    assert left(env) == {f"group:{group_id}"}


def test_a_sweep_that_is_repeated_at_once_is_not_the_second_time(env: ReconcilerEnv) -> None:
    """Otherwise the server group of a request in progress would be deleted."""
    group_id = leave_group(env)
    sweep_once(env)

    removed = []
    for seconds in (0, 1, 598, 1):
        env.clock.advance(timedelta(seconds=seconds))
        removed.append(sweep_once(env).removed)

    assert removed == [(), (), (), (f"group:{group_id}",)]


def test_what_comes_to_life_while_it_is_swept_is_kept(env: ReconcilerEnv) -> None:
    leave_class(env, host_names=())
    leave_flavor(env)
    sweep_once(env)
    env.clock.advance(INTERVAL)
    env.faults.before("placement.delete_resource_class", lambda: store_reservation(env, is_deployed=True))

    swept = sweep_once(env)

    assert (set(swept.found), swept.removed) == (
        {f"class:{CLASS}", f"flavor:{LOST}"},
        (f"class:{CLASS}",),
    )
    assert left(env) == {f"flavor:{LOST}"}


def test_a_class_that_servers_use_is_reported_and_left_alone(
    env: ReconcilerEnv, caplog: pytest.LogCaptureFixture
) -> None:
    group_id = leave_all(env)
    server = env.cloud.boot_server("mine", "project", flavor_id=LOST)

    swept = sweep_twice(env)

    assert f"class:{CLASS}" in swept.found
    assert set(swept.removed) == {f"aggregate:{LOST}", f"flavor:{LOST}", f"group:{group_id}"}
    assert left(env) == {f"class:{CLASS}"}
    assert (classes_on(env, "host-1"), classes_on(env, "host-2")) == ({CLASS}, set())
    assert not env.servers()[server.id].is_deleting
    assert f"cannot remove a leftover: object=class:{CLASS} reason=inventory of {CLASS} on" in caplog.text
    env.remove_server(server)
    assert sweep_once(env).removed == (f"class:{CLASS}",)
    assert left(env) == set()


@pytest.mark.parametrize("operation", ["compute.list_server_groups", "compute.delete_server_group"])
def test_what_nova_forbids_does_not_stop_the_rest(env: ReconcilerEnv, operation: str) -> None:
    group_id = leave_all(env)
    env.faults.add(FaultRule(kind=FaultKind.STATUS, status=403, operation=operation))

    swept = sweep_twice(env)

    env.faults.clear()
    assert set(swept.removed) == {f"class:{CLASS}", f"aggregate:{LOST}", f"flavor:{LOST}"}
    assert left(env) == {f"group:{group_id}"}


def test_aggregates_that_cannot_be_read_do_not_stop_the_rest(env: ReconcilerEnv) -> None:
    group_id = leave_all(env)
    env.faults.add(FaultRule(kind=FaultKind.STATUS, status=403, operation="compute.list_aggregates"))

    swept = sweep_twice(env)

    env.faults.clear()
    assert set(swept.removed) == {f"class:{CLASS}", f"flavor:{LOST}", f"group:{group_id}"}
    assert left(env) == {f"aggregate:{LOST}"}


def test_a_sweep_whose_cloud_hangs_does_not_block_another_one(env: ReconcilerEnv) -> None:
    """Several managers may run in one process, each with its own cloud."""
    leave_all(env)
    hangs, continues = threading.Event(), threading.Event()

    def hang() -> None:
        hangs.set()
        assert continues.wait(timeout=60)

    env.faults.before("compute.list_aggregates", hang)
    stuck = threading.Thread(target=sweep_once, args=(env,), daemon=True)
    stuck.start()
    assert hangs.wait(timeout=60)

    other = Sweep(cloud=env.cloud, store=env.store, clock=env.clock, check_claim=lambda: None)
    with ThreadPoolExecutor(1) as pool:
        try:
            assert LOST in {each.name for each in pool.submit(other.aggregates).result(timeout=60)}
        finally:
            continues.set()
            stuck.join(timeout=60)


def test_a_concurrent_removal_is_no_failure(env: ReconcilerEnv) -> None:
    leave_all(env)
    sweep_once(env)
    env.clock.advance(INTERVAL)
    env.faults.before("compute.delete_flavor", lambda: env.cloud.flavors.delete_flavor(LOST))

    swept = sweep_once(env)

    assert f"flavor:{LOST}" in swept.removed
    assert left(env) == set()


def test_a_host_that_leaves_the_aggregate_at_the_same_time_is_no_failure(env: ReconcilerEnv) -> None:
    leave_aggregate(env, reservation=LOST)
    sweep_once(env)
    env.clock.advance(INTERVAL)
    aggregate_id = next(each.id for each in env.cloud.aggregates.list_aggregates() if each.name == LOST)
    env.faults.before("compute.remove_host", lambda: env.cloud.aggregates.remove_host(aggregate_id, "host-1"))

    assert sweep_once(env).removed == (f"aggregate:{LOST}",)
    assert LOST not in env.aggregates()


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_a_sweep_ends_when_it_is_interrupted(env: ReconcilerEnv, steps: int) -> None:
    """The interruption comes before a removal, or while the hosts are checked one by one."""
    leave_class(env, host_names=("host-1",))
    leave_flavor(env)
    sweep_once(env)
    env.clock.advance(INTERVAL)
    everything, remaining = left(env), iter(range(steps))

    def interrupt() -> None:
        if next(remaining, None) is None:
            raise Interrupted("sweep")

    with pytest.raises(Interrupted):
        sweep(context_of(env), "manager", check_claim=interrupt)

    assert left(env) == everything
    assert classes_on(env, "host-1") == {CLASS}


def test_a_sweep_that_is_interrupted_between_two_removals_keeps_the_second(env: ReconcilerEnv) -> None:
    leave_class(env, host_names=())
    leave_flavor(env)
    sweep_once(env)
    env.clock.advance(INTERVAL)
    removals = iter([CLASS])

    def interrupt() -> None:
        if next(removals, None) is None:
            raise Interrupted("sweep")

    with pytest.raises(Interrupted):
        sweep(context_of(env), "manager", check_claim=interrupt)

    assert left(env) == {f"flavor:{LOST}"}
