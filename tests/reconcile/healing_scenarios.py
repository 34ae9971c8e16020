"""Life cycles of leases whose hosts fail; see :mod:`reconcile.scenarios`."""

from __future__ import annotations

from reconcile.healing import fail, flags, promised_hosts, recover
from reconcile.reconciler_env import ReconcilerEnv
from reconcile.scenarios import further, representative
from reconcile.slots import boot, instances, slots_by_host

from blazar.domain.lease import LeaseStatus


def moved_when_its_host_fails(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0.5, 2, (2, 2))
    kept = promised_hosts(env, lease) - {"host-1"}
    with env.trial():
        fail(env, "host-1")
        env.at(0.1)
        assert promised_hosts(env, lease) > kept
        assert "host-1" not in promised_hosts(env, lease)
        assert not any(flags(env, lease).values())
        env.at(0.6)


def moved_when_prepared_for_it(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2)
    env.at(0.99)
    (first,) = promised_hosts(env, lease)
    with env.trial():
        fail(env, first)
        env.at(1.1)
        assert promised_hosts(env, lease).isdisjoint({first})


def moved_when_the_start_has_come_near(env: ReconcilerEnv) -> None:
    lease = env.create("a", 5, 6)
    (first,) = promised_hosts(env, lease)
    with env.trial():
        fail(env, first)
        env.at(3.9)
        assert promised_hosts(env, lease) == {first}
        assert not any(flags(env, lease).values())
        env.at(4.1)
        assert promised_hosts(env, lease).isdisjoint({first})


def replaced_while_idle(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 4, (2, 2))
    env.at(1)
    (kept,) = env.hosts_of(lease) - {"host-1"}
    with env.trial():
        fail(env, "host-1")
        env.at(1.1)
        if env.lease(lease).status is LeaseStatus.ACTIVE:
            assert env.hosts_of(lease) > {kept}
            assert "host-1" not in env.hosts_of(lease)
            assert flags(env, lease) == {
                "degraded": True,
                "missing_resources": False,
                "resources_changed": True,
            }
        recover(env, "host-1")
        env.at(1.2)
        assert not any(flags(env, lease).values())
        env.at(4.1)


def kept_while_in_use(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 4)
    env.at(1)
    (host,) = env.hosts_of(lease)
    server = env.boot(host)
    with env.trial():
        fail(env, host)
        env.at(1.1)
        assert env.hosts_of(lease) == {host}
        assert server.id in env.servers()
        assert flags(env, lease)["missing_resources"]
        recover(env, host)
        env.at(1.2)
        assert not any(flags(env, lease).values())


def replaced_when_its_servers_have_gone(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 4)
    env.at(1)
    (host,) = env.hosts_of(lease)
    server = env.boot(host)
    with env.trial():
        fail(env, host)
        env.at(1.1)
        env.remove_server(server)
        env.at(2.2)
        assert env.may_fail or env.hosts_of(lease).isdisjoint({host})


def missing_until_a_host_returns(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0.5, 3, (3, 3))
    with env.trial():
        fail(env, "host-1", "host-2", "host-3")
        env.at(0.1)
        assert flags(env, lease)["missing_resources"]
        recover(env, "host-2", "host-3")
        env.at(0.2)
        assert flags(env, lease)["missing_resources"]
        recover(env, "host-1")
        env.at(0.3)
        assert not any(flags(env, lease).values())
        env.at(0.6)


def healed_by_what_another_lease_gives_back(env: ReconcilerEnv) -> None:
    first = env.create("a", 0, 0.4, (2, 2))
    second = env.create("b", 0.5, 3, (1, 1), hypervisor_properties='["==", "$hypervisor_hostname", "host-3"]')
    third = env.create("c", 0.45, 3, (2, 2))
    env.at(0.1)
    with env.trial():
        fail(env, "host-1")
        env.at(0.2)
        assert flags(env, third)["missing_resources"]
        env.delete(second)
        env.at(0.3)
        assert promised_hosts(env, third) == {"host-2", "host-3"}
        env.at(0.6)
        assert env.lease(first).status is LeaseStatus.TERMINATED


def one_of_two_is_replaced(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0.5, 2, (2, 2))
    with env.trial():
        fail(env, *promised_hosts(env, lease))
        env.at(0.1)
        assert "host-3" in promised_hosts(env, lease)
        assert flags(env, lease)["missing_resources"]
        env.at(0.6)


def slots_moved_before_the_start(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0.5, 2, instances(6))
    kept = promised_hosts(env, lease) - {"host-1"}
    with env.trial():
        fail(env, "host-1")
        env.at(0.1)
        assert promised_hosts(env, lease) >= kept
        assert "host-1" not in promised_hosts(env, lease)
        env.at(0.6)


def idle_slots_are_replaced(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 4, instances(2))
    env.at(1)
    (host,) = promised_hosts(env, lease)
    with env.trial():
        fail(env, host)
        env.at(1.1)
        if env.lease(lease).status is LeaseStatus.ACTIVE:
            assert host not in slots_by_host(env, env.lease(lease).reservations[0])
            assert flags(env, lease)["resources_changed"]
        env.at(4.1)


def slots_in_use_are_kept(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 4, instances(2))
    env.at(1)
    server = boot(env, env.lease(lease).reservations[0])
    with env.trial():
        fail(env, server.service_host)
        env.at(1.1)
        assert promised_hosts(env, lease) == {server.service_host}
        assert flags(env, lease)["missing_resources"]
        recover(env, server.service_host)
        env.at(1.2)
        assert not any(flags(env, lease).values())


HEALING_SCENARIOS = (
    representative(moved_when_its_host_fails),
    further(moved_when_prepared_for_it),
    further(moved_when_the_start_has_come_near),
    representative(replaced_while_idle),
    further(replaced_while_idle, zone="az1"),
    further(kept_while_in_use),
    further(replaced_when_its_servers_have_gone),
    further(missing_until_a_host_returns),
    further(healed_by_what_another_lease_gives_back),
    further(one_of_two_is_replaced),
    further(slots_moved_before_the_start),
    representative(idle_slots_are_replaced),
    further(slots_in_use_are_kept),
)
