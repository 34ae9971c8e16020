"""Servers are deleted only after their snapshots exist, within a time limit, and failures are reported."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from reconcile.lab import Lab
from reconcile.parts import Conditions

from blazar.booking import event_types
from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import CloudRefused
from blazar.domain.lease import EventStatus, EventType, LeaseStatus
from blazar.ports.compute import ImageState

MINUTE = 1 / 60
REFUSED = FaultRule(kind=FaultKind.ERROR, operation="compute.create_image", error=CloudRefused)
KEEP = {"before_end_wait": timedelta(minutes=10), "before_end_grace": timedelta(hours=1)}


def begin(lab: Lab, **conditions: Any) -> str:
    """Return an active lease from 0 to 2, with a server; its notice is due an hour before its end."""
    lab.reset(Conditions(before_end_lead=timedelta(hours=1), **conditions))
    lease = lab.create("a", 0, 2, before_end="snapshot")
    lab.at(0.5)
    lab.boot("", reservation_id=lab.lease(lease).reservations[0].id)
    return lease


def sent(lab: Lab, lease: str) -> Mapping[str, int]:
    return {event_type: count for (key, event_type), count in lab.sent.counts.items() if key == lease}


def event(lab: Lab, lease: str) -> EventStatus:
    return lab.lease(lease).get_event_status(EventType.BEFORE_END)


def history(lab: Lab, lease: str) -> list[str]:
    return [row.reason for row in lab.world().journal if row.lease_id == lease]


def images(lab: Lab) -> list[ImageState]:
    with lab.faults.exempt():
        return [each.state for each in lab.cloud.compute.list_images({})]


def test_the_event_is_done_when_the_images_are_active(lab: Lab) -> None:
    lease = begin(lab, **KEEP)
    lab.cloud.compute.image_state = ImageState.PENDING

    lab.run_until(1.5)
    assert event(lab, lease) is EventStatus.IN_PROGRESS
    lab.cloud.compute.settle_images(ImageState.ACTIVE)
    lab.run_until(1.6)

    assert event(lab, lease) is EventStatus.DONE
    assert images(lab) == [ImageState.ACTIVE]
    lab.at(2.1)


def test_the_notice_is_sent_on_time_while_snapshots_take_long_or_are_refused(lab: Lab) -> None:
    for fault in (True, False):
        lease = begin(lab, **KEEP)
        if fault:
            lab.faults.add(REFUSED)
        else:
            lab.cloud.compute.image_state = ImageState.PENDING

        lab.run_until(1)

        assert sent(lab, lease)[event_types.BEFORE_END] == 1
        lab.run_until(4)
        assert sent(lab, lease)[event_types.BEFORE_END] == 1


def test_the_notice_is_sent_though_the_cloud_does_not_answer_at_all(lab: Lab) -> None:
    lease = begin(lab, **KEEP)
    lab.faults.add(FaultRule(kind=FaultKind.STATUS, operation="compute.*", status=503))

    lab.run_until(1)

    assert sent(lab, lease)[event_types.BEFORE_END] == 1


def test_servers_stay_until_their_images_are_active(lab: Lab) -> None:
    lease = begin(lab, **KEEP)
    lab.cloud.compute.image_state = ImageState.PENDING

    lab.run_until(2 + 5 * MINUTE)
    assert lab.lease(lease).status is LeaseStatus.TERMINATING
    assert len(lab.servers()) == 1
    lab.cloud.compute.settle_images(ImageState.ACTIVE)
    lab.at(2 + 6 * MINUTE)

    assert lab.lease(lease).status is LeaseStatus.TERMINATED
    assert (len(lab.servers()), images(lab)) == (0, [ImageState.ACTIVE])
    assert event(lab, lease) is EventStatus.DONE


def test_images_that_are_never_active_are_not_waited_for_for_ever(lab: Lab) -> None:
    lease = begin(lab, before_end_wait=timedelta(minutes=10))
    lab.cloud.compute.image_state = ImageState.PENDING

    lab.run_until(2 + 9 * MINUTE)
    assert len(lab.servers()) == 1
    lab.at(2 + 11 * MINUTE)

    assert lab.lease(lease).status is LeaseStatus.TERMINATED
    assert event(lab, lease) is EventStatus.ERROR
    assert sent(lab, lease)[event_types.BEFORE_END_FAILED] == 1


def test_a_refused_snapshot_keeps_the_servers_and_everybody_is_told_why(lab: Lab) -> None:
    lease = begin(lab, **KEEP)
    lab.faults.add(REFUSED)

    lab.run_until(1.1)
    assert event(lab, lease) is EventStatus.ERROR
    assert sent(lab, lease)[event_types.BEFORE_END_FAILED] == 1
    assert any("before-end action: server" in each for each in history(lab, lease))
    lab.run_until(2.5)
    assert (lab.lease(lease).status, len(lab.servers())) == (LeaseStatus.TERMINATING, 1)
    lab.at(3.1)

    assert (lab.lease(lease).status, len(lab.servers())) == (LeaseStatus.TERMINATED, 0)
    assert sent(lab, lease)[event_types.BEFORE_END_FAILED] == 1


def test_a_snapshot_that_succeeds_in_the_grace_period_ends_it(lab: Lab) -> None:
    lease = begin(lab, **KEEP)
    lab.faults.add(REFUSED)
    lab.run_until(2.2)

    lab.faults.clear()
    lab.at(2.3)

    assert (lab.lease(lease).status, len(lab.servers())) == (LeaseStatus.TERMINATED, 0)
    assert (images(lab), event(lab, lease)) == ([ImageState.ACTIVE], EventStatus.DONE)


def test_without_a_grace_period_the_servers_go_and_the_reason_stays(lab: Lab) -> None:
    lease = begin(lab, before_end_wait=timedelta(minutes=10))
    lab.faults.add(REFUSED)

    lab.at(2.01)

    assert (lab.lease(lease).status, len(lab.servers())) == (LeaseStatus.TERMINATED, 0)
    assert any("before-end action: server" in each for each in history(lab, lease))


def test_who_deletes_the_lease_waits_for_no_image(lab: Lab) -> None:
    lease = begin(lab, **KEEP)
    lab.faults.add(REFUSED)
    lab.run_until(2.2)
    assert len(lab.servers()) == 1

    lab.delete(lease)
    lab.at(2.21)

    assert (lab.leases(), len(lab.servers())) == ((), 0)


def test_images_that_fail_are_made_again_a_few_times(lab: Lab) -> None:
    lease = begin(lab, **KEEP)
    lab.cloud.compute.image_state = ImageState.FAILED

    lab.run_until(2.5)
    assert images(lab) == [ImageState.FAILED] * 3
    assert event(lab, lease) is EventStatus.ERROR
    assert any("3 images of it failed" in each for each in history(lab, lease))


def test_an_image_of_another_project_is_not_the_lessees_snapshot(lab: Lab) -> None:
    lease = begin(lab, **KEEP)
    due = lab.lease(lease).find_event(EventType.BEFORE_END)
    assert due is not None
    (server_id,) = lab.servers()
    properties = {
        "blazar_reservation": lab.lease(lease).reservations[0].id,
        "blazar_server": server_id,
        "blazar_before_end": due.time.isoformat(),
    }
    with lab.faults.exempt():
        forged = lab.cloud.compute.create_image(server_id, "forged", properties)
        lab.cloud.compute.set_image_owner(forged, "stranger")

    lab.run_until(1.1)

    with lab.faults.exempt():
        owners = {each.id: each.owner_project_id for each in lab.cloud.compute.list_images(properties)}
    assert owners.pop(forged) == "stranger"
    assert list(owners.values()) == ["project"]
    assert event(lab, lease) is EventStatus.DONE


def test_a_lease_that_is_cut_short_is_snapshotted_all_the_same(lab: Lab) -> None:
    lease = begin(lab, **KEEP)

    lab.update(lease, end="now")
    lab.run_due()

    assert lab.lease(lease).status is LeaseStatus.TERMINATED
    assert images(lab) == [ImageState.ACTIVE]


@pytest.mark.parametrize("hosts", [1, 2])
def test_the_next_lease_gets_another_host_meanwhile_or_waits(lab: Lab, hosts: int) -> None:
    lease = begin(lab, hosts=hosts, **KEEP)
    (held,) = lab.hosts_of(lease)
    name = '["==", "$hypervisor_hostname", "host-1"]' if hosts == 1 else ""
    other = lab.create("other", 1.9, 4) if hosts == 2 else None
    following = lab.create("next", 2, 5, hypervisor_properties=name)
    if other is not None:
        lab.delete(other)
    lab.faults.add(REFUSED)

    lab.run_until(2.1)
    assert lab.hosts_of(lease) == {held}
    expected = LeaseStatus.ACTIVE if hosts == 2 else LeaseStatus.STARTING
    assert lab.lease(following).status is expected
    lab.at(3.1)
    assert lab.lease(following).status is LeaseStatus.ACTIVE
