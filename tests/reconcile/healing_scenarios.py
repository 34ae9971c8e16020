"""Life cycles of leases whose hosts fail; see :mod:`reconcile.scenarios`."""

from __future__ import annotations

from reconcile.healing import fail, flags, promised_hosts, recover
from reconcile.lab import Lab
from reconcile.scenarios import further, representative
from reconcile.slots import boot, instances, slots_by_host

from blazar.domain.lease import LeaseStatus


def moved_when_its_host_fails(lab: Lab) -> None:
    lease = lab.create("a", 0.5, 2, (2, 2))
    kept = promised_hosts(lab, lease) - {"host-1"}
    with lab.trial():
        fail(lab, "host-1")
        lab.at(0.1)
        assert promised_hosts(lab, lease) > kept
        assert "host-1" not in promised_hosts(lab, lease)
        assert not any(flags(lab, lease).values())
        lab.at(0.6)


def moved_when_prepared_for_it(lab: Lab) -> None:
    lease = lab.create("a", 1, 2)
    lab.at(0.99)
    (first,) = promised_hosts(lab, lease)
    with lab.trial():
        fail(lab, first)
        lab.at(1.1)
        assert promised_hosts(lab, lease).isdisjoint({first})


def moved_when_the_start_has_come_near(lab: Lab) -> None:
    lease = lab.create("a", 5, 6)
    (first,) = promised_hosts(lab, lease)
    with lab.trial():
        fail(lab, first)
        lab.at(3.9)
        assert promised_hosts(lab, lease) == {first}
        assert not any(flags(lab, lease).values())
        lab.at(4.1)
        assert promised_hosts(lab, lease).isdisjoint({first})


def replaced_while_idle(lab: Lab) -> None:
    lease = lab.create("a", 0, 4, (2, 2))
    lab.at(1)
    (kept,) = lab.hosts_of(lease) - {"host-1"}
    with lab.trial():
        fail(lab, "host-1")
        lab.at(1.1)
        if lab.lease(lease).status is LeaseStatus.ACTIVE:
            assert lab.hosts_of(lease) > {kept}
            assert "host-1" not in lab.hosts_of(lease)
            assert flags(lab, lease) == {
                "degraded": True,
                "missing_resources": False,
                "resources_changed": True,
            }
        recover(lab, "host-1")
        lab.at(1.2)
        assert not any(flags(lab, lease).values())
        lab.at(4.1)


def kept_while_in_use(lab: Lab) -> None:
    lease = lab.create("a", 0, 4)
    lab.at(1)
    (host,) = lab.hosts_of(lease)
    server = lab.boot(host)
    with lab.trial():
        fail(lab, host)
        lab.at(1.1)
        assert lab.hosts_of(lease) == {host}
        assert server.id in lab.servers()
        assert flags(lab, lease)["missing_resources"]
        recover(lab, host)
        lab.at(1.2)
        assert not any(flags(lab, lease).values())


def replaced_when_its_servers_have_gone(lab: Lab) -> None:
    lease = lab.create("a", 0, 4)
    lab.at(1)
    (host,) = lab.hosts_of(lease)
    server = lab.boot(host)
    with lab.trial():
        fail(lab, host)
        lab.at(1.1)
        lab.remove_server(server)
        lab.at(2.2)
        assert lab.may_fail or lab.hosts_of(lease).isdisjoint({host})


def missing_until_a_host_returns(lab: Lab) -> None:
    lease = lab.create("a", 0.5, 3, (3, 3))
    with lab.trial():
        fail(lab, "host-1", "host-2", "host-3")
        lab.at(0.1)
        assert flags(lab, lease)["missing_resources"]
        recover(lab, "host-2", "host-3")
        lab.at(0.2)
        assert flags(lab, lease)["missing_resources"]
        recover(lab, "host-1")
        lab.at(0.3)
        assert not any(flags(lab, lease).values())
        lab.at(0.6)


def healed_by_what_another_lease_gives_back(lab: Lab) -> None:
    first = lab.create("a", 0, 0.4, (2, 2))
    second = lab.create("b", 0.5, 3, (1, 1), hypervisor_properties='["==", "$hypervisor_hostname", "host-3"]')
    third = lab.create("c", 0.45, 3, (2, 2))
    lab.at(0.1)
    with lab.trial():
        fail(lab, "host-1")
        lab.at(0.2)
        assert flags(lab, third)["missing_resources"]
        lab.delete(second)
        lab.at(0.3)
        assert promised_hosts(lab, third) == {"host-2", "host-3"}
        lab.at(0.6)
        assert lab.lease(first).status is LeaseStatus.TERMINATED


def one_of_two_is_replaced(lab: Lab) -> None:
    lease = lab.create("a", 0.5, 2, (2, 2))
    with lab.trial():
        fail(lab, *promised_hosts(lab, lease))
        lab.at(0.1)
        assert "host-3" in promised_hosts(lab, lease)
        assert flags(lab, lease)["missing_resources"]
        lab.at(0.6)


def slots_moved_before_the_start(lab: Lab) -> None:
    lease = lab.create("a", 0.5, 2, instances(6))
    kept = promised_hosts(lab, lease) - {"host-1"}
    with lab.trial():
        fail(lab, "host-1")
        lab.at(0.1)
        assert promised_hosts(lab, lease) >= kept
        assert "host-1" not in promised_hosts(lab, lease)
        lab.at(0.6)


def idle_slots_are_replaced(lab: Lab) -> None:
    lease = lab.create("a", 0, 4, instances(2))
    lab.at(1)
    (host,) = promised_hosts(lab, lease)
    with lab.trial():
        fail(lab, host)
        lab.at(1.1)
        if lab.lease(lease).status is LeaseStatus.ACTIVE:
            assert host not in slots_by_host(lab, lab.lease(lease).reservations[0])
            assert flags(lab, lease)["resources_changed"]
        lab.at(4.1)


def slots_in_use_are_kept(lab: Lab) -> None:
    lease = lab.create("a", 0, 4, instances(2))
    lab.at(1)
    server = boot(lab, lab.lease(lease).reservations[0])
    with lab.trial():
        fail(lab, server.service_host)
        lab.at(1.1)
        assert promised_hosts(lab, lease) == {server.service_host}
        assert flags(lab, lease)["missing_resources"]
        recover(lab, server.service_host)
        lab.at(1.2)
        assert not any(flags(lab, lease).values())


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
