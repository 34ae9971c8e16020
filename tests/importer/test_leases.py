"""Statuses of the existing service's leases, and the resulting statuses after the import."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from importer import old_rows as old
from samples import at

from blazar.domain.lease import EventStatus, EventType, Lease
from blazar.importer.ledger import Kind
from blazar.importer.plan import Plan, PlannedLease, make_plan
from blazar.importer.present import Present
from blazar.ports.old_service import OldEvent

LEAD = timedelta(minutes=1)
PRESENT = Present(now=old.NOW)
PAST, OPEN, AHEAD = (-10, -5), (-5, 5), (5, 10)


def plan_of(
    window: tuple[float, float],
    status: str | None,
    reserved: str = "pending",
    events: tuple[str, str] = ("UNDONE", "UNDONE"),
    kind: str = "physical:host",
) -> Plan:
    details: dict[str, Any] = {"host_details": [old.host_details("a")]}
    if kind == "virtual:floatingip":
        details = {"floatingip_details": [old.floatingip_details("a", amount=0)]}
    there = old.database(
        old.lease("a", *window, status),
        statuses=events,
        hosts=[old.host()],
        reservations=[old.reservation("a", reserved, kind)],
        host_allocations=old.held("a", "1") if kind == "physical:host" else [],
        **details,
    )
    return make_plan(there, PRESENT, LEAD)


def planned(*arguments: object, **options: object) -> PlannedLease:
    (found,) = plan_of(*arguments, **options).leases  # type: ignore[arg-type]
    return found


def shape(lease: Lease) -> tuple[str, str, str, str]:
    """Return the statuses of a lease, its reservation, its start event and its end event."""
    start, end = (lease.get_event_status(each) for each in (EventType.START, EventType.END))
    return lease.status, lease.reservations[0].status, start, end


SHAPES: Mapping[tuple[object, ...], tuple[str, str, str, str]] = {
    # consistent
    (AHEAD, "PENDING"): ("PENDING", "pending", "UNDONE", "UNDONE"),
    (OPEN, "ACTIVE", "active", ("DONE", "UNDONE")): ("ACTIVE", "active", "DONE", "UNDONE"),
    (PAST, "TERMINATED", "deleted", ("DONE", "DONE")): ("TERMINATED", "deleted", "DONE", "DONE"),
    # no manager ran when the event was due
    (OPEN, "PENDING"): ("PENDING", "pending", "UNDONE", "UNDONE"),
    (PAST, "PENDING"): ("PENDING", "pending", "UNDONE", "UNDONE"),
    (PAST, "ACTIVE", "active", ("DONE", "UNDONE")): ("ACTIVE", "active", "DONE", "UNDONE"),
    # stuck during an operation
    (OPEN, "STARTING", "pending", ("IN_PROGRESS", "UNDONE")): (
        "STARTING",
        "pending",
        "IN_PROGRESS",
        "UNDONE",
    ),
    (AHEAD, "UPDATING"): ("PENDING", "pending", "UNDONE", "UNDONE"),
    (OPEN, "UPDATING", "active", ("DONE", "UNDONE")): ("ACTIVE", "active", "DONE", "UNDONE"),
    (PAST, "TERMINATING", "active", ("DONE", "IN_PROGRESS")): (
        "TERMINATING",
        "active",
        "DONE",
        "IN_PROGRESS",
    ),
    (OPEN, "DELETING", "active", ("DONE", "IN_PROGRESS")): ("DELETING", "active", "DONE", "IN_PROGRESS"),
    (AHEAD, "CREATING"): ("DELETING", "pending", "UNDONE", "UNDONE"),
    # in error: while pending, at the start, before the end, on deletion, at the end
    (AHEAD, "ERROR"): ("PENDING", "pending", "UNDONE", "UNDONE"),
    (OPEN, "ERROR", "error", ("ERROR", "UNDONE")): ("STARTING", "pending", "IN_PROGRESS", "UNDONE"),
    (OPEN, "ERROR", "error", ("DONE", "UNDONE")): ("ACTIVE", "active", "DONE", "UNDONE"),
    (OPEN, "ERROR", "active", ("DONE", "IN_PROGRESS")): ("ACTIVE", "active", "DONE", "UNDONE"),
    (PAST, "ERROR", "error", ("DONE", "ERROR")): ("TERMINATING", "active", "DONE", "IN_PROGRESS"),
    # inconsistent
    (OPEN, None): ("PENDING", "pending", "UNDONE", "UNDONE"),
    (AHEAD, "TERMINATED", "active", ("DONE", "DONE")): ("TERMINATED", "deleted", "DONE", "DONE"),
}


@pytest.mark.parametrize("there", SHAPES, ids=str)
def test_its_window_decides_what_becomes_of_a_lease(there: tuple[object, ...]) -> None:
    assert shape(planned(*there).lease) == SHAPES[there]


@pytest.mark.parametrize(
    ("there", "reason"),
    [
        ((OPEN, "UPDATING"), "UPDATING: its window is open: it is active"),
        ((AHEAD, "ERROR"), "ERROR: it has not begun: it is pending"),
        ((AHEAD, "ACTIVE", "active", ("DONE", "UNDONE")), "ACTIVE: it has not begun: it is pending"),
        ((PAST, "STARTING"), "STARTING: its end has passed: it ends"),
        ((OPEN, "DELETING"), "DELETING: it is deleted"),
        ((OPEN, "ACTIVE", "active", ("DONE", "UNDONE")), None),
        ((AHEAD, "PENDING"), None),
    ],
)
def test_a_status_that_would_have_stayed_is_reported_with_what_comes_of_it(
    there: tuple[object, ...], reason: str | None
) -> None:
    found = plan_of(*there).ledger.of([Kind.STUCK])  # type: ignore[arg-type]

    assert [each.reason for each in found.get(Kind.STUCK, [])] == ([reason] if reason else [])


@pytest.mark.parametrize(
    ("there", "due"),
    [
        ((AHEAD, "PENDING"), at(5) - LEAD),
        ((OPEN, "ACTIVE", "active", ("DONE", "UNDONE")), old.NOW),
        ((PAST, "ACTIVE", "active", ("DONE", "UNDONE")), old.NOW),
        ((AHEAD, "CREATING"), old.NOW),
        ((PAST, "TERMINATED", "deleted", ("DONE", "DONE")), None),
    ],
)
def test_work_made_ahead_is_left_alone_and_the_rest_is_due_at_once(
    there: tuple[object, ...], due: object
) -> None:
    assert planned(*there).due_at == due


@pytest.mark.parametrize(
    ("there", "is_deployed"),
    [
        ((AHEAD, "PENDING"), True),
        ((AHEAD, "PENDING", "pending", ("UNDONE", "UNDONE"), "virtual:floatingip"), False),
        ((OPEN, "PENDING", "pending", ("UNDONE", "UNDONE"), "virtual:floatingip"), True),
        ((PAST, "ERROR", "error", ("DONE", "ERROR")), True),
        ((PAST, "TERMINATED", "deleted", ("DONE", "DONE")), False),
    ],
)
def test_what_may_exist_outside_is_said_to(there: tuple[object, ...], is_deployed: bool) -> None:
    assert planned(*there).lease.reservations[0].is_deployed is is_deployed


def test_ids_names_dates_and_owners_are_kept() -> None:
    lease = planned(OPEN, "ACTIVE", "active", ("DONE", "UNDONE")).lease

    assert (lease.id, lease.name, lease.user_id, lease.project_id) == ("a", "name of a", "user", "project")
    assert (lease.start, lease.end, lease.created_at) == (at(-5), at(5), at(-100))
    assert lease.reservations[0].id == "r-a"
    assert {each.id for each in lease.events} == {"a start_lease", "a end_lease"}


class TestEvents:
    def plan(self, *more: OldEvent, window: tuple[float, float] = AHEAD) -> Plan:
        lease = old.lease("a", *window, "PENDING")
        return make_plan(old.database(lease, all_events=more), PRESENT, LEAD)

    def event(self, kind: str, hours: float, **columns: object) -> OldEvent:
        columns = {"id": f"{kind} {hours}", "lease_id": "a", "status": "UNDONE", **old.TIMES, **columns}
        return OldEvent(event_type=kind, time=at(hours), **columns)  # type: ignore[arg-type]

    def test_start_and_end_are_added_under_ids_that_do_not_change(self) -> None:
        one, other = self.plan(), self.plan()

        (lease,) = (each.lease for each in one.leases)
        assert {each.event_type: each.time for each in lease.events} == {
            EventType.START: lease.start,
            EventType.END: lease.end,
        }
        assert lease.events == other.leases[0].lease.events
        assert [each.kind for each in one.ledger.findings] == [Kind.NO_EVENT] * 2

    def test_of_two_ends_the_one_at_the_leases_own_end_counts(self) -> None:
        there = [self.event("start_lease", 5), self.event("end_lease", 4), self.event("end_lease", 10)]

        plan = self.plan(*there)

        assert {each.id for each in plan.leases[0].lease.events} == {"start_lease 5", "end_lease 10"}
        assert [each.subject for each in plan.ledger.findings] == ["event end_lease 4"]

    def test_what_is_no_event_of_ours_is_left_out(self) -> None:
        there = [self.event("start_lease", 5), self.event("end_lease", 10), self.event("inspect", 6)]

        plan = self.plan(*there, self.event("start_lease", 6, id="orphan", lease_id=None))

        assert len(plan.leases[0].lease.events) == 2
        assert {each.subject for each in plan.ledger.findings} == {"event inspect 6", "event orphan"}
        assert {each.kind for each in plan.ledger.findings} == {Kind.ODD_EVENT}

    def test_one_whose_time_has_passed_is_reported(self) -> None:
        plan = self.plan(self.event("start_lease", -5), self.event("end_lease", 5), window=OPEN)

        (found,) = plan.ledger.findings
        assert (found.kind, found.subject, found.lease_id) == (Kind.LATE_EVENT, "event start_lease -5", "a")

    def test_the_before_end_action_of_a_running_lease_is_still_to_come(self) -> None:
        there = [self.event("start_lease", -5), self.event("end_lease", 5)]
        for before, after in (("IN_PROGRESS", "UNDONE"), ("UNDONE", "UNDONE"), ("DONE", "DONE")):
            plan = self.plan(*there, self.event("before_end_lease", 4, status=before), window=OPEN)
            found = plan.leases[0].lease.get_event_status(EventType.BEFORE_END)
            assert found is EventStatus(after)
