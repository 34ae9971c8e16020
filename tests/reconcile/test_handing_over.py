"""Handover and release of hosts while other actions interfere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from reconcile.invariants import check_settled
from reconcile.lab import FREEPOOL, LESSEE, Lab
from reconcile.parts import Conditions

from blazar.domain.errors import CloudConflict, HostReserved
from blazar.domain.lease import LeaseStatus
from blazar.plugins.hosts.preemption import closings
from blazar.reconcile.periodic.host_refresh import refresh_hosts

SECOND = 1 / 3600


def keep_doing(lab: Lab, operation: str, act: Callable[[], object]) -> None:
    """Run *act* before every call of an operation."""

    def again() -> None:
        lab.faults.before(operation, again)
        with lab.faults.exempt():
            act()

    lab.faults.before(operation, again)


def once_in_no_zone(lab: Lab, host: str, act: Callable[[], object]) -> None:
    """Run *act* once, just before a host that is only in the freepool is added to another aggregate."""

    def look() -> None:
        if [name for name, hosts in lab.aggregates().items() if host in hosts] == [FREEPOOL]:
            act()
        else:
            lab.faults.before("compute.add_host", look)

    lab.faults.before("compute.add_host", look)


@pytest.mark.parametrize("hosts", [3, 8])
def test_unusable_hosts_are_left_behind_until_a_usable_one_is_found(lab: Lab, hosts: int) -> None:
    lab.reset(Conditions(hosts=hosts))
    lease = lab.create("a", 1, 3)
    for name in lab.host_names[:-1]:
        lab.boot(name, project_id="stranger")

    lab.at(2)

    assert lab.hosts_of(lease) == {lab.host_names[-1]}


def test_two_reservations_of_one_lease_both_get_other_hosts(lab: Lab) -> None:
    lab.reset(Conditions(hosts=4))
    lease = lab.create("a", 1, 2, (1, 1), (1, 1))
    lab.boot("host-1", project_id="stranger")
    lab.boot("host-2", project_id="stranger")

    lab.at(1.5)

    assert lab.hosts_of(lease) == {"host-3", "host-4"}


def test_where_all_hosts_are_unusable_the_pauses_grow_until_one_is_not(lab: Lab) -> None:
    lab.reset(Conditions(hosts=2))
    lease = lab.create("a", 1, 3)
    servers = [lab.boot(name, project_id="stranger") for name in lab.host_names]
    lab.run_until(1)
    before = lab.counted

    lab.run_until(2)

    assert lab.counted - before < 1000
    lab.remove_server(servers[0])
    lab.at(2.1)
    assert lab.hosts_of(lease) == {"host-1"}


def test_another_host_is_handed_over_at_once_while_the_other_reservation_waits(lab: Lab) -> None:
    lab.reset(Conditions(hosts=3, server_deletion_time=timedelta(seconds=20)))
    lease = lab.create("a", 1, 2, (1, 1), (1, 1))
    lab.boot("host-1", project_id="stranger")
    lab.boot_preemptible("host-2")

    lab.run_until(1 + SECOND / 2)

    assert lab.hosts_of(lease) == {"host-3"}
    lab.at(1.1)


def test_who_replaces_servers_as_they_go_does_not_keep_the_host(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1, server_deletion_time=timedelta(seconds=3)))
    lease = lab.create("a", 0, 1)
    lab.at(0.5)
    reservation_id = lab.lease(lease).reservations[0].id
    refusals: list[CloudConflict] = []

    def replace_servers() -> None:
        if all(each.is_deleting for each in lab.servers().values()):
            try:
                lab.boot("", reservation_id=reservation_id)
            except CloudConflict as error:
                refusals.append(error)

    keep_doing(lab, "compute.list_servers", replace_servers)

    lab.at(1.1)

    assert refusals
    assert not lab.servers()


@pytest.mark.parametrize("zone", ["", "az1"])
def test_a_busy_queue_of_preemptible_servers_does_not_keep_a_host_from_its_next_holder(
    lab: Lab, zone: str
) -> None:
    lab.reset(Conditions(hosts=1, server_deletion_time=timedelta(seconds=3), zone=zone))
    lab.create("a", 0, 1)
    second = lab.create("b", 1, 2)
    lab.at(0.5)
    booted = []

    def boot() -> None:
        (freepool,) = (each for each in lab.cloud.compute.list_aggregates() if each.name == FREEPOOL)
        is_busy = any(not each.is_deleting for each in lab.servers().values())
        if "host-1" in freepool.hosts and "host-1" not in closings(freepool) and not is_busy:
            booted.append(lab.boot_preemptible("host-1"))

    for operation in ("compute.remove_host", "compute.list_servers", "compute.add_host"):
        keep_doing(lab, operation, boot)

    lab.run_until(1.1)

    assert booted
    assert lab.lease(second).status is LeaseStatus.ACTIVE


def test_a_lease_that_is_deleted_while_its_host_is_in_no_zone_gives_it_back(lab: Lab) -> None:
    lab.reset(Conditions(hosts=2, zone="az1"))
    lease = lab.create("a", 1, 2)
    lab.at(0.99)

    def interfere() -> None:
        lab.manager.service.delete_lease(LESSEE, lease)
        lab.boot_preemptible("host-1")

    once_in_no_zone(lab, "host-1", interfere)

    lab.at(1.1)

    assert lab.leases() == ()


def test_a_host_that_is_put_into_another_zone_on_its_way_back_stays_there(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1, zone="az1"))
    lease = lab.create("a", 0, 1)
    lab.at(0.5)

    def move() -> None:
        with lab.faults.exempt():
            lab.cloud.compute.add_host(lab.cloud.add_aggregate("rack", "az2").id, "host-1")

    once_in_no_zone(lab, "host-1", move)

    lab.run_until(1.1)

    assert lab.lease(lease).status is LeaseStatus.TERMINATED
    assert lab.aggregates() == {FREEPOOL: {"host-1"}, "rack": {"host-1"}, "az1": frozenset()}


def test_a_host_comes_back_to_all_aggregates_of_its_zone(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1, zone="az1"))
    with lab.faults.exempt():
        lab.cloud.compute.add_host(lab.cloud.add_aggregate("rack", "az1").id, "host-1")
    before = lab.aggregates()
    lease = lab.create("a", 1, 2)

    lab.run_until(1.1)
    assert lab.lease(lease).status is LeaseStatus.ACTIVE
    lab.run_until(2.1)

    assert lab.aggregates() == before


def test_a_refresh_during_a_start_does_not_take_the_reservation_s_zone_for_the_host_s(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1, zone="az1"))
    lab.create("a", 1, 2)
    lab.at(0.99)
    lab.clock.set(lab.instant(1))

    lab.faults.before("compute.list_availability_zones", lab.run_due)
    refresh_hosts(lab.manager.context, "operator")

    assert [row.availability_zone for row in lab.world().hosts] == ["az1"]
    check_settled(lab)


def test_a_host_that_is_handed_over_while_it_is_to_be_removed_leaves_the_freepool_again(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1))
    host_id = lab.world().hosts[0].id
    lab.jump(0.001)

    def start() -> None:
        lab.create("a", "now", 2)
        lab.run_due()

    lab.faults.before("placement.delete_provider", start)
    with pytest.raises(HostReserved):
        lab.manager.service.delete_host(LESSEE, host_id)

    lab.at(0.5)
