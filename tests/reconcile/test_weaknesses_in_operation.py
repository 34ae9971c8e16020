"""Known weaknesses of the reference service (groups D to I), by number; none of them may exist here.

A catch-up after downtime (45) is in ``test_scenarios.py``.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from reconcile.lab import LESSEE, Lab
from reconcile.parts import Conditions, lease_body
from reconcile.questions import events, everything, fails, host_id

from blazar.domain.errors import (
    BadRequest,
    CannotChange,
    HostNotFound,
    LeaseNotFound,
    NotEnoughHosts,
)
from blazar.domain.lease import EventStatus, EventType, LeaseStatus, ReservationStatus
from blazar.ports.manager import Caller


def test_weakness_21_a_delete_that_failed_is_tried_until_it_succeeds(lab: Lab) -> None:
    lease = lab.create("a", "now", 5)
    lab.at(1)
    lab.faults.add(fails("compute.*"))

    lab.delete(lease)
    lab.run_until(2)
    lab.delete(lease)
    assert lab.lease(lease).status is LeaseStatus.DELETING

    lab.faults.clear()
    lab.at(2.1)
    assert lab.leases() == ()


def test_weakness_23_mistakes_do_not_put_a_lease_into_error(lab: Lab) -> None:
    lease = lab.create("a", 1, 2)
    reservation = lab.lease(lease).reservations[0].id
    before = everything(lab)

    mistakes: tuple[dict[str, Any], ...] = (
        {"before_end_date": lab.date(7)},
        {"end_date": lab.date(0.5)},
        {"end_date": "tomorrow"},
        {"reservations": [{"id": reservation, "max": 9, "min": 9}]},
        {"reservations": [{"id": reservation, "min": 3, "max": 1}]},
        {"reservations": [{"id": reservation, "resource_type": "virtual:instance"}]},
        {"reservations": [{"id": "another lease's"}]},
        {"reservations": [{"id": reservation, "resource_properties": '["==", "$nothing", "1"]'}]},
    )
    for mistake in mistakes:
        with pytest.raises((BadRequest, CannotChange, NotEnoughHosts)):
            lab.manager.service.update_lease(LESSEE, lease, mistake)

    assert everything(lab) == before
    lab.at(1.1)


def test_weakness_23_a_lease_that_could_not_start_is_started_by_an_update(lab: Lab) -> None:
    lease = lab.create("a", 1, 3)
    lab.at(0.99)
    lab.faults.add(fails("compute.add_host", status=403))
    lab.run_until(1.1)
    assert lab.lease(lease).status is LeaseStatus.ERROR
    assert "compute.add_host" in str(lab.lease(lease).reservations[0].problem)
    lab.faults.clear()

    lab.update(lease, end=4)

    lab.at(1.2)
    assert lab.lease(lease).status is LeaseStatus.ACTIVE


def test_weakness_24_what_cannot_start_is_taken_back_at_once_and_ends(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, (1, 1), (1, 1))
    lab.at(0.99)
    lab.faults.add(fails("compute.add_host", status=403, nth=2))

    lab.run_until(1.1)

    states = [each.status for each in lab.lease(lease).reservations]
    assert sorted(states) == [ReservationStatus.ACTIVE, ReservationStatus.ERROR]
    assert len(lab.hosts_of(lease)) == 1
    lab.may_fail = True
    lab.at(1.2)
    lab.at(2.1)
    assert lab.lease(lease).status is LeaseStatus.TERMINATED


def test_weakness_25_a_lease_ends_without_anything_of_its_lessee(lab: Lab) -> None:
    anonymous = Caller(user_id=None, project_id="project", token=None)
    lab.manager.service.create_lease(anonymous, lease_body("a", "now", lab.date(2)))

    lab.at(0.1)

    lab.at(2.1)


def test_weakness_26_a_before_end_action_that_fails_harms_no_reservation(lab: Lab) -> None:
    lab.reset(Conditions(before_end_lead=timedelta(hours=1)))
    lease = lab.create("a", "now", 3, before_end="snapshot")
    lab.at(1)
    lab.boot(next(iter(lab.hosts_of(lease))))
    lab.faults.add(fails("compute.create_image", status=403))

    lab.at(2.5)

    assert events(lab, lease)[EventType.BEFORE_END] is EventStatus.ERROR
    assert lab.lease(lease).status is LeaseStatus.ACTIVE
    lab.faults.clear()
    lab.at(3.1)


def test_weakness_26_a_before_end_action_with_a_bug_harms_no_reservation(
    lab: Lab, unexpected_errors: list[str]
) -> None:
    lab.reset(Conditions(before_end_lead=timedelta(hours=1), faulty_step="before_end"))
    lease = lab.create("a", "now", 3)

    lab.at(2.5)

    assert events(lab, lease)[EventType.BEFORE_END] is EventStatus.ERROR
    assert len(unexpected_errors) == 1
    lab.at(3.1)
    unexpected_errors.clear()


def test_weakness_27_a_plugin_with_a_bug_stops_no_other_reservation(
    lab: Lab, unexpected_errors: list[str]
) -> None:
    lab.reset(Conditions(faulty_step="make", faulty_host="host-1"))
    lease = lab.create("a", 1, 2, (1, 1), (2, 2))

    lab.run_until(1.1)

    states = [each.status for each in lab.lease(lease).reservations]
    assert states == [ReservationStatus.PENDING, ReservationStatus.ACTIVE]
    assert lab.lease(lease).reservations[0].problem == "internal error: ZeroDivisionError"
    lab.at(2.1)
    unexpected_errors.clear()


def test_weakness_26_an_update_after_the_before_end_action_does_not_take_it_again(lab: Lab) -> None:
    lab.reset(Conditions(before_end_lead=timedelta(hours=1)))
    lease = lab.create("a", "now", 3, before_end="snapshot")
    lab.at(1)
    lab.boot(next(iter(lab.hosts_of(lease))))
    lab.at(2.5)

    lab.resize(lease, 1, 2)
    lab.at(2.6)

    assert len(lab.cloud.compute.list_images({})) == 1
    assert lab.sent.counts[lease, "lease.event.before_end_lease"] == 1


def test_weakness_27_nothing_but_documented_keys_reaches_a_lease(lab: Lab) -> None:
    lease = lab.create("a", 1, 2)
    extra = {"project_id": "stranger", "user_id": "stranger", "degraded": True, "status": "ACTIVE", "id": "1"}

    lab.manager.service.update_lease(LESSEE, lease, {"name": "b", "events": [], **extra})

    after = lab.lease(lease)
    assert (after.name, after.project_id, after.user_id, after.is_degraded) == ("b", "project", "user", False)
    assert len(after.events) == 2
    lab.at(1.1)


def test_weakness_31_a_start_deletes_no_servers(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, (3, 3))
    server = lab.boot("host-1", project_id="stranger")

    lab.run_until(1.01)

    assert [each.id for each in lab.cloud.compute.list_servers()] == [server.id]
    assert lab.lease(lease).status is LeaseStatus.STARTING
    assert "host-1" in str(lab.lease(lease).reservations[0].problem)


def test_weakness_33_an_end_that_takes_long_blocks_no_other_lease(lab: Lab) -> None:
    lab.reset(Conditions(hosts=2, server_deletion_time=timedelta(minutes=1)))
    slow = lab.create("a", "now", 1)
    lab.at(0.5)
    lab.boot(next(iter(lab.hosts_of(slow))))
    free = next(iter({"host-1", "host-2"} - lab.hosts_of(slow)))
    other = lab.create("b", 1, 2, hypervisor_properties=f'["==", "$hypervisor_hostname", "{free}"]')

    lab.run_until(1)

    assert lab.lease(slow).status is LeaseStatus.TERMINATING
    assert lab.lease(other).status is LeaseStatus.ACTIVE
    lab.at(1.2)


def test_weakness_34_a_delete_is_answered_before_everything_is_taken_back(lab: Lab) -> None:
    lease = lab.create("a", "now", 2, (2, 2))
    lab.at(0.1)
    before = lab.counted

    lab.delete(lease)

    assert lab.counted == before
    assert lab.lease(lease).status is LeaseStatus.DELETING
    lab.at(0.2)


def test_weakness_40_a_server_that_takes_an_hour_to_go_is_waited_for(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1, server_deletion_time=timedelta(hours=1)))
    lease = lab.create("a", "now", 1)
    lab.at(0.5)
    lab.boot("host-1")

    lab.run_until(1.01)
    lab.jump(1.99)
    lab.run_until(1.995)
    assert lab.lease(lease).status is LeaseStatus.TERMINATING
    assert "server" in str(lab.lease(lease).reservations[0].problem)

    lab.at(2.1)


def test_weakness_45_a_start_says_whose_end_it_waits_for(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1, server_deletion_time=timedelta(minutes=1)))
    first = lab.create("a", "now", 1)
    second = lab.create("b", 1, 2)
    lab.at(0.9)
    lab.boot("host-1")
    holder = lab.lease(first).reservations[0].id

    lab.run_until(1.01)

    problem = str(lab.lease(second).reservations[0].problem)
    assert problem.endswith(f"was not released yet by reservation {holder}")
    lab.at(1.1)


def test_weakness_46_what_fails_for_an_hour_is_tried_again(lab: Lab) -> None:
    lease = lab.create("a", 1, 3)
    lab.faults.add(fails("compute.*"))
    lab.run_until(2)
    assert lab.lease(lease).status is LeaseStatus.STARTING
    assert "does not respond" in str(lab.lease(lease).reservations[0].problem)

    lab.faults.clear()

    lab.at(2 + 61 / 3600)
    assert lab.lease(lease).status is LeaseStatus.ACTIVE


def test_weakness_47_a_start_that_failed_is_announced_as_that(lab: Lab) -> None:
    lease = lab.create("a", 1, 2)
    lab.at(0.99)
    lab.faults.add(fails("compute.add_host", status=403))

    lab.run_until(1.1)

    assert lab.sent.statuses[lease, "lease.event.start_lease"] == ["ERROR"]
    assert events(lab, lease)[EventType.START] is EventStatus.ERROR


def test_weakness_47_a_broker_that_is_gone_harms_no_lease(lab: Lab) -> None:
    lab.sent.is_broken = True
    lease = lab.create("a", 1, 2)
    lab.run_until(1.5)
    assert lab.lease(lease).status is LeaseStatus.ACTIVE

    lab.sent.is_broken = False

    lab.at(1.6)
    assert lab.sent.counts[lease, "lease.event.start_lease"] == 1


def test_weakness_48_a_lease_that_is_deleted_before_its_turn_stops_no_other(lab: Lab) -> None:
    gone = lab.create("a", 1, 2)
    lab.create("b", 1, 2)
    lab.run_until(0.9)
    lab.delete(gone)

    lab.at(1.1)


def test_weakness_50_what_happened_to_a_lease_is_known_after_it_was_deleted(lab: Lab) -> None:
    lease = lab.create("a", "now", 2)
    lab.at(0.1)
    lab.delete(lease)
    lab.at(0.2)

    with pytest.raises(LeaseNotFound):
        lab.manager.service.get_lease(LESSEE, lease)

    told = [(row.event, row.reason) for row in lab.world().journal if row.lease_id == lease]
    assert told[0][0] == "create"
    assert ("lease.status", "STARTING -> ACTIVE") in told
    assert ("lease.status", "DELETING -> gone") in told


def test_weakness_53_a_hypervisor_is_found_by_its_exact_name(lab: Lab) -> None:
    lab.cloud.add_hypervisor("host-1.example.org")

    lab.manager.service.create_host(LESSEE, {"name": "host-1.example.org"})
    with pytest.raises(HostNotFound):
        lab.manager.service.create_host(LESSEE, {"name": "host"})

    lab.host_names.append("host-1.example.org")
    lab.manager.service.delete_host(LESSEE, host_id(lab, "host-1"))
    lab.host_names.remove("host-1")
    lab.create("a", 1, 2, (3, 3))
    lab.at(1.1)
