"""Servers are deleted only after their snapshots exist, within a time limit, and failures are reported."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from reconcile.parts import Conditions
from reconcile.reconciler_env import ReconcilerEnv

from blazar.booking import event_types
from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import CloudRefused
from blazar.domain.lease import EventStatus, EventType, LeaseStatus
from blazar.ports.images import ImageState

MINUTE = 1 / 60
REFUSED = FaultRule(kind=FaultKind.ERROR, operation="compute.create_image", error=CloudRefused)
KEEP = {"before_end_wait": timedelta(minutes=10), "before_end_grace": timedelta(hours=1)}


def begin(env: ReconcilerEnv, **conditions: Any) -> str:
    """Return an active lease from 0 to 2, with a server; its notice is due an hour before its end."""
    env.reset(Conditions(before_end_lead=timedelta(hours=1), **conditions))
    lease = env.create("a", 0, 2, before_end="snapshot")
    env.at(0.5)
    env.boot("", reservation_id=env.lease(lease).reservations[0].id)
    return lease


def sent(env: ReconcilerEnv, lease: str) -> Mapping[str, int]:
    return {event_type: count for (key, event_type), count in env.sent.counts.items() if key == lease}


def event(env: ReconcilerEnv, lease: str) -> EventStatus:
    return env.lease(lease).get_event_status(EventType.BEFORE_END)


def history(env: ReconcilerEnv, lease: str) -> list[str]:
    return [row.reason for row in env.rows().journal if row.lease_id == lease]


def images(env: ReconcilerEnv) -> list[ImageState]:
    with env.faults.exempt():
        return [each.state for each in env.cloud.images.list_images({})]


def test_the_event_is_done_when_the_images_are_active(env: ReconcilerEnv) -> None:
    lease = begin(env, **KEEP)
    env.cloud.images.image_state = ImageState.PENDING

    env.run_until(1.5)
    assert event(env, lease) is EventStatus.IN_PROGRESS
    env.cloud.images.settle_images(ImageState.ACTIVE)
    env.run_until(1.6)

    assert event(env, lease) is EventStatus.DONE
    assert images(env) == [ImageState.ACTIVE]
    env.at(2.1)


def test_the_notice_is_sent_on_time_while_snapshots_take_long_or_are_refused(env: ReconcilerEnv) -> None:
    for fault in (True, False):
        lease = begin(env, **KEEP)
        if fault:
            env.faults.add(REFUSED)
        else:
            env.cloud.images.image_state = ImageState.PENDING

        env.run_until(1)

        assert sent(env, lease)[event_types.BEFORE_END] == 1
        env.run_until(4)
        assert sent(env, lease)[event_types.BEFORE_END] == 1


def test_the_notice_is_sent_though_the_cloud_does_not_answer_at_all(env: ReconcilerEnv) -> None:
    lease = begin(env, **KEEP)
    env.faults.add(FaultRule(kind=FaultKind.STATUS, operation="compute.*", status=503))

    env.run_until(1)

    assert sent(env, lease)[event_types.BEFORE_END] == 1


def test_servers_stay_until_their_images_are_active(env: ReconcilerEnv) -> None:
    lease = begin(env, **KEEP)
    env.cloud.images.image_state = ImageState.PENDING

    env.run_until(2 + 5 * MINUTE)
    assert env.lease(lease).status is LeaseStatus.TERMINATING
    assert len(env.servers()) == 1
    env.cloud.images.settle_images(ImageState.ACTIVE)
    env.at(2 + 6 * MINUTE)

    assert env.lease(lease).status is LeaseStatus.TERMINATED
    assert (len(env.servers()), images(env)) == (0, [ImageState.ACTIVE])
    assert event(env, lease) is EventStatus.DONE


def test_images_that_are_never_active_are_not_waited_for_for_ever(env: ReconcilerEnv) -> None:
    lease = begin(env, before_end_wait=timedelta(minutes=10))
    env.cloud.images.image_state = ImageState.PENDING

    env.run_until(2 + 9 * MINUTE)
    assert len(env.servers()) == 1
    env.at(2 + 11 * MINUTE)

    assert env.lease(lease).status is LeaseStatus.TERMINATED
    assert event(env, lease) is EventStatus.ERROR
    assert sent(env, lease)[event_types.BEFORE_END_FAILED] == 1


def test_a_refused_snapshot_keeps_the_servers_and_everybody_is_told_why(env: ReconcilerEnv) -> None:
    lease = begin(env, **KEEP)
    env.faults.add(REFUSED)

    env.run_until(1.1)
    assert event(env, lease) is EventStatus.ERROR
    assert sent(env, lease)[event_types.BEFORE_END_FAILED] == 1
    assert any("before-end action: server" in each for each in history(env, lease))
    env.run_until(2.5)
    assert (env.lease(lease).status, len(env.servers())) == (LeaseStatus.TERMINATING, 1)
    env.at(3.1)

    assert (env.lease(lease).status, len(env.servers())) == (LeaseStatus.TERMINATED, 0)
    assert sent(env, lease)[event_types.BEFORE_END_FAILED] == 1


def test_a_snapshot_that_succeeds_in_the_grace_period_ends_it(env: ReconcilerEnv) -> None:
    lease = begin(env, **KEEP)
    env.faults.add(REFUSED)
    env.run_until(2.2)

    env.faults.clear()
    env.at(2.3)

    assert (env.lease(lease).status, len(env.servers())) == (LeaseStatus.TERMINATED, 0)
    assert (images(env), event(env, lease)) == ([ImageState.ACTIVE], EventStatus.DONE)


def test_without_a_grace_period_the_servers_go_and_the_reason_stays(env: ReconcilerEnv) -> None:
    lease = begin(env, before_end_wait=timedelta(minutes=10))
    env.faults.add(REFUSED)

    env.at(2.01)

    assert (env.lease(lease).status, len(env.servers())) == (LeaseStatus.TERMINATED, 0)
    assert any("before-end action: server" in each for each in history(env, lease))


def test_who_deletes_the_lease_waits_for_no_image(env: ReconcilerEnv) -> None:
    lease = begin(env, **KEEP)
    env.faults.add(REFUSED)
    env.run_until(2.2)
    assert len(env.servers()) == 1

    env.delete(lease)
    env.at(2.21)

    assert (env.leases(), len(env.servers())) == ((), 0)


def test_images_that_fail_are_made_again_a_few_times(env: ReconcilerEnv) -> None:
    lease = begin(env, **KEEP)
    env.cloud.images.image_state = ImageState.FAILED

    env.run_until(2.5)
    assert images(env) == [ImageState.FAILED] * 3
    assert event(env, lease) is EventStatus.ERROR
    assert any("3 images of it failed" in each for each in history(env, lease))


def test_an_image_of_another_project_is_not_the_lessees_snapshot(env: ReconcilerEnv) -> None:
    lease = begin(env, **KEEP)
    due = env.lease(lease).find_event(EventType.BEFORE_END)
    assert due is not None
    (server_id,) = env.servers()
    properties = {
        "blazar_reservation": env.lease(lease).reservations[0].id,
        "blazar_server": server_id,
        "blazar_before_end": due.time.isoformat(),
    }
    with env.faults.exempt():
        forged = env.cloud.images.create_image(server_id, "forged", properties)
        env.cloud.images.set_image_owner(forged, "stranger")

    env.run_until(1.1)

    with env.faults.exempt():
        owners = {each.id: each.owner_project_id for each in env.cloud.images.list_images(properties)}
    assert owners.pop(forged) == "stranger"
    assert list(owners.values()) == ["project"]
    assert event(env, lease) is EventStatus.DONE


def test_a_lease_that_is_cut_short_is_snapshotted_all_the_same(env: ReconcilerEnv) -> None:
    lease = begin(env, **KEEP)

    env.update(lease, end="now")
    env.run_due()

    assert env.lease(lease).status is LeaseStatus.TERMINATED
    assert images(env) == [ImageState.ACTIVE]


@pytest.mark.parametrize("hosts", [1, 2])
def test_the_next_lease_gets_another_host_meanwhile_or_waits(env: ReconcilerEnv, hosts: int) -> None:
    lease = begin(env, hosts=hosts, **KEEP)
    (held,) = env.hosts_of(lease)
    name = '["==", "$hypervisor_hostname", "host-1"]' if hosts == 1 else ""
    other = env.create("other", 1.9, 4) if hosts == 2 else None
    following = env.create("next", 2, 5, hypervisor_properties=name)
    if other is not None:
        env.delete(other)
    env.faults.add(REFUSED)

    env.run_until(2.1)
    assert env.hosts_of(lease) == {held}
    expected = LeaseStatus.ACTIVE if hosts == 2 else LeaseStatus.STARTING
    assert env.lease(following).status is expected
    env.at(3.1)
    assert env.lease(following).status is LeaseStatus.ACTIVE
