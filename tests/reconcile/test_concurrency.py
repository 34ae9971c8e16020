"""Concurrency: requests against requests, requests against a pass, and managers against managers."""

from __future__ import annotations

import functools
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from clocks import ManualClock
from databases import KINDS
from reconcile.invariants import check_always, check_said_once, check_settled
from reconcile.lab import LESSEE, Lab, LabOn
from reconcile.parts import Conditions, lease_body

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import BlazarError, InvalidLeaseStatus
from blazar.domain.lease import LeaseStatus
from blazar.manager.service import ManagerService

every_database = pytest.mark.parametrize("kind", KINDS)


def all_at_once(acts: Sequence[Callable[[], object]]) -> Counter[str]:
    """Run the acts concurrently and count their results: ``done``, or the name of the error's class."""
    barrier = threading.Barrier(len(acts))

    def run(act: Callable[[], object]) -> str:
        barrier.wait()
        try:
            act()
        except BlazarError as error:
            return type(error).__name__
        return "done"

    with ThreadPoolExecutor(len(acts)) as executor:
        return Counter(executor.map(run, acts))


def body(lab: Lab, name: str, start: float, end: float, count: int = 1) -> Mapping[str, object]:
    return lease_body(name, lab.date(start), lab.date(end), (count, count))


@every_database
def test_one_of_eight_gets_the_last_host_and_the_others_are_told_that_there_is_none(
    kind: str, lab_on: LabOn
) -> None:
    lab = lab_on(kind)
    lab.reset(Conditions(hosts=1))

    results = all_at_once(
        [
            functools.partial(lab.manager.service.create_lease, LESSEE, body(lab, str(number), 1, 2))
            for number in range(8)
        ]
    )

    assert results == {"done": 1, "NotEnoughHosts": 7}
    check_settled_after(lab, 1.1)


class Three:
    """Limits of three hosts for every project."""

    def get(self, project_id: str, *, fresh: bool = False) -> Mapping[str, int]:
        return self.get_defaults()

    def get_defaults(self) -> Mapping[str, int]:
        return {"reserved_hosts": 3}


@every_database
def test_requests_at_the_same_time_do_not_exceed_a_limit_together(kind: str, lab_on: LabOn) -> None:
    lab = lab_on(kind)
    lab.reset(Conditions(hosts=8))
    managers = [ManagerService(replace(lab.new_manager().context, limits=Three())) for _ in range(4)]

    results = all_at_once(
        [
            functools.partial(each.create_lease, LESSEE, body(lab, f"{number} {attempt}", 1, 2))
            for number, each in enumerate(managers)
            for attempt in range(2)
        ]
    )

    assert results == {"done": 3, "QuotaExceeded": 5}
    check_settled_after(lab, 1.1)


@every_database
def test_managers_that_do_not_know_of_each_other_promise_each_host_once(kind: str, lab_on: LabOn) -> None:
    lab = lab_on(kind)
    lab.reset(Conditions(hosts=4))
    managers = [lab.new_manager() for _ in range(4)]

    results = all_at_once(
        [
            functools.partial(each.service.create_lease, LESSEE, body(lab, f"{each.name} {number}", 1, 2, 2))
            for each in managers
            for number in range(2)
        ]
    )

    assert results == {"done": 2, "NotEnoughHosts": 6}
    check_settled_after(lab, 1.1)


@every_database
def test_two_updates_at_once_both_take_effect(kind: str, lab_on: LabOn) -> None:
    lab = lab_on(kind)
    lease = lab.create("a", 1, 2)
    manager = lab.manager.service

    results = all_at_once(
        [
            lambda: manager.update_lease(LESSEE, lease, {"end_date": lab.date(4)}),
            lambda: manager.update_lease(LESSEE, lease, {"name": "b"}),
        ]
    )

    assert results == {"done": 2}
    assert (lab.lease(lease).name, lab.lease(lease).end) == ("b", lab.instant(4))
    check_settled_after(lab, 1.1)


@every_database
def test_of_two_that_want_the_same_hour_of_one_host_one_gets_it(kind: str, lab_on: LabOn) -> None:
    lab = lab_on(kind)
    lab.reset(Conditions(hosts=1))
    first, second = lab.create("a", 1, 2), lab.create("b", 3, 4)
    manager = lab.manager.service

    results = all_at_once(
        [
            lambda: manager.update_lease(LESSEE, first, {"end_date": lab.date(3)}),
            lambda: manager.update_lease(LESSEE, second, {"start_date": lab.date(2)}),
            lambda: manager.create_lease(LESSEE, body(lab, "c", 2, 3)),
        ]
    )

    assert results == {"done": 1, "NotEnoughHosts": 2}
    check_settled_after(lab, 2.5)


@every_database
def test_a_lease_that_is_updated_and_deleted_at_once_is_gone(kind: str, lab_on: LabOn) -> None:
    lab = lab_on(kind)
    lease = lab.create("a", "now", 2)
    lab.at(0.5)
    manager = lab.manager.service

    results = all_at_once(
        [
            lambda: manager.update_lease(LESSEE, lease, {"end_date": lab.date(4)}),
            lambda: manager.delete_lease(LESSEE, lease),
            lambda: manager.delete_lease(LESSEE, lease),
        ]
    )

    assert results["done"] >= 2
    assert results.keys() <= {"done", "InvalidLeaseStatus", "LeaseNotFound"}
    check_settled_after(lab, 0.6)
    assert lab.leases() == ()


