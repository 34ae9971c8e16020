"""Healing beyond the scenarios, and the known weaknesses of the reference service's healing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from reconcile.healing import DISABLED, FAILED, diagnose, fail, flags, promised_hosts, recover
from reconcile.lab import LESSEE, Lab
from reconcile.parts import Conditions
from reconcile.questions import host_id
from reconcile.slots import add_source_flavors, boot, instances, of_flavor, revise, slots_by_host

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import NotEnoughHosts
from blazar.domain.lease import LeaseStatus

NOTHING = {"degraded": False, "missing_resources": False, "resources_changed": False}
ON_HOST_1 = {"hypervisor_properties": '["==", "$hypervisor_hostname", "host-1"]'}


def told(lab: Lab, lease_id: str) -> Sequence[str]:
    """Return the notifications about degradation and healing that were sent for a lease."""
    turns = (key[1] for key, count in lab.sent.counts.items() if key[0] == lease_id for _ in range(count))
    return [each for each in turns if each in ("lease.degraded", "lease.healed")]


def journal(lab: Lab, lease_id: str, event: str) -> Sequence[str]:
    return [row.reason for row in lab.world().journal if row.lease_id == lease_id and row.event == event]


class TestWhatHasNotStarted:
    def test_only_what_failed_is_moved(self, lab: Lab) -> None:
        lab.reset(Conditions(hosts=8))
        lease = lab.create("a", 0.5, 2, (4, 4))
        other = lab.create("b", 0.5, 2, (2, 2))
        before, others = promised_hosts(lab, lease), promised_hosts(lab, other)

        fail(lab, "host-2")
        lab.at(0.1)

        assert before - promised_hosts(lab, lease) == {"host-2"}
        assert promised_hosts(lab, other) == others
        assert len(journal(lab, lease, "reservation.replaced")) == 1
        assert journal(lab, other, "reservation.replaced") == []

    def test_several_hosts_that_fail_at_once_are_replaced_at_once(self, lab: Lab) -> None:
        lab.reset(Conditions(hosts=8))
        lease = lab.create("a", 0.5, 2, (4, 4))

        fail(lab, "host-1", "host-2", "host-3")
        lab.at(0.1)

        assert promised_hosts(lab, lease).isdisjoint({"host-1", "host-2", "host-3"})
        assert len(promised_hosts(lab, lease)) == 4

    def test_another_host_meets_the_same_requirements(self, lab: Lab) -> None:
        lab.reset(Conditions(hosts=4))
        lease = lab.create(
            "a", 0.5, 2, (1, 1), hypervisor_properties='["!=", "$hypervisor_hostname", "host-2"]'
        )
        assert promised_hosts(lab, lease) == {"host-1"}

        fail(lab, "host-1")
        lab.at(0.1)

        assert promised_hosts(lab, lease) == {"host-3"}

    def test_where_no_other_host_meets_them_the_lease_waits_for_its_own(self, lab: Lab) -> None:
        lease = lab.create("a", 0.5, 2, (1, 1), **ON_HOST_1)

        fail(lab, "host-1")
        lab.at(0.1)
        assert flags(lab, lease) == {**NOTHING, "degraded": True, "missing_resources": True}
        assert told(lab, lease) == ["lease.degraded"]

        recover(lab, "host-1")
        lab.at(0.2)
        assert flags(lab, lease) == NOTHING
        assert promised_hosts(lab, lease) == {"host-1"}
        assert told(lab, lease) == ["lease.degraded", "lease.healed"]

    def test_moving_before_the_start_is_no_news_to_the_lessee(self, lab: Lab) -> None:
        lease = lab.create("a", 0.5, 2)

        fail(lab, "host-1")
        lab.at(0.1)

        assert flags(lab, lease) == NOTHING
        assert told(lab, lease) == []

    def test_fewer_hosts_do_if_they_are_enough(self, lab: Lab) -> None:
        lease = lab.create("a", 0.5, 2, (2, 3))

        fail(lab, "host-1")
        lab.at(0.1)

        assert promised_hosts(lab, lease) == {"host-2", "host-3"}
        assert flags(lab, lease) == NOTHING

    def test_a_lease_begins_with_the_hosts_that_are_sound(self, lab: Lab) -> None:
        lease = lab.create("a", 0.5, 2, (3, 3))

        fail(lab, "host-1")
        lab.at(0.6)
        assert lab.lease(lease).status is LeaseStatus.ACTIVE
        assert lab.hosts_of(lease) == {"host-2", "host-3"}
        assert flags(lab, lease)["missing_resources"]

        recover(lab, "host-1")
        lab.at(0.7)
        assert lab.hosts_of(lease) == {"host-1", "host-2", "host-3"}
        assert flags(lab, lease) == NOTHING

    def test_without_an_interval_distant_leases_are_moved_at_once(self, lab: Lab) -> None:
        lab.reset(Conditions(healing_interval=timedelta(0)))
        lease = lab.create("a", 500, 501)

        fail(lab, "host-1")
        lab.at(0.1)

        assert promised_hosts(lab, lease).isdisjoint({"host-1"})

    def test_a_failure_that_passes_before_a_distant_start_moves_nothing(self, lab: Lab) -> None:
        lease = lab.create("a", 5, 6)

        fail(lab, "host-1")
        lab.at(1)
        recover(lab, "host-1")
        lab.at(5.1)

        assert lab.hosts_of(lease) == {"host-1"}
        assert journal(lab, lease, "reservation.replaced") == []

    def test_a_registered_host_heals_who_waits(self, lab: Lab) -> None:
        lease = lab.create("a", 0.5, 2, (3, 3))
        fail(lab, "host-1")
        lab.at(0.1)

        lab.cloud.add_hypervisor("host-4")
        lab.manager.service.create_host(LESSEE, {"name": "host-4"})
        lab.host_names.append("host-4")
        lab.at(0.2)

        assert promised_hosts(lab, lease) == {"host-2", "host-3", "host-4"}
        assert told(lab, lease) == ["lease.degraded", "lease.healed"]

    def test_a_resource_released_by_a_change_is_taken(self, lab: Lab) -> None:
        lease = lab.create("a", 0.5, 2, (2, 2))
        other = lab.create("b", 0.5, 2)
        fail(lab, "host-1")
        lab.at(0.1)
        assert flags(lab, lease)["missing_resources"]

        lab.update(other, start=7, end=8)
        lab.at(0.2)

        assert promised_hosts(lab, lease) == {"host-2", "host-3"}

    def test_nothing_that_waits_is_looked_at_without_need(self, lab: Lab) -> None:
        lab.create("a", 0.5, 30, (3, 3))
        fail(lab, "host-1")
        lab.at(1)
        before = lab.counted

        lab.run_until(25)

        assert lab.counted - before <= 24 * 4


class TestWhatIsActive:
    def test_servers_are_never_taken_away(self, lab: Lab) -> None:
        lease = lab.create("a", 0, 9, (2, 2))
        lab.at(0.1)
        servers = {lab.boot("host-1").id}

        fail(lab, "host-1", "host-2")
        lab.at(5)

        assert lab.servers().keys() == servers
        assert lab.hosts_of(lease) == {"host-1", "host-3"}
        assert flags(lab, lease) == {"degraded": True, "missing_resources": True, "resources_changed": True}

    def test_the_lessee_hears_of_each_turn(self, lab: Lab) -> None:
        lease = lab.create("a", 0, 9)
        lab.at(0.1)

        fail(lab, "host-1")
        lab.at(0.2)
        assert told(lab, lease) == ["lease.degraded"]

        recover(lab, "host-1")
        lab.at(0.3)
        assert told(lab, lease) == ["lease.degraded", "lease.healed"]

    def test_the_end_is_no_healing(self, lab: Lab) -> None:
        lease = lab.create("a", 0, 1, (3, 3))
        lab.at(0.1)
        fail(lab, "host-1")
        lab.at(0.2)

        lab.at(1.1)

        assert flags(lab, lease) == NOTHING
        assert told(lab, lease) == ["lease.degraded"]

    def test_resources_added_later_are_released_like_the_rest(self, lab: Lab) -> None:
        lab.reset(Conditions(hosts=2, cleaning_time=timedelta(minutes=30)))
        on_host_2 = '["==", "$hypervisor_hostname", "host-2"]'
        before = lab.create("before", 0, 1, (1, 1), hypervisor_properties=on_host_2)
        lease = lab.create("a", 0, 4)
        lab.at(1.6)
        assert lab.lease(before).status is LeaseStatus.TERMINATED

        fail(lab, *lab.hosts_of(lease))
        lab.at(1.7)
        assert lab.hosts_of(lease) == {"host-2"}
        lab.update(lease, end=6)
        lab.at(1.8)
        lab.delete(lease)
        lab.at(1.9)

        assert [each.id for each in lab.leases()] == [before]

    def test_a_change_of_an_active_lease_keeps_what_has_failed(self, lab: Lab) -> None:
        lease = lab.create("a", 0, 4, (3, 3))
        lab.at(0.1)
        fail(lab, "host-1")

        lab.update(lease, end=5)
        lab.at(0.2)

        assert lab.hosts_of(lease) == {"host-1", "host-2", "host-3"}
        assert flags(lab, lease)["missing_resources"]

    def test_a_host_that_is_unregistered_is_not_waited_for(self, lab: Lab) -> None:
        lease = lab.create("a", 0, 4)
        lab.at(0.1)
        fail(lab, "host-1")
        lab.at(0.2)
        assert flags(lab, lease)["resources_changed"]

        lab.manager.service.delete_host(LESSEE, host_id(lab, "host-1"))
        lab.host_names.remove("host-1")
        lab.at(0.3)

        assert flags(lab, lease) == NOTHING


class TestWhatIsDisabled:
    def test_it_is_not_allocated_to_new_leases(self, lab: Lab) -> None:
        lab.reset(Conditions(hosts=1))
        diagnose(lab, "host-1", DISABLED)

        with pytest.raises(NotEnoughHosts):
            lab.create("a", 1, 2)

        recover(lab, "host-1")
        lab.create("b", 1, 2)
        lab.at(1.1)

    def test_who_was_promised_it_gets_it(self, lab: Lab) -> None:
        later, now = lab.create("later", 0.5, 2), lab.create("now", 0, 0.4, (2, 2))
        lab.at(0.1)

        for each in lab.host_names:
            diagnose(lab, each, DISABLED)
        lab.at(0.2)
        assert flags(lab, later) == flags(lab, now) == NOTHING

        lab.update(later, end=3)
        lab.at(0.6)
        assert lab.lease(later).status is LeaseStatus.ACTIVE
        assert lab.hosts_of(later) == promised_hosts(lab, later)
        assert journal(lab, later, "reservation.replaced") == []

    def test_it_may_fail_all_the_same(self, lab: Lab) -> None:
        lease = lab.create("a", 0.5, 2)
        diagnose(lab, "host-1", DISABLED)
        lab.at(0.1)

        diagnose(lab, "host-1", FAILED)
        lab.at(0.2)

        assert promised_hosts(lab, lease) == {"host-2"}


class TestWhenTheCloudDoesNotAnswer:
    def test_flags_stay_until_it_does(self, lab: Lab) -> None:
        lease = lab.create("a", 0, 9)
        lab.at(0.1)
        lab.faults.add(FaultRule(kind=FaultKind.STATUS, operation="compute.*", every=1))

        fail(lab, "host-1")
        lab.run_until(0.2)
        assert flags(lab, lease)["missing_resources"]
        lab.faults.clear()
        lab.at(0.3)

        assert lab.hosts_of(lease) == {"host-2"}
        assert told(lab, lease)[0] == "lease.degraded"


def test_weakness_41_all_kinds_of_reservations_are_healed_in_one_go(lab: Lab) -> None:
    lab.reset(Conditions(hosts=6))
    add_source_flavors(lab)
    lease = lab.create("a", 0.5, 2, (1, 1), instances(2), of_flavor(2))
    held = [promised_hosts(lab, lease, position) for position in range(3)]

    fail(lab, *frozenset().union(*held))
    lab.at(0.1)

    for position, before in enumerate(held):
        assert promised_hosts(lab, lease, position)
        assert promised_hosts(lab, lease, position).isdisjoint(before)
    lab.at(0.6)
    assert lab.lease(lease).status is LeaseStatus.ACTIVE


def test_weakness_41_slots_in_use_stay_and_idle_ones_get_another_host(lab: Lab) -> None:
    lab.reset(Conditions(hosts=3))
    add_source_flavors(lab)
    lease = lab.create("a", 0, 4, of_flavor(2, affinity=False))
    lab.at(0.1)
    reservation = lab.lease(lease).reservations[0]
    used = boot(lab, reservation).service_host
    (idle,) = slots_by_host(lab, reservation).keys() - {used}

    fail(lab, used, idle)
    lab.at(0.2)

    assert slots_by_host(lab, reservation).keys() == {used, *(set(lab.host_names) - {used, idle})}
    assert flags(lab, lease) == {"degraded": True, "missing_resources": True, "resources_changed": True}


def test_weakness_42_flags_say_what_is_true_now_and_recovered_hosts_are_used_again(lab: Lab) -> None:
    running, later = lab.create("running", 0, 9, (2, 2)), lab.create("later", 0.5, 9)
    lab.at(0.1)
    lab.boot("host-1")

    fail(lab, *lab.host_names)
    lab.at(0.2)
    assert flags(lab, running)["missing_resources"]
    assert flags(lab, later)["missing_resources"]

    recover(lab, *lab.host_names)
    lab.at(0.6)
    assert flags(lab, running) == flags(lab, later) == NOTHING
    assert lab.hosts_of(running) | lab.hosts_of(later) == set(lab.host_names)


def test_weakness_42_who_has_too_few_is_given_more_as_soon_as_that_can_be(lab: Lab) -> None:
    lab.reset(Conditions(hosts=4))
    lab.create("in the way", 0, 0.3)
    lease = lab.create("a", 0.5, 2, (3, 3))
    fail(lab, "host-2")
    lab.at(0.1)

    lab.at(0.6)

    assert len(lab.hosts_of(lease)) == 3
    assert flags(lab, lease) == NOTHING


def test_weakness_44_one_lease_that_cannot_be_healed_does_not_hold_up_the_others(lab: Lab) -> None:
    lab.reset(Conditions(hosts=6, zone="az1"))
    stuck, idle = lab.create("stuck", 0, 4), lab.create("idle", 0, 4)
    later = lab.create("later", 0.5, 4)
    lab.at(0.1)
    hosts = [*lab.hosts_of(stuck), *lab.hosts_of(idle), *promised_hosts(lab, later)]
    server = lab.boot(hosts[0])

    fail(lab, *hosts)
    lab.at(0.2)

    assert lab.hosts_of(stuck) == {hosts[0]}
    assert server.id in lab.servers()
    assert lab.hosts_of(idle).isdisjoint(hosts)
    assert promised_hosts(lab, later).isdisjoint(hosts)


def test_what_a_lessee_gives_up_while_it_has_failed_is_given_up(lab: Lab) -> None:
    lease = lab.create("a", 0, 4, instances(8))
    lab.at(0.1)
    fail(lab, *lab.host_names)
    lab.at(0.2)

    revise(lab, lease, amount=4)
    lab.at(0.3)

    assert sum(slots_by_host(lab, lab.lease(lease).reservations[0]).values()) == 4
