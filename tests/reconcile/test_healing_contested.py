"""Healing with competitors: the current holder, the next holder, and concurrent changes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from reconcile.healing import DISABLED, FAILED, diagnose, fail, flags, promised_hosts, recover
from reconcile.parts import Asked, Conditions
from reconcile.questions import host_id
from reconcile.reconciler_env import LESSEE, ReconcilerEnv
from reconcile.slots import boot, instances, revise, slots_by_host

from blazar.booking.health import record_health
from blazar.domain.health import HEALTHY, Diagnosis
from blazar.domain.lease import LeaseStatus, ResourceId
from blazar.plugins.hosts.errors import NotEnoughHosts
from blazar.reconcile.periodic.tasks import DELETE_BOOKINGS

SLOW = timedelta(minutes=8)


def on_host(number: int) -> dict[str, str]:
    return {"hypervisor_properties": f'["==", "$hypervisor_hostname", "host-{number}"]'}


def test_a_host_that_comes_back_waits_for_who_has_it_still(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=2, server_deletion_time=SLOW))
    before = env.create("before", 0, 1, (1, 1), **on_host(1))
    lease = env.create("a", 1, 4, instances(8))
    env.at(0.5)
    env.boot("host-1")
    fail(env, "host-1")
    env.run_until(1.02)
    assert env.lease(lease).status is LeaseStatus.ACTIVE
    assert env.lease(before).status is LeaseStatus.TERMINATING

    recover(env, "host-1")
    env.run_until(1.1)
    assert slots_by_host(env, env.lease(lease).reservations[0]) == {"host-2": 4}

    env.at(1.2)
    assert slots_by_host(env, env.lease(lease).reservations[0]) == {"host-1": 4, "host-2": 4}


def test_what_a_lessee_uses_while_the_lease_still_starts_is_not_taken_away(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=3, server_deletion_time=SLOW))
    env.create("before", 0, 1, (1, 1), **on_host(2))
    env.create("in the way", 0, 3, (1, 1), **on_host(3))
    lease = env.create("a", 1, 2, (2, 2))
    env.at(0.5)
    env.boot("host-2")
    env.run_until(1.05)
    assert env.lease(lease).status is LeaseStatus.STARTING
    assert env.hosts_of(lease) == {"host-1"}
    server = env.boot("host-1")

    fail(env, "host-1")
    env.at(1.2)
    assert env.hosts_of(lease) == promised_hosts(env, lease) == {"host-1", "host-2"}
    assert server.id in env.servers()

    env.at(2.2)
    assert env.lease(lease).status is LeaseStatus.TERMINATED


def test_servers_of_others_do_not_keep_a_failed_host_that_was_never_handed_over(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=3, server_deletion_time=SLOW))
    env.create("before", 0, 1, (1, 1), **on_host(1))
    env.create("in the way", 0.9, 1.02, (1, 1), **on_host(3))
    lease = env.create("a", 1, 4, (2, 2))
    env.at(0.5)
    env.boot("host-1")
    fail(env, "host-1")

    env.run_until(1.1)

    assert env.hosts_of(lease) == promised_hosts(env, lease) == {"host-2", "host-3"}


def test_a_host_that_was_taken_from_an_active_lease_is_cleaned(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=2, cleaning_time=timedelta(minutes=30)))
    lease = env.create("a", 0, 4)
    env.at(1)
    fail(env, "host-1")
    env.at(1.1)
    assert env.hosts_of(lease) == {"host-2"}
    recover(env, "host-1")
    env.at(1.2)

    with pytest.raises(NotEnoughHosts):
        env.create("too early", 1.4, 3)

    env.create("b", 1.7, 3)
    env.at(1.8)


def test_a_lease_can_be_ended_although_others_had_what_came_into_it(env: ReconcilerEnv) -> None:
    env.reset(Conditions(cleaning_time=timedelta(minutes=30)))
    env.create("before", 0, 1, (1, 1), **on_host(2))
    env.create("in the way", 0, 9, (1, 1), **on_host(3))
    lease = env.create("a", 0, 4)
    env.at(1.6)
    fail(env, *env.hosts_of(lease))
    env.at(1.7)
    assert env.hosts_of(lease) == {"host-2"}

    env.update(lease, end="now")

    env.at(1.8)
    assert env.lease(lease).status is LeaseStatus.TERMINATED


@pytest.mark.parametrize("asked", [(2, 2), instances(8)])
def test_a_lease_is_extended_although_others_still_have_a_failed_host_of_it(
    env: ReconcilerEnv, asked: Asked
) -> None:
    env.reset(Conditions(hosts=2, server_deletion_time=SLOW))
    env.create("before", 0, 1, (1, 1), **on_host(1))
    lease = env.create("a", 1, 2, asked)
    env.at(0.5)
    env.boot("host-1")
    fail(env, "host-1")
    env.run_until(1.02)
    assert env.lease(lease).status is LeaseStatus.ACTIVE

    env.update(lease, end=3)
    recover(env, "host-1")

    env.at(2.5)
    assert env.hosts_of(lease) == {"host-1", "host-2"}


def test_a_failed_host_is_replaced_while_another_is_still_waited_for(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=3, server_deletion_time=SLOW))
    env.create("before", 0, 1, (1, 1), **on_host(2))
    env.create("in the way", 0.9, 1.05, (1, 1), **on_host(3))
    lease = env.create("a", 1, 4, (2, 2))
    env.at(0.5)
    env.boot("host-2")
    fail(env, "host-1")

    env.run_until(1.1)

    assert env.lease(lease).status is LeaseStatus.STARTING
    assert env.hosts_of(lease) == {"host-3"}


def test_an_active_lease_keeps_what_nothing_takes_the_place_of(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 4, (2, 3))
    env.at(0.1)

    fail(env, "host-1")
    env.at(0.2)
    assert flags(env, lease)["missing_resources"]
    recover(env, "host-1")
    env.at(0.3)

    assert env.hosts_of(lease) == {"host-1", "host-2", "host-3"}
    assert not any(flags(env, lease).values())


def test_resources_are_locked_before_work(env: ReconcilerEnv) -> None:
    env.create("a", 0.5, 2)
    fail(env, "host-1")
    written: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        written.append(" ".join(statement.split()[:2]))

    sa.event.listen(env.engine, "before_cursor_execute", note)
    env.run_due()
    sa.event.remove(env.engine, "before_cursor_execute", note)

    replaced = written.index("DELETE FROM")
    begun = max(at for at in range(replaced) if written[at] == "UPDATE leases")
    assert "UPDATE work" not in written[begun:replaced]
    assert "UPDATE resources" in written[begun:replaced]


def test_what_frees_nothing_wakes_no_lease_with_missing_resources(env: ReconcilerEnv) -> None:
    lease, other = env.create("a", 0, 9, (2, 2)), env.create("b", 0, 3)
    env.at(0.1)
    fail(env, *env.host_names)
    env.at(0.2)
    assert flags(env, lease)["missing_resources"]

    env.update(other, end=4)
    assert not is_due(env, lease)

    env.update(other, end=2)
    assert is_due(env, lease)


def is_due(env: ReconcilerEnv, lease_id: str) -> bool:
    return any(row.key == lease_id and row.due_at <= env.clock.now() for row in env.rows().work)


@pytest.mark.parametrize("interval", [timedelta(0), timedelta(hours=1)])
def test_what_is_given_up_while_it_is_sought_is_found(env: ReconcilerEnv, interval: timedelta) -> None:
    env.reset(Conditions(healing_interval=interval))
    lease, other = env.create("a", 0, 4, (2, 2)), env.create("b", 2, 3)
    assert promised_hosts(env, other) == {"host-3"}
    env.at(0.1)

    fail(env, "host-1")
    env.faults.before("compute.list_aggregates", lambda: env.delete(other))
    env.at(0.2)

    assert env.hosts_of(lease) == {"host-2", "host-3"}


@pytest.mark.parametrize("diagnosis", [FAILED, DISABLED])
def test_a_lease_that_grows_gets_nothing_more_of_a_host_that_is_not_sound(
    env: ReconcilerEnv, diagnosis: Diagnosis
) -> None:
    lease = env.create("a", 0, 4, instances(2))
    env.at(0.1)
    server = boot(env, env.lease(lease).reservations[0])
    assert server.service_host == "host-1"
    diagnose(env, "host-1", diagnosis)

    revise(env, lease, amount=4)
    env.at(0.2)

    assert slots_by_host(env, env.lease(lease).reservations[0]) == {"host-1": 2, "host-2": 2}


def test_what_is_clean_again_is_taken_by_who_misses_something(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=2, cleaning_time=timedelta(minutes=15)))
    env.create("before", 0, 0.2, (1, 1), **on_host(2))
    env.plan_periodic_task(DELETE_BOOKINGS)
    lease = env.create("a", 0.3, 9)
    env.at(0.1)
    fail(env, "host-1")
    env.at(0.4)
    assert flags(env, lease)["missing_resources"]

    env.at(0.7)

    assert env.hosts_of(lease) == {"host-2"}
    assert not flags(env, lease)["missing_resources"]


def test_a_host_that_is_made_to_fit_is_taken_by_who_misses_something(env: ReconcilerEnv) -> None:
    env.manager.service.update_host(LESSEE, host_id(env, "host-1"), {"rack": "r1"})
    lease = env.create("a", 0.5, 9, (1, 1), resource_properties='["==", "$rack", "r1"]')
    fail(env, "host-1")
    env.at(0.1)
    assert flags(env, lease)["missing_resources"]

    env.manager.service.update_host(LESSEE, host_id(env, "host-2"), {"rack": "r1"})
    env.at(0.2)

    assert promised_hosts(env, lease) == {"host-2"}


def test_what_another_monitor_has_found_out_meanwhile_is_compared_with(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0.5, 9, (1, 1), **on_host(1))
    context, found = env.manager.context, ResourceId(host_id(env, "host-1"))
    env.store.overtake(lambda: record_health(context, "another", found, "host-1", FAILED))

    record_health(context, "monitor", found, "host-1", FAILED)
    env.at(0.1)
    record_health(context, "monitor", found, "host-1", HEALTHY)
    env.at(0.2)

    assert not any(flags(env, lease).values())
    changes = [row.reason for row in env.rows().journal if row.event == "resource.health"]
    assert changes == [f"host-1: sound -> failed: {FAILED.problem}", "host-1: failed -> sound"]
