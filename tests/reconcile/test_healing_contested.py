"""Healing with competitors: the current holder, the next holder, and concurrent changes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from reconcile.healing import DISABLED, FAILED, diagnose, fail, flags, promised_hosts, recover
from reconcile.lab import LESSEE, Lab
from reconcile.parts import Asked, Conditions
from reconcile.questions import host_id
from reconcile.slots import boot, instances, revise, slots_by_host

from blazar.booking.health import record_health
from blazar.domain.errors import NotEnoughHosts
from blazar.domain.health import HEALTHY, Diagnosis
from blazar.domain.lease import LeaseStatus, ResourceId

SLOW = timedelta(minutes=8)


def on_host(number: int) -> dict[str, str]:
    return {"hypervisor_properties": f'["==", "$hypervisor_hostname", "host-{number}"]'}


def test_a_host_that_comes_back_waits_for_who_has_it_still(lab: Lab) -> None:
    lab.reset(Conditions(hosts=2, server_deletion_time=SLOW))
    before = lab.create("before", 0, 1, (1, 1), **on_host(1))
    lease = lab.create("a", 1, 4, instances(8))
    lab.at(0.5)
    lab.boot("host-1")
    fail(lab, "host-1")
    lab.run_until(1.02)
    assert lab.lease(lease).status is LeaseStatus.ACTIVE
    assert lab.lease(before).status is LeaseStatus.TERMINATING

    recover(lab, "host-1")
    lab.run_until(1.1)
    assert slots_by_host(lab, lab.lease(lease).reservations[0]) == {"host-2": 4}

    lab.at(1.2)
    assert slots_by_host(lab, lab.lease(lease).reservations[0]) == {"host-1": 4, "host-2": 4}


def test_what_a_lessee_uses_while_the_lease_still_starts_is_not_taken_away(lab: Lab) -> None:
    lab.reset(Conditions(hosts=3, server_deletion_time=SLOW))
    lab.create("before", 0, 1, (1, 1), **on_host(2))
    lab.create("in the way", 0, 3, (1, 1), **on_host(3))
    lease = lab.create("a", 1, 2, (2, 2))
    lab.at(0.5)
    lab.boot("host-2")
    lab.run_until(1.05)
    assert lab.lease(lease).status is LeaseStatus.STARTING
    assert lab.hosts_of(lease) == {"host-1"}
    server = lab.boot("host-1")

    fail(lab, "host-1")
    lab.at(1.2)
    assert lab.hosts_of(lease) == promised_hosts(lab, lease) == {"host-1", "host-2"}
    assert server.id in lab.servers()

    lab.at(2.2)
    assert lab.lease(lease).status is LeaseStatus.TERMINATED


def test_servers_of_others_do_not_keep_a_failed_host_that_was_never_handed_over(lab: Lab) -> None:
    lab.reset(Conditions(hosts=3, server_deletion_time=SLOW))
    lab.create("before", 0, 1, (1, 1), **on_host(1))
    lab.create("in the way", 0.9, 1.02, (1, 1), **on_host(3))
    lease = lab.create("a", 1, 4, (2, 2))
    lab.at(0.5)
    lab.boot("host-1")
    fail(lab, "host-1")

    lab.run_until(1.1)

    assert lab.hosts_of(lease) == promised_hosts(lab, lease) == {"host-2", "host-3"}


def test_a_host_that_was_taken_from_an_active_lease_is_cleaned(lab: Lab) -> None:
    lab.reset(Conditions(hosts=2, cleaning_time=timedelta(minutes=30)))
    lease = lab.create("a", 0, 4)
    lab.at(1)
    fail(lab, "host-1")
    lab.at(1.1)
    assert lab.hosts_of(lease) == {"host-2"}
    recover(lab, "host-1")
    lab.at(1.2)

    with pytest.raises(NotEnoughHosts):
        lab.create("too early", 1.4, 3)

    lab.create("b", 1.7, 3)
    lab.at(1.8)


def test_a_lease_can_be_ended_although_others_had_what_came_into_it(lab: Lab) -> None:
    lab.reset(Conditions(cleaning_time=timedelta(minutes=30)))
    lab.create("before", 0, 1, (1, 1), **on_host(2))
    lab.create("in the way", 0, 9, (1, 1), **on_host(3))
    lease = lab.create("a", 0, 4)
    lab.at(1.6)
    fail(lab, *lab.hosts_of(lease))
    lab.at(1.7)
    assert lab.hosts_of(lease) == {"host-2"}

    lab.update(lease, end="now")

    lab.at(1.8)
    assert lab.lease(lease).status is LeaseStatus.TERMINATED


@pytest.mark.parametrize("asked", [(2, 2), instances(8)])
def test_a_lease_is_extended_although_others_still_have_a_failed_host_of_it(lab: Lab, asked: Asked) -> None:
    lab.reset(Conditions(hosts=2, server_deletion_time=SLOW))
    lab.create("before", 0, 1, (1, 1), **on_host(1))
    lease = lab.create("a", 1, 2, asked)
    lab.at(0.5)
    lab.boot("host-1")
    fail(lab, "host-1")
    lab.run_until(1.02)
    assert lab.lease(lease).status is LeaseStatus.ACTIVE

    lab.update(lease, end=3)
    recover(lab, "host-1")

    lab.at(2.5)
    assert lab.hosts_of(lease) == {"host-1", "host-2"}


def test_a_failed_host_is_replaced_while_another_is_still_waited_for(lab: Lab) -> None:
    lab.reset(Conditions(hosts=3, server_deletion_time=SLOW))
    lab.create("before", 0, 1, (1, 1), **on_host(2))
    lab.create("in the way", 0.9, 1.05, (1, 1), **on_host(3))
    lease = lab.create("a", 1, 4, (2, 2))
    lab.at(0.5)
    lab.boot("host-2")
    fail(lab, "host-1")

    lab.run_until(1.1)

    assert lab.lease(lease).status is LeaseStatus.STARTING
    assert lab.hosts_of(lease) == {"host-3"}


def test_an_active_lease_keeps_what_nothing_takes_the_place_of(lab: Lab) -> None:
    lease = lab.create("a", 0, 4, (2, 3))
    lab.at(0.1)

    fail(lab, "host-1")
    lab.at(0.2)
    assert flags(lab, lease)["missing_resources"]
    recover(lab, "host-1")
    lab.at(0.3)

    assert lab.hosts_of(lease) == {"host-1", "host-2", "host-3"}
    assert not any(flags(lab, lease).values())


def test_resources_are_locked_before_work(lab: Lab) -> None:
    lab.create("a", 0.5, 2)
    fail(lab, "host-1")
    written: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        written.append(" ".join(statement.split()[:2]))

    sa.event.listen(lab.engine, "before_cursor_execute", note)
    lab.run_due()
    sa.event.remove(lab.engine, "before_cursor_execute", note)

    replaced = written.index("DELETE FROM")
    begun = max(at for at in range(replaced) if written[at] == "UPDATE leases")
    assert "UPDATE work" not in written[begun:replaced]
    assert "UPDATE resources" in written[begun:replaced]


def test_what_frees_nothing_wakes_no_lease_with_missing_resources(lab: Lab) -> None:
    lease, other = lab.create("a", 0, 9, (2, 2)), lab.create("b", 0, 3)
    lab.at(0.1)
    fail(lab, *lab.host_names)
    lab.at(0.2)
    assert flags(lab, lease)["missing_resources"]

    lab.update(other, end=4)
    assert not is_due(lab, lease)

    lab.update(other, end=2)
    assert is_due(lab, lease)


def is_due(lab: Lab, lease_id: str) -> bool:
    return any(row.key == lease_id and row.due_at <= lab.clock.now() for row in lab.world().work)


@pytest.mark.parametrize("interval", [timedelta(0), timedelta(hours=1)])
def test_what_is_given_up_while_it_is_sought_is_found(lab: Lab, interval: timedelta) -> None:
    lab.reset(Conditions(healing_interval=interval))
    lease, other = lab.create("a", 0, 4, (2, 2)), lab.create("b", 2, 3)
    assert promised_hosts(lab, other) == {"host-3"}
    lab.at(0.1)

    fail(lab, "host-1")
    lab.faults.before("compute.list_aggregates", lambda: lab.delete(other))
    lab.at(0.2)

    assert lab.hosts_of(lease) == {"host-2", "host-3"}


@pytest.mark.parametrize("diagnosis", [FAILED, DISABLED])
def test_a_lease_that_grows_gets_nothing_more_of_a_host_that_is_not_sound(
    lab: Lab, diagnosis: Diagnosis
) -> None:
    lease = lab.create("a", 0, 4, instances(2))
    lab.at(0.1)
    server = boot(lab, lab.lease(lease).reservations[0])
    assert server.service_host == "host-1"
    diagnose(lab, "host-1", diagnosis)

    revise(lab, lease, amount=4)
    lab.at(0.2)

    assert slots_by_host(lab, lab.lease(lease).reservations[0]) == {"host-1": 2, "host-2": 2}


def test_what_is_clean_again_is_taken_by_who_misses_something(lab: Lab) -> None:
    lab.reset(Conditions(hosts=2, cleaning_time=timedelta(minutes=15)))
    lab.create("before", 0, 0.2, (1, 1), **on_host(2))
    lab.plan_chore()
    lease = lab.create("a", 0.3, 9)
    lab.at(0.1)
    fail(lab, "host-1")
    lab.at(0.4)
    assert flags(lab, lease)["missing_resources"]

    lab.at(0.7)

    assert lab.hosts_of(lease) == {"host-2"}
    assert not flags(lab, lease)["missing_resources"]


def test_a_host_that_is_made_to_fit_is_taken_by_who_misses_something(lab: Lab) -> None:
    lab.manager.service.update_host(LESSEE, host_id(lab, "host-1"), {"rack": "r1"})
    lease = lab.create("a", 0.5, 9, (1, 1), resource_properties='["==", "$rack", "r1"]')
    fail(lab, "host-1")
    lab.at(0.1)
    assert flags(lab, lease)["missing_resources"]

    lab.manager.service.update_host(LESSEE, host_id(lab, "host-2"), {"rack": "r1"})
    lab.at(0.2)

    assert promised_hosts(lab, lease) == {"host-2"}


def test_what_another_monitor_has_found_out_meanwhile_is_compared_with(lab: Lab) -> None:
    lease = lab.create("a", 0.5, 9, (1, 1), **on_host(1))
    context, found = lab.manager.context, ResourceId(host_id(lab, "host-1"))
    lab.store.overtake(lambda: record_health(context, "another", found, "host-1", FAILED))

    record_health(context, "monitor", found, "host-1", FAILED)
    lab.at(0.1)
    record_health(context, "monitor", found, "host-1", HEALTHY)
    lab.at(0.2)

    assert not any(flags(lab, lease).values())
    changes = [row.reason for row in lab.world().journal if row.event == "resource.health"]
    assert changes == [f"host-1: sound -> failed: {FAILED.problem}", "host-1: failed -> sound"]
