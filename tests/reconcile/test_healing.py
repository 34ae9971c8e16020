"""Healing beyond the scenarios, and the known weaknesses of the reference service's healing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from reconcile.healing import DISABLED, FAILED, diagnose, fail, flags, promised_hosts, recover
from reconcile.parts import Conditions
from reconcile.questions import host_id
from reconcile.reconciler_env import LESSEE, ReconcilerEnv
from reconcile.slots import add_source_flavors, boot, instances, of_flavor, revise, slots_by_host

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.lease import LeaseStatus
from blazar.plugins.hosts.errors import NotEnoughHosts

NOTHING = {"degraded": False, "missing_resources": False, "resources_changed": False}
ON_HOST_1 = {"hypervisor_properties": '["==", "$hypervisor_hostname", "host-1"]'}


def told(env: ReconcilerEnv, lease_id: str) -> Sequence[str]:
    """Return the notifications about degradation and healing that were sent for a lease."""
    turns = (key[1] for key, count in env.sent.counts.items() if key[0] == lease_id for _ in range(count))
    return [each for each in turns if each in ("lease.degraded", "lease.healed")]


def journal(env: ReconcilerEnv, lease_id: str, event: str) -> Sequence[str]:
    return [row.reason for row in env.rows().journal if row.lease_id == lease_id and row.event == event]


class TestWhatHasNotStarted:
    def test_only_what_failed_is_moved(self, env: ReconcilerEnv) -> None:
        env.reset(Conditions(hosts=8))
        lease = env.create("a", 0.5, 2, (4, 4))
        other = env.create("b", 0.5, 2, (2, 2))
        before, others = promised_hosts(env, lease), promised_hosts(env, other)

        fail(env, "host-2")
        env.at(0.1)

        assert before - promised_hosts(env, lease) == {"host-2"}
        assert promised_hosts(env, other) == others
        assert len(journal(env, lease, "reservation.replaced")) == 1
        assert journal(env, other, "reservation.replaced") == []

    def test_several_hosts_that_fail_at_once_are_replaced_at_once(self, env: ReconcilerEnv) -> None:
        env.reset(Conditions(hosts=8))
        lease = env.create("a", 0.5, 2, (4, 4))

        fail(env, "host-1", "host-2", "host-3")
        env.at(0.1)

        assert promised_hosts(env, lease).isdisjoint({"host-1", "host-2", "host-3"})
        assert len(promised_hosts(env, lease)) == 4

    def test_another_host_meets_the_same_requirements(self, env: ReconcilerEnv) -> None:
        env.reset(Conditions(hosts=4))
        lease = env.create(
            "a", 0.5, 2, (1, 1), hypervisor_properties='["!=", "$hypervisor_hostname", "host-2"]'
        )
        assert promised_hosts(env, lease) == {"host-1"}

        fail(env, "host-1")
        env.at(0.1)

        assert promised_hosts(env, lease) == {"host-3"}

    def test_where_no_other_host_meets_them_the_lease_waits_for_its_own(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 0.5, 2, (1, 1), **ON_HOST_1)

        fail(env, "host-1")
        env.at(0.1)
        assert flags(env, lease) == {**NOTHING, "degraded": True, "missing_resources": True}
        assert told(env, lease) == ["lease.degraded"]

        recover(env, "host-1")
        env.at(0.2)
        assert flags(env, lease) == NOTHING
        assert promised_hosts(env, lease) == {"host-1"}
        assert told(env, lease) == ["lease.degraded", "lease.healed"]

    def test_moving_before_the_start_is_no_news_to_the_lessee(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 0.5, 2)

        fail(env, "host-1")
        env.at(0.1)

        assert flags(env, lease) == NOTHING
        assert told(env, lease) == []

    def test_fewer_hosts_do_if_they_are_enough(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 0.5, 2, (2, 3))

        fail(env, "host-1")
        env.at(0.1)

        assert promised_hosts(env, lease) == {"host-2", "host-3"}
        assert flags(env, lease) == NOTHING

    def test_a_lease_begins_with_the_hosts_that_are_sound(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 0.5, 2, (3, 3))

        fail(env, "host-1")
        env.at(0.6)
        assert env.lease(lease).status is LeaseStatus.ACTIVE
        assert env.hosts_of(lease) == {"host-2", "host-3"}
        assert flags(env, lease)["missing_resources"]

        recover(env, "host-1")
        env.at(0.7)
        assert env.hosts_of(lease) == {"host-1", "host-2", "host-3"}
        assert flags(env, lease) == NOTHING

    def test_without_an_interval_distant_leases_are_moved_at_once(self, env: ReconcilerEnv) -> None:
        env.reset(Conditions(healing_interval=timedelta(0)))
        lease = env.create("a", 500, 501)

        fail(env, "host-1")
        env.at(0.1)

        assert promised_hosts(env, lease).isdisjoint({"host-1"})

    def test_a_failure_that_passes_before_a_distant_start_moves_nothing(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 5, 6)

        fail(env, "host-1")
        env.at(1)
        recover(env, "host-1")
        env.at(5.1)

        assert env.hosts_of(lease) == {"host-1"}
        assert journal(env, lease, "reservation.replaced") == []

    def test_a_registered_host_heals_who_waits(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 0.5, 2, (3, 3))
        fail(env, "host-1")
        env.at(0.1)

        env.cloud.add_hypervisor("host-4")
        env.manager.service.create_host(LESSEE, {"name": "host-4"})
        env.host_names.append("host-4")
        env.at(0.2)

        assert promised_hosts(env, lease) == {"host-2", "host-3", "host-4"}
        assert told(env, lease) == ["lease.degraded", "lease.healed"]

    def test_a_resource_released_by_a_change_is_taken(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 0.5, 2, (2, 2))
        other = env.create("b", 0.5, 2)
        fail(env, "host-1")
        env.at(0.1)
        assert flags(env, lease)["missing_resources"]

        env.update(other, start=7, end=8)
        env.at(0.2)

        assert promised_hosts(env, lease) == {"host-2", "host-3"}

    def test_nothing_that_waits_is_looked_at_without_need(self, env: ReconcilerEnv) -> None:
        env.create("a", 0.5, 30, (3, 3))
        fail(env, "host-1")
        env.at(1)
        before = env.counted

        env.run_until(25)

        assert env.counted - before <= 24 * 4


class TestWhatIsActive:
    def test_servers_are_never_taken_away(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 0, 9, (2, 2))
        env.at(0.1)
        servers = {env.boot("host-1").id}

        fail(env, "host-1", "host-2")
        env.at(5)

        assert env.servers().keys() == servers
        assert env.hosts_of(lease) == {"host-1", "host-3"}
        assert flags(env, lease) == {"degraded": True, "missing_resources": True, "resources_changed": True}

    def test_the_lessee_hears_of_each_turn(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 0, 9)
        env.at(0.1)

        fail(env, "host-1")
        env.at(0.2)
        assert told(env, lease) == ["lease.degraded"]

        recover(env, "host-1")
        env.at(0.3)
        assert told(env, lease) == ["lease.degraded", "lease.healed"]

    def test_the_end_is_no_healing(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 0, 1, (3, 3))
        env.at(0.1)
        fail(env, "host-1")
        env.at(0.2)

        env.at(1.1)

        assert flags(env, lease) == NOTHING
        assert told(env, lease) == ["lease.degraded"]

    def test_resources_added_later_are_released_like_the_rest(self, env: ReconcilerEnv) -> None:
        env.reset(Conditions(hosts=2, cleaning_time=timedelta(minutes=30)))
        on_host_2 = '["==", "$hypervisor_hostname", "host-2"]'
        before = env.create("before", 0, 1, (1, 1), hypervisor_properties=on_host_2)
        lease = env.create("a", 0, 4)
        env.at(1.6)
        assert env.lease(before).status is LeaseStatus.TERMINATED

        fail(env, *env.hosts_of(lease))
        env.at(1.7)
        assert env.hosts_of(lease) == {"host-2"}
        env.update(lease, end=6)
        env.at(1.8)
        env.delete(lease)
        env.at(1.9)

        assert [each.id for each in env.leases()] == [before]

    def test_a_change_of_an_active_lease_keeps_what_has_failed(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 0, 4, (3, 3))
        env.at(0.1)
        fail(env, "host-1")

        env.update(lease, end=5)
        env.at(0.2)

        assert env.hosts_of(lease) == {"host-1", "host-2", "host-3"}
        assert flags(env, lease)["missing_resources"]

    def test_a_host_that_is_unregistered_is_not_waited_for(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 0, 4)
        env.at(0.1)
        fail(env, "host-1")
        env.at(0.2)
        assert flags(env, lease)["resources_changed"]

        env.manager.service.delete_host(LESSEE, host_id(env, "host-1"))
        env.host_names.remove("host-1")
        env.at(0.3)

        assert flags(env, lease) == NOTHING


class TestWhatIsDisabled:
    def test_it_is_not_allocated_to_new_leases(self, env: ReconcilerEnv) -> None:
        env.reset(Conditions(hosts=1))
        diagnose(env, "host-1", DISABLED)

        with pytest.raises(NotEnoughHosts):
            env.create("a", 1, 2)

        recover(env, "host-1")
        env.create("b", 1, 2)
        env.at(1.1)

    def test_who_was_promised_it_gets_it(self, env: ReconcilerEnv) -> None:
        later, now = env.create("later", 0.5, 2), env.create("now", 0, 0.4, (2, 2))
        env.at(0.1)

        for each in env.host_names:
            diagnose(env, each, DISABLED)
        env.at(0.2)
        assert flags(env, later) == flags(env, now) == NOTHING

        env.update(later, end=3)
        env.at(0.6)
        assert env.lease(later).status is LeaseStatus.ACTIVE
        assert env.hosts_of(later) == promised_hosts(env, later)
        assert journal(env, later, "reservation.replaced") == []

    def test_it_may_fail_all_the_same(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 0.5, 2)
        diagnose(env, "host-1", DISABLED)
        env.at(0.1)

        diagnose(env, "host-1", FAILED)
        env.at(0.2)

        assert promised_hosts(env, lease) == {"host-2"}


class TestWhenTheCloudDoesNotAnswer:
    def test_flags_stay_until_it_does(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 0, 9)
        env.at(0.1)
        env.faults.add(FaultRule(kind=FaultKind.STATUS, operation="compute.*", every=1))

        fail(env, "host-1")
        env.run_until(0.2)
        assert flags(env, lease)["missing_resources"]
        env.faults.clear()
        env.at(0.3)

        assert env.hosts_of(lease) == {"host-2"}
        assert told(env, lease)[0] == "lease.degraded"


def test_weakness_41_all_kinds_of_reservations_are_healed_in_one_go(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=6))
    add_source_flavors(env)
    lease = env.create("a", 0.5, 2, (1, 1), instances(2), of_flavor(2))
    held = [promised_hosts(env, lease, position) for position in range(3)]

    fail(env, *frozenset().union(*held))
    env.at(0.1)

    for position, before in enumerate(held):
        assert promised_hosts(env, lease, position)
        assert promised_hosts(env, lease, position).isdisjoint(before)
    env.at(0.6)
    assert env.lease(lease).status is LeaseStatus.ACTIVE


def test_weakness_41_slots_in_use_stay_and_idle_ones_get_another_host(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=3))
    add_source_flavors(env)
    lease = env.create("a", 0, 4, of_flavor(2, affinity=False))
    env.at(0.1)
    reservation = env.lease(lease).reservations[0]
    used = boot(env, reservation).service_host
    (idle,) = slots_by_host(env, reservation).keys() - {used}

    fail(env, used, idle)
    env.at(0.2)

    assert slots_by_host(env, reservation).keys() == {used, *(set(env.host_names) - {used, idle})}
    assert flags(env, lease) == {"degraded": True, "missing_resources": True, "resources_changed": True}


def test_weakness_42_flags_say_what_is_true_now_and_recovered_hosts_are_used_again(
    env: ReconcilerEnv,
) -> None:
    running, later = env.create("running", 0, 9, (2, 2)), env.create("later", 0.5, 9)
    env.at(0.1)
    env.boot("host-1")

    fail(env, *env.host_names)
    env.at(0.2)
    assert flags(env, running)["missing_resources"]
    assert flags(env, later)["missing_resources"]

    recover(env, *env.host_names)
    env.at(0.6)
    assert flags(env, running) == flags(env, later) == NOTHING
    assert env.hosts_of(running) | env.hosts_of(later) == set(env.host_names)


def test_weakness_42_who_has_too_few_is_given_more_as_soon_as_that_can_be(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=4))
    env.create("in the way", 0, 0.3)
    lease = env.create("a", 0.5, 2, (3, 3))
    fail(env, "host-2")
    env.at(0.1)

    env.at(0.6)

    assert len(env.hosts_of(lease)) == 3
    assert flags(env, lease) == NOTHING


def test_weakness_44_one_lease_that_cannot_be_healed_does_not_hold_up_the_others(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=6, zone="az1"))
    stuck, idle = env.create("stuck", 0, 4), env.create("idle", 0, 4)
    later = env.create("later", 0.5, 4)
    env.at(0.1)
    hosts = [*env.hosts_of(stuck), *env.hosts_of(idle), *promised_hosts(env, later)]
    server = env.boot(hosts[0])

    fail(env, *hosts)
    env.at(0.2)

    assert env.hosts_of(stuck) == {hosts[0]}
    assert server.id in env.servers()
    assert env.hosts_of(idle).isdisjoint(hosts)
    assert promised_hosts(env, later).isdisjoint(hosts)


def test_what_a_lessee_gives_up_while_it_has_failed_is_given_up(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 4, instances(8))
    env.at(0.1)
    fail(env, *env.host_names)
    env.at(0.2)

    revise(env, lease, amount=4)
    env.at(0.3)

    assert sum(slots_by_host(env, env.lease(lease).reservations[0]).values()) == 4
