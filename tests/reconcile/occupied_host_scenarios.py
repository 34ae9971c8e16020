"""Life cycles of leases on hosts that are occupied by servers; see :mod:`reconcile.scenarios`."""

from __future__ import annotations

from datetime import timedelta

from reconcile.invariants import check_always
from reconcile.reconciler_env import ReconcilerEnv
from reconcile.scenarios import Scenario, further, representative

from blazar.domain.lease import LeaseStatus


def predecessor_is_late(env: ReconcilerEnv) -> None:
    first = env.create("a", 0, 2, (2, 3))
    second = env.create("b", 2, 4, (3, 3))
    env.at(1.9)
    env.boot(next(iter(env.hosts_of(first))))
    with env.trial():
        env.run_until(2.0003)
        check_always(env)
        assert env.lease(second).status is not LeaseStatus.ACTIVE
        env.at(2.1)


def foreign_server_in_the_way(env: ReconcilerEnv) -> None:
    env.create("a", 1, 2, (3, 3))
    server = env.boot("host-1", project_id="stranger")
    env.run_until(0.99)
    with env.trial():
        env.run_until(1.0003)
        check_always(env)
        env.remove_server(server)
        env.at(1.1)


def foreign_server_all_the_time(env: ReconcilerEnv) -> None:
    env.create("a", 1, 1.02, (3, 3))
    server = env.boot("host-1", project_id="stranger")
    env.run_until(1.0003)
    env.jump(1.019)
    with env.trial():
        env.at(1.1)
        with env.faults.exempt():
            assert [each.id for each in env.cloud.servers.list_servers()] == [server.id]


def foreign_server_makes_room_elsewhere(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2)
    (allocation,) = env.rows().allocations
    first = env.host_name(allocation.resource_id)
    server = env.boot(first, project_id="stranger")
    env.run_until(0.99)
    with env.trial():
        env.at(1.1)
        assert env.may_fail or env.hosts_of(lease).isdisjoint({first})
        env.at(2.1)
        assert env.servers().keys() == {server.id}


def fewer_hosts_are_enough(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, (2, 3))
    server = env.boot("host-2", project_id="stranger")
    env.run_until(0.99)
    with env.trial():
        env.at(1.1)
        assert env.may_fail or env.hosts_of(lease) == {"host-1", "host-3"}
        env.at(2.1)
        assert env.servers().keys() == {server.id}


def preemptible_servers_go(env: ReconcilerEnv) -> None:
    env.create("a", 1, 2, (3, 3))
    server = env.boot_preemptible("host-1")
    env.run_until(0.99)
    assert server.id in env.servers()
    with env.trial():
        env.at(1.1)
        assert env.may_fail or not env.servers()


def preemptible_servers_get_notice(env: ReconcilerEnv) -> None:
    env.create("a", 1, 2, (3, 3))
    server = env.boot_preemptible("host-1")
    env.run_until(0.96)
    with env.trial():
        env.run_until(0.99)
        assert server.id in env.servers()
        env.at(1.1)
        assert env.may_fail or not env.servers()


OCCUPIED_HOST_SCENARIOS: tuple[Scenario, ...] = (
    further(predecessor_is_late, server_deletion_time=timedelta(seconds=3)),
    further(foreign_server_in_the_way),
    further(foreign_server_all_the_time),
    further(foreign_server_makes_room_elsewhere),
    further(fewer_hosts_are_enough),
    further(preemptible_servers_go),
    representative(preemptible_servers_get_notice, preemption_notice=timedelta(seconds=90)),
)
