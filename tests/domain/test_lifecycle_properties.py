"""For any sequence of outcomes, a lease makes only documented status transitions and ends."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from samples import MINUTE, at, make_lease

from blazar.domain.lease import Event, EventStatus, Lease, LeaseStatus, ReservationStatus
from blazar.domain.lifecycle import (
    Phase,
    Progress,
    advanced,
    begun,
    phase_of,
    reservation_phase,
    with_status,
)

LEAD = 10 * MINUTE
UNDONE, IN_PROGRESS, DONE, ERROR = (
    EventStatus.UNDONE,
    EventStatus.IN_PROGRESS,
    EventStatus.DONE,
    EventStatus.ERROR,
)
PENDING, ACTIVE, DELETED, FAILED = (
    ReservationStatus.PENDING,
    ReservationStatus.ACTIVE,
    ReservationStatus.DELETED,
    ReservationStatus.ERROR,
)

# The documented transitions; these tests make no updates.
LEASE_TRANSITIONS = {
    LeaseStatus.PENDING: {LeaseStatus.STARTING, LeaseStatus.DELETING},
    LeaseStatus.STARTING: {LeaseStatus.ACTIVE, LeaseStatus.ERROR, LeaseStatus.DELETING},
    LeaseStatus.ACTIVE: {LeaseStatus.TERMINATING, LeaseStatus.DELETING},
    LeaseStatus.ERROR: {LeaseStatus.TERMINATING, LeaseStatus.DELETING},
    LeaseStatus.TERMINATING: {LeaseStatus.TERMINATED, LeaseStatus.ERROR, LeaseStatus.DELETING},
    LeaseStatus.TERMINATED: {LeaseStatus.DELETING},
    LeaseStatus.DELETING: set(),
}
TOO_LATE = {
    # If no pass ran before the end, the statuses in between are skipped.
    (LeaseStatus.PENDING, LeaseStatus.TERMINATING),
    (LeaseStatus.STARTING, LeaseStatus.TERMINATING),
}
RESERVATION_TRANSITIONS = {
    PENDING: {ACTIVE, DELETED, FAILED},
    ACTIVE: {DELETED, FAILED},
    FAILED: {DELETED},
    DELETED: set(),
}
EVENT_TRANSITIONS = {
    # UNDONE to DONE: an event that was not due before the end is never due.
    UNDONE: {IN_PROGRESS, DONE},
    IN_PROGRESS: {DONE, ERROR},
    DONE: set(),
    ERROR: set(),
}


OUTCOMES = st.sampled_from(["complete", "waiting", "refused", "untouched"])
STEPS = st.lists(st.tuples(st.floats(0, 1.5), st.lists(OUTCOMES, min_size=2, max_size=2)), max_size=12)


def worked(lease: Lease, phase: Phase, outcomes: list[str]) -> list[Progress]:
    """Return the progress that an engine would report for these outcomes."""
    return [
        Progress(
            reservation_id=reservation.id,
            is_complete=outcome == "complete",
            is_deployed=outcome != "complete" or reservation_phase(reservation, phase) is not Phase.OVER,
            refused="refused" if outcome == "refused" else None,
            waiting_for="something" if outcome == "waiting" else None,
        )
        for reservation, outcome in zip(lease.reservations, outcomes, strict=False)
        if outcome != "untouched"
    ]


def check_step(before: Lease, after: Lease) -> None:
    moved = (before.status, after.status)
    assert before.status is after.status or moved in TOO_LATE or moved[1] in LEASE_TRANSITIONS[moved[0]], (
        moved
    )
    for old, new in zip(before.reservations, after.reservations, strict=True):
        assert old.status is new.status or new.status in RESERVATION_TRANSITIONS[old.status]
    for earlier, later in zip(before.events, after.events, strict=True):
        assert replace(later, status=earlier.status) == earlier
        assert earlier.status is later.status or later.status in EVENT_TRANSITIONS[earlier.status]


@given(STEPS, st.integers(0, 2), st.none() | st.integers(0, 12))
def test_whatever_happens_statuses_move_as_clients_know_them(
    steps: list[tuple[float, list[str]]], reservations: int, deleted_at: int | None
) -> None:
    lease, hour = make_lease(start=1, end=5, reservations=reservations), 0.0

    for number, (hours, outcomes) in enumerate(steps):
        hour += hours
        if number == deleted_at:
            asked = with_status(replace(lease, is_deleting=True))
            check_step(lease, asked)
            lease = asked
        phase = phase_of(lease, at(hour), LEAD)
        during = begun(lease, phase)
        check_step(lease, during)
        assert begun(during, phase) == during
        after = advanced(during, phase, worked(during, phase, outcomes))
        check_step(during, after)
        assert with_status(after) == after
        lease = after


@given(STEPS, st.integers(0, 2))
def test_whatever_happened_a_lease_terminates_when_all_is_taken_back(
    steps: list[tuple[float, list[str]]], reservations: int
) -> None:
    lease, hour = make_lease(start=1, end=5, reservations=reservations), 0.0
    for hours, outcomes in steps:
        hour += hours
        phase = phase_of(lease, at(hour), LEAD)
        lease = begun(lease, phase)
        lease = advanced(lease, phase, worked(lease, phase, outcomes))

    lease = begun(lease, Phase.OVER)
    lease = advanced(lease, Phase.OVER, worked(lease, Phase.OVER, ["complete", "complete"]))

    assert lease.status is LeaseStatus.TERMINATED
    assert not any(each.is_deployed for each in lease.reservations)
    assert all(is_over(each) for each in lease.events)


def is_over(event: Event) -> bool:
    return event.status in (DONE, ERROR)