def test_a_lease_that_is_deleted_while_it_starts_is_taken_back(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, (2, 2))
    lab.at(0.99)

    def delete() -> None:
        assert lab.lease(lease).status is LeaseStatus.STARTING
        lab.manager.service.delete_lease(LESSEE, lease)

    lab.faults.before("compute.remove_host", delete)
    lab.at(1.1)

    assert lab.leases() == ()
    assert lab.sent.counts[lease, "lease.delete"] == 1


def test_a_lease_that_starts_cannot_be_changed(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, (2, 2))
    lab.at(0.99)

    def update() -> None:
        with pytest.raises(InvalidLeaseStatus):
            lab.manager.service.update_lease(LESSEE, lease, {"end_date": lab.date(4)})

    lab.faults.before("compute.remove_host", update)
    lab.at(1.1)

    assert lab.lease(lease).end == lab.instant(2)


def test_a_lease_is_renamed_between_two_steps_of_its_start_and_starts(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, (2, 2))
    lab.at(0.99)

    def rename() -> None:
        assert lab.lease(lease).status is LeaseStatus.STARTING
        lab.manager.service.update_lease(LESSEE, lease, {"name": "b"})

    lab.faults.before("compute.remove_host", rename)
    lab.at(1.1)

    assert (lab.lease(lease).name, lab.lease(lease).status) == ("b", LeaseStatus.ACTIVE)
    assert lab.sent.counts[lease, "lease.event.start_lease"] == 1


def test_a_change_during_a_pass_is_looked_at_at_once(lab: Lab) -> None:
    lease = lab.create("a", "now", 2)
    lab.at(0.5)
    lab.resize(lease, 1, 2)
    lab.faults.before(
        "compute.remove_host", lambda: lab.manager.service.update_lease(LESSEE, lease, {"end_date": "now"})
    )

    lab.run_due()

    assert lab.lease(lease).status is LeaseStatus.TERMINATED
    check_settled(lab)


def test_a_host_released_during_the_pass_of_its_next_holder_is_handed_over_at_once(
    lab: Lab,
) -> None:
    lab.reset(Conditions(hosts=1))
    lab.create("a", "now", 1)
    second = lab.create("b", 1, 2)
    lab.at(0.999)
    lab.clock.set(lab.instant(1))

    # The pass for the first lease has read the database before the other lease's pass runs.
    lab.faults.before("compute.list_aggregates", lab.new_manager().reconciler.run_due)
    lab.run_due()

    assert lab.lease(second).status is LeaseStatus.ACTIVE
    check_settled(lab)


def test_a_worker_that_was_paused_until_its_claim_was_taken_over_does_no_more(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, (2, 2))
    lab.at(0.99)
    other = lab.new_manager()
    calls = []

    def pause() -> None:
        lab.clock.advance(timedelta(seconds=11))
        other.reconciler.run_due()
        assert lab.lease(lease).status is LeaseStatus.ACTIVE
        calls.append(lab.cloud.calls)

    lab.faults.before("compute.add_host", pause)
    lab.run_until(1)

    after = [row for row in lab.world().journal if row.at > lab.instant(1)]
    assert {row.actor for row in after} == {other.name}
    # The cloud refuses the next operation; the worker looks for the cause and stops there.
    assert set(lab.cloud.calls - calls[0]) == {"compute.list_aggregates"}
    lab.at(1.1)


def test_a_worker_whose_clock_is_behind_writes_nothing_after_its_claim_was_taken_over(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, (2, 2))
    lab.at(0.99)
    ahead = lab.new_manager(ManualClock(lab.instant(1) + timedelta(seconds=30)))

    lab.faults.before("compute.add_host", ahead.reconciler.run_due)
    lab.run_until(1)

    written = [row for row in lab.world().journal if row.reason == "STARTING -> ACTIVE"]
    assert [row.actor for row in written] == [ahead.name]
    assert lab.lease(lease).status is LeaseStatus.ACTIVE


def test_a_killed_manager_s_work_is_taken_over_within_fifteen_seconds(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, (2, 2))
    lab.at(0.99)

    lab.faults.add(FaultRule(kind=FaultKind.CRASH, operation="compute.remove_host", nth=1))
    lab.run_until(1)
    assert lab.lease(lease).status is LeaseStatus.STARTING
    lab.run_until(1 + 15 / 3600)

    assert lab.lease(lease).status is LeaseStatus.ACTIVE


@every_database
def test_weakness_02_four_managers_start_and_end_every_lease_once(lab_on: LabOn, kind: str) -> None:
    lab = lab_on(kind)
    lab.reset(Conditions(hosts=8))
    for number in range(8):
        lab.create(f"early {number}", 1, 2)
        lab.create(f"late {number}", 2, 3)
    managers = [lab.new_manager() for _ in range(4)]

    for hours in (1, 2, 3):
        lab.run_until(hours - 0.01)
        lab.clock.set(lab.instant(hours))
        with lab.faults.exempt():
            results = all_at_once([each.reconciler.run_due for each in managers])
        assert results.keys() <= {"done", "ConcurrentUpdate"}
        lab.at(hours + 0.1)

    check_said_once(lab)


def check_settled_after(lab: Lab, hours: float) -> None:
    check_always(lab)
    lab.at(hours)
