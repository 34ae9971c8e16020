"""Life cycles of leases on hosts that are occupied by servers; see :mod:`reconcile.scenarios`."""

from __future__ import annotations

from datetime import timedelta

from reconcile.invariants import check_always
from reconcile.lab import Lab
from reconcile.scenarios import Scenario, further, representative

from blazar.domain.lease import LeaseStatus


def predecessor_is_late(lab: Lab) -> None:
    first = lab.create("a", 0, 2, (2, 3))
    second = lab.create("b", 2, 4, (3, 3))
    lab.at(1.9)
    lab.boot(next(iter(lab.hosts_of(first))))
    with lab.trial():
        lab.run_until(2.0003)
        check_always(lab)
        assert lab.lease(second).status is not LeaseStatus.ACTIVE
        lab.at(2.1)


def foreign_server_in_the_way(lab: Lab) -> None:
    lab.create("a", 1, 2, (3, 3))
    server = lab.boot("host-1", project_id="stranger")
    lab.run_until(0.99)
    with lab.trial():
        lab.run_until(1.0003)
        check_always(lab)
        lab.remove_server(server)
        lab.at(1.1)


def foreign_server_all_the_time(lab: Lab) -> None:
    lab.create("a", 1, 1.02, (3, 3))
    server = lab.boot("host-1", project_id="stranger")
    lab.run_until(1.0003)
    lab.jump(1.019)
    with lab.trial():
        lab.at(1.1)
        with lab.faults.exempt():
            assert [each.id for each in lab.cloud.compute.list_servers()] == [server.id]


def foreign_server_makes_room_elsewhere(lab: Lab) -> None:
    lease = lab.create("a", 1, 2)
    (allocation,) = lab.world().allocations
    first = lab.host_name(allocation.resource_id)
    server = lab.boot(first, project_id="stranger")
    lab.run_until(0.99)
    with lab.trial():
        lab.at(1.1)
        assert lab.may_fail or lab.hosts_of(lease).isdisjoint({first})
        lab.at(2.1)
        assert lab.servers().keys() == {server.id}


def fewer_hosts_are_enough(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, (2, 3))
    server = lab.boot("host-2", project_id="stranger")
    lab.run_until(0.99)
    with lab.trial():
        lab.at(1.1)
        assert lab.may_fail or lab.hosts_of(lease) == {"host-1", "host-3"}
        lab.at(2.1)
        assert lab.servers().keys() == {server.id}


def preemptible_servers_go(lab: Lab) -> None:
    lab.create("a", 1, 2, (3, 3))
    server = lab.boot_preemptible("host-1")
    lab.run_until(0.99)
    assert server.id in lab.servers()
    with lab.trial():
        lab.at(1.1)
        assert lab.may_fail or not lab.servers()


def preemptible_servers_get_notice(lab: Lab) -> None:
    lab.create("a", 1, 2, (3, 3))
    server = lab.boot_preemptible("host-1")
    lab.run_until(0.96)
    with lab.trial():
        lab.run_until(0.99)
        assert server.id in lab.servers()
        lab.at(1.1)
        assert lab.may_fail or not lab.servers()


OCCUPIED_HOST_SCENARIOS: tuple[Scenario, ...] = (
    further(predecessor_is_late, server_deletion_time=timedelta(seconds=3)),
    further(foreign_server_in_the_way),
    further(foreign_server_all_the_time),
    further(foreign_server_makes_room_elsewhere),
    further(fewer_hosts_are_enough),
    further(preemptible_servers_go),
    representative(preemptible_servers_get_notice, preemption_notice=timedelta(seconds=90)),
)
