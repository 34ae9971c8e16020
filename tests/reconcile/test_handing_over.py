"""Handover and release of hosts while other actions interfere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from reconcile.invariants import check_settled
from reconcile.parts import Conditions
from reconcile.reconciler_env import FREEPOOL, LESSEE, ReconcilerEnv

from blazar.domain.errors import CloudConflict
from blazar.domain.lease import LeaseStatus
from blazar.plugins.hosts.errors import HostReserved
from blazar.plugins.hosts.preemption import closings
from blazar.plugins.hosts.refresh import refresh_hosts

SECOND = 1 / 3600


def keep_doing(env: ReconcilerEnv, operation: str, act: Callable[[], object]) -> None:
    """Run *act* before every call of an operation."""

    def again() -> None:
        env.faults.before(operation, again)
        with env.faults.exempt():
            act()

    env.faults.before(operation, again)


def once_in_no_zone(env: ReconcilerEnv, host: str, act: Callable[[], object]) -> None:
    """Run *act* once, just before a host that is only in the freepool is added to another aggregate."""

    def look() -> None:
        if [name for name, hosts in env.aggregates().items() if host in hosts] == [FREEPOOL]:
            act()
        else:
            env.faults.before("compute.add_host", look)

    env.faults.before("compute.add_host", look)


@pytest.mark.parametrize("hosts", [3, 8])
def test_unusable_hosts_are_left_behind_until_a_usable_one_is_found(env: ReconcilerEnv, hosts: int) -> None:
    env.reset(Conditions(hosts=hosts))
    lease = env.create("a", 1, 3)
    for name in env.host_names[:-1]:
        env.boot(name, project_id="stranger")

    env.at(2)

    assert env.hosts_of(lease) == {env.host_names[-1]}


def test_two_reservations_of_one_lease_both_get_other_hosts(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=4))
    lease = env.create("a", 1, 2, (1, 1), (1, 1))
    env.boot("host-1", project_id="stranger")
    env.boot("host-2", project_id="stranger")

    env.at(1.5)

    assert env.hosts_of(lease) == {"host-3", "host-4"}


def test_where_all_hosts_are_unusable_the_pauses_grow_until_one_is_not(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=2))
    lease = env.create("a", 1, 3)
    servers = [env.boot(name, project_id="stranger") for name in env.host_names]
    env.run_until(1)
    before = env.counted

    env.run_until(2)

    assert env.counted - before < 1000
    env.remove_server(servers[0])
    env.at(2.1)
    assert env.hosts_of(lease) == {"host-1"}


def test_another_host_is_handed_over_at_once_while_the_other_reservation_waits(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=3, server_deletion_time=timedelta(seconds=20)))
    lease = env.create("a", 1, 2, (1, 1), (1, 1))
    env.boot("host-1", project_id="stranger")
    env.boot_preemptible("host-2")

    env.run_until(1 + SECOND / 2)

    assert env.hosts_of(lease) == {"host-3"}
    env.at(1.1)


def test_who_replaces_servers_as_they_go_does_not_keep_the_host(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=1, server_deletion_time=timedelta(seconds=3)))
    lease = env.create("a", 0, 1)
    env.at(0.5)
    reservation_id = env.lease(lease).reservations[0].id
    refusals: list[CloudConflict] = []

    def replace_servers() -> None:
        if all(each.is_deleting for each in env.servers().values()):
            try:
                env.boot("", reservation_id=reservation_id)
            except CloudConflict as error:
                refusals.append(error)

    keep_doing(env, "compute.list_servers", replace_servers)

    env.at(1.1)

    assert refusals
    assert not env.servers()


@pytest.mark.parametrize("zone", ["", "az1"])
def test_a_busy_queue_of_preemptible_servers_does_not_keep_a_host_from_its_next_holder(
    env: ReconcilerEnv, zone: str
) -> None:
    env.reset(Conditions(hosts=1, server_deletion_time=timedelta(seconds=3), zone=zone))
    env.create("a", 0, 1)
    second = env.create("b", 1, 2)
    env.at(0.5)
    booted = []

    def boot() -> None:
        (freepool,) = (each for each in env.cloud.aggregates.list_aggregates() if each.name == FREEPOOL)
        is_busy = any(not each.is_deleting for each in env.servers().values())
        if "host-1" in freepool.hosts and "host-1" not in closings(freepool) and not is_busy:
            booted.append(env.boot_preemptible("host-1"))

    for operation in ("compute.remove_host", "compute.list_servers", "compute.add_host"):
        keep_doing(env, operation, boot)

    env.run_until(1.1)

    assert booted
    assert env.lease(second).status is LeaseStatus.ACTIVE


def test_a_lease_that_is_deleted_while_its_host_is_in_no_zone_gives_it_back(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=2, zone="az1"))
    lease = env.create("a", 1, 2)
    env.at(0.99)

    def interfere() -> None:
        env.manager.service.delete_lease(LESSEE, lease)
        env.boot_preemptible("host-1")

    once_in_no_zone(env, "host-1", interfere)

    env.at(1.1)

    assert env.leases() == ()


def test_a_host_that_is_put_into_another_zone_on_its_way_back_stays_there(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=1, zone="az1"))
    lease = env.create("a", 0, 1)
    env.at(0.5)

    def move() -> None:
        with env.faults.exempt():
            env.cloud.aggregates.add_host(env.cloud.add_aggregate("rack", "az2").id, "host-1")

    once_in_no_zone(env, "host-1", move)

    env.run_until(1.1)

    assert env.lease(lease).status is LeaseStatus.TERMINATED
    assert env.aggregates() == {FREEPOOL: {"host-1"}, "rack": {"host-1"}, "az1": frozenset()}


def test_a_host_comes_back_to_all_aggregates_of_its_zone(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=1, zone="az1"))
    with env.faults.exempt():
        env.cloud.aggregates.add_host(env.cloud.add_aggregate("rack", "az1").id, "host-1")
    before = env.aggregates()
    lease = env.create("a", 1, 2)

    env.run_until(1.1)
    assert env.lease(lease).status is LeaseStatus.ACTIVE
    env.run_until(2.1)

    assert env.aggregates() == before


def test_a_refresh_during_a_start_does_not_take_the_reservation_s_zone_for_the_host_s(
    env: ReconcilerEnv,
) -> None:
    env.reset(Conditions(hosts=1, zone="az1"))
    env.create("a", 1, 2)
    env.at(0.99)
    env.clock.set(env.instant(1))

    env.faults.before("compute.list_availability_zones", env.run_due)
    refresh_hosts(env.manager.context, "operator")

    assert [row.availability_zone for row in env.rows().hosts] == ["az1"]
    check_settled(env)


def test_a_host_that_is_handed_over_while_it_is_to_be_removed_leaves_the_freepool_again(
    env: ReconcilerEnv,
) -> None:
    env.reset(Conditions(hosts=1))
    host_id = env.rows().hosts[0].id
    env.jump(0.001)

    def start() -> None:
        env.create("a", "now", 2)
        env.run_due()

    env.faults.before("placement.delete_provider", start)
    with pytest.raises(HostReserved):
        env.manager.service.delete_host(LESSEE, host_id)

    env.at(0.5)
