"""Known weaknesses of the reference service (groups D to I), by number; none of them may exist here.

A catch-up after downtime (45) is in ``test_scenarios.py``.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from reconcile.parts import Conditions, lease_body
from reconcile.questions import events, everything, fails, host_id
from reconcile.reconciler_env import LESSEE, ReconcilerEnv

from blazar.domain.errors import BadRequest, CannotChange, LeaseNotFound
from blazar.domain.lease import EventStatus, EventType, LeaseStatus, ReservationStatus
from blazar.plugins.hosts.errors import HostNotFound, NotEnoughHosts
from blazar.ports.manager import Caller


def test_weakness_21_a_delete_that_failed_is_tried_until_it_succeeds(env: ReconcilerEnv) -> None:
    lease = env.create("a", "now", 5)
    env.at(1)
    env.faults.add(fails("compute.*"))

    env.delete(lease)
    env.run_until(2)
    env.delete(lease)
    assert env.lease(lease).status is LeaseStatus.DELETING

    env.faults.clear()
    env.at(2.1)
    assert env.leases() == ()


def test_weakness_23_mistakes_do_not_put_a_lease_into_error(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2)
    reservation = env.lease(lease).reservations[0].id
    before = everything(env)

    mistakes: tuple[dict[str, Any], ...] = (
        {"before_end_date": env.date(7)},
        {"end_date": env.date(0.5)},
        {"end_date": "tomorrow"},
        {"reservations": [{"id": reservation, "max": 9, "min": 9}]},
        {"reservations": [{"id": reservation, "min": 3, "max": 1}]},
        {"reservations": [{"id": reservation, "resource_type": "virtual:instance"}]},
        {"reservations": [{"id": "another lease's"}]},
        {"reservations": [{"id": reservation, "resource_properties": '["==", "$nothing", "1"]'}]},
    )
    for mistake in mistakes:
        with pytest.raises((BadRequest, CannotChange, NotEnoughHosts)):
            env.manager.service.update_lease(LESSEE, lease, mistake)

    assert everything(env) == before
    env.at(1.1)


def test_weakness_23_a_lease_that_could_not_start_is_started_by_an_update(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 3)
    env.at(0.99)
    env.faults.add(fails("compute.add_host", status=403))
    env.run_until(1.1)
    assert env.lease(lease).status is LeaseStatus.ERROR
    assert "compute.add_host" in str(env.lease(lease).reservations[0].problem)
    env.faults.clear()

    env.update(lease, end=4)

    env.at(1.2)
    assert env.lease(lease).status is LeaseStatus.ACTIVE


def test_weakness_24_what_cannot_start_is_taken_back_at_once_and_ends(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, (1, 1), (1, 1))
    env.at(0.99)
    env.faults.add(fails("compute.add_host", status=403, nth=2))

    env.run_until(1.1)

    states = [each.status for each in env.lease(lease).reservations]
    assert sorted(states) == [ReservationStatus.ACTIVE, ReservationStatus.ERROR]
    assert len(env.hosts_of(lease)) == 1
    env.may_fail = True
    env.at(1.2)
    env.at(2.1)
    assert env.lease(lease).status is LeaseStatus.TERMINATED


def test_weakness_25_a_lease_ends_without_anything_of_its_lessee(env: ReconcilerEnv) -> None:
    anonymous = Caller(user_id=None, project_id="project", token=None)
    env.manager.service.create_lease(anonymous, lease_body("a", "now", env.date(2)))

    env.at(0.1)

    env.at(2.1)


def test_weakness_26_a_before_end_action_that_fails_harms_no_reservation(env: ReconcilerEnv) -> None:
    env.reset(Conditions(before_end_lead=timedelta(hours=1)))
    lease = env.create("a", "now", 3, before_end="snapshot")
    env.at(1)
    env.boot(next(iter(env.hosts_of(lease))))
    env.faults.add(fails("compute.create_image", status=403))

    env.at(2.5)

    assert events(env, lease)[EventType.BEFORE_END] is EventStatus.ERROR
    assert env.lease(lease).status is LeaseStatus.ACTIVE
    env.faults.clear()
    env.at(3.1)


def test_weakness_26_a_before_end_action_with_a_bug_harms_no_reservation(
    env: ReconcilerEnv, unexpected_errors: list[str]
) -> None:
    env.reset(Conditions(before_end_lead=timedelta(hours=1), faulty_step="before_end"))
    lease = env.create("a", "now", 3)

    env.at(2.5)

    assert events(env, lease)[EventType.BEFORE_END] is EventStatus.ERROR
    assert len(unexpected_errors) == 1
    env.at(3.1)
    unexpected_errors.clear()


def test_weakness_27_a_plugin_with_a_bug_stops_no_other_reservation(
    env: ReconcilerEnv, unexpected_errors: list[str]
) -> None:
    env.reset(Conditions(faulty_step="make", faulty_host="host-1"))
    lease = env.create("a", 1, 2, (1, 1), (2, 2))

    env.run_until(1.1)

    states = [each.status for each in env.lease(lease).reservations]
    assert states == [ReservationStatus.PENDING, ReservationStatus.ACTIVE]
    assert env.lease(lease).reservations[0].problem == "internal error: ZeroDivisionError"
    env.at(2.1)
    unexpected_errors.clear()


def test_weakness_26_an_update_after_the_before_end_action_does_not_take_it_again(env: ReconcilerEnv) -> None:
    env.reset(Conditions(before_end_lead=timedelta(hours=1)))
    lease = env.create("a", "now", 3, before_end="snapshot")
    env.at(1)
    env.boot(next(iter(env.hosts_of(lease))))
    env.at(2.5)

    env.resize(lease, 1, 2)
    env.at(2.6)

    assert len(env.cloud.images.list_images({})) == 1
    assert env.sent.counts[lease, "lease.event.before_end_lease"] == 1


def test_weakness_27_nothing_but_documented_keys_reaches_a_lease(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2)
    extra = {"project_id": "stranger", "user_id": "stranger", "degraded": True, "status": "ACTIVE", "id": "1"}

    env.manager.service.update_lease(LESSEE, lease, {"name": "b", "events": [], **extra})

    after = env.lease(lease)
    assert (after.name, after.project_id, after.user_id, after.is_degraded) == ("b", "project", "user", False)
    assert len(after.events) == 2
    env.at(1.1)


def test_weakness_31_a_start_deletes_no_servers(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, (3, 3))
    server = env.boot("host-1", project_id="stranger")

    env.run_until(1.01)

    assert [each.id for each in env.cloud.servers.list_servers()] == [server.id]
    assert env.lease(lease).status is LeaseStatus.STARTING
    assert "host-1" in str(env.lease(lease).reservations[0].problem)


def test_weakness_33_an_end_that_takes_long_blocks_no_other_lease(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=2, server_deletion_time=timedelta(minutes=1)))
    slow = env.create("a", "now", 1)
    env.at(0.5)
    env.boot(next(iter(env.hosts_of(slow))))
    free = next(iter({"host-1", "host-2"} - env.hosts_of(slow)))
    other = env.create("b", 1, 2, hypervisor_properties=f'["==", "$hypervisor_hostname", "{free}"]')

    env.run_until(1)

    assert env.lease(slow).status is LeaseStatus.TERMINATING
    assert env.lease(other).status is LeaseStatus.ACTIVE
    env.at(1.2)


def test_weakness_34_a_delete_is_answered_before_everything_is_taken_back(env: ReconcilerEnv) -> None:
    lease = env.create("a", "now", 2, (2, 2))
    env.at(0.1)
    before = env.counted

    env.delete(lease)

    assert env.counted == before
    assert env.lease(lease).status is LeaseStatus.DELETING
    env.at(0.2)


def test_weakness_40_a_server_that_takes_an_hour_to_go_is_waited_for(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=1, server_deletion_time=timedelta(hours=1)))
    lease = env.create("a", "now", 1)
    env.at(0.5)
    env.boot("host-1")

    env.run_until(1.01)
    env.jump(1.99)
    env.run_until(1.995)
    assert env.lease(lease).status is LeaseStatus.TERMINATING
    assert "server" in str(env.lease(lease).reservations[0].problem)

    env.at(2.1)


def test_weakness_45_a_start_says_whose_end_it_waits_for(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=1, server_deletion_time=timedelta(minutes=1)))
    first = env.create("a", "now", 1)
    second = env.create("b", 1, 2)
    env.at(0.9)
    env.boot("host-1")
    holder = env.lease(first).reservations[0].id

    env.run_until(1.01)

    problem = str(env.lease(second).reservations[0].problem)
    assert problem.endswith(f"was not released yet by reservation {holder}")
    env.at(1.1)


def test_weakness_46_what_fails_for_an_hour_is_tried_again(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 3)
    env.faults.add(fails("compute.*"))
    env.run_until(2)
    assert env.lease(lease).status is LeaseStatus.STARTING
    assert "does not respond" in str(env.lease(lease).reservations[0].problem)

    env.faults.clear()

    env.at(2 + 61 / 3600)
    assert env.lease(lease).status is LeaseStatus.ACTIVE


def test_weakness_47_a_start_that_failed_is_announced_as_that(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2)
    env.at(0.99)
    env.faults.add(fails("compute.add_host", status=403))

    env.run_until(1.1)

    assert env.sent.statuses[lease, "lease.event.start_lease"] == ["ERROR"]
    assert events(env, lease)[EventType.START] is EventStatus.ERROR


def test_weakness_47_a_broker_that_is_gone_harms_no_lease(env: ReconcilerEnv) -> None:
    env.sent.is_broken = True
    lease = env.create("a", 1, 2)
    env.run_until(1.5)
    assert env.lease(lease).status is LeaseStatus.ACTIVE

    env.sent.is_broken = False

    env.at(1.6)
    assert env.sent.counts[lease, "lease.event.start_lease"] == 1


def test_weakness_48_a_lease_that_is_deleted_before_its_turn_stops_no_other(env: ReconcilerEnv) -> None:
    gone = env.create("a", 1, 2)
    env.create("b", 1, 2)
    env.run_until(0.9)
    env.delete(gone)

    env.at(1.1)


def test_weakness_50_what_happened_to_a_lease_is_known_after_it_was_deleted(env: ReconcilerEnv) -> None:
    lease = env.create("a", "now", 2)
    env.at(0.1)
    env.delete(lease)
    env.at(0.2)

    with pytest.raises(LeaseNotFound):
        env.manager.service.get_lease(LESSEE, lease)

    told = [(row.event, row.reason) for row in env.rows().journal if row.lease_id == lease]
    assert told[0][0] == "create"
    assert ("lease.status", "STARTING -> ACTIVE") in told
    assert ("lease.status", "DELETING -> gone") in told


def test_weakness_53_a_hypervisor_is_found_by_its_exact_name(env: ReconcilerEnv) -> None:
    env.cloud.add_hypervisor("host-1.example.org")

    env.manager.service.create_host(LESSEE, {"name": "host-1.example.org"})
    with pytest.raises(HostNotFound):
        env.manager.service.create_host(LESSEE, {"name": "host"})

    env.host_names.append("host-1.example.org")
    env.manager.service.delete_host(LESSEE, host_id(env, "host-1"))
    env.host_names.remove("host-1")
    env.create("a", 1, 2, (3, 3))
    env.at(1.1)
