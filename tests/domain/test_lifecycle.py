"""Decisions for a lease at an instant, from its dates and progress."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import HOUR, MINUTE, at, make_lease

from blazar.domain.lease import (
    EventStatus,
    EventType,
    Lease,
    LeaseStatus,
    ReservationId,
    ReservationStatus,
)
from blazar.domain.lifecycle import (
    Phase,
    Progress,
    advanced,
    begun,
    is_before_end_due,
    lease_status,
    next_due,
    phase_of,
    reservation_phase,
    with_before_end,
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


def progress(number: int = 0, *, complete: bool = True, deployed: bool = True, **reasons: Any) -> Progress:
    return Progress(
        reservation_id=ReservationId(f"lease-r{number}"),
        is_complete=complete,
        is_deployed=deployed,
        **reasons,
    )


def events_of(lease: Lease) -> dict[EventType, EventStatus]:
    return {each.event_type: each.status for each in lease.events}


def started(lease: Lease, *outcomes: Progress) -> Lease:
    return advanced(begun(lease, Phase.RUNNING), Phase.RUNNING, outcomes)


def ended(lease: Lease, *outcomes: Progress) -> Lease:
    return advanced(begun(lease, Phase.OVER), Phase.OVER, outcomes)


class TestPhases:
    @pytest.mark.parametrize(
        ("hour", "phase"),
        [
            (0.5, Phase.AHEAD),
            (0.75, Phase.PREPARING),
            (0.99, Phase.PREPARING),
            (1, Phase.RUNNING),
            (4.99, Phase.RUNNING),
            (5, Phase.OVER),
            (99, Phase.OVER),
        ],
    )
    def test_dates_decide(self, hour: float, phase: Phase) -> None:
        assert phase_of(make_lease(start=1, end=5), at(hour), HOUR / 4) is phase

    @pytest.mark.parametrize("hour", [0, 0.99, 1, 5])
    def test_a_lease_to_be_deleted_is_over(self, hour: float) -> None:
        assert phase_of(make_lease(start=1, end=5, is_deleting=True), at(hour), HOUR) is Phase.OVER

    def test_a_lease_that_was_ended_when_it_began_is_over_at_once(self) -> None:
        lease = replace(make_lease(start=1, end=5), end=at(1))

        assert phase_of(lease, at(1), LEAD) is Phase.OVER

    @pytest.mark.parametrize("hour", [0, 0.8, 0.99, 1])
    def test_a_recorded_start_stands_whatever_a_clock_says(self, hour: float) -> None:
        lease = make_lease(start=1, end=5)

        assert phase_of(begun(lease, Phase.RUNNING), at(hour), LEAD) is Phase.RUNNING
        assert phase_of(started(lease, progress()), at(hour), LEAD) is Phase.RUNNING

    def test_a_start_that_is_tried_again_does_not_take_back_what_is_active(self) -> None:
        lease = make_lease(start=1, end=5, reservations=2)
        failed = started(lease, progress(), progress(1, complete=False, refused="x"))
        events = tuple(replace(each, status=UNDONE) for each in failed.events)

        assert phase_of(replace(failed, events=events), at(0.99), LEAD) is Phase.RUNNING

    @pytest.mark.parametrize("hour", [0, 1, 4.99])
    def test_a_recorded_end_stands_whatever_a_clock_says(self, hour: float) -> None:
        lease = started(make_lease(start=1, end=5), progress())

        assert phase_of(begun(lease, Phase.OVER), at(hour), LEAD) is Phase.OVER
        assert phase_of(ended(lease, progress(deployed=False)), at(hour), LEAD) is Phase.OVER

    @pytest.mark.parametrize("phase", Phase)
    def test_a_reservation_that_failed_is_taken_back_in_every_phase(self, phase: Phase) -> None:
        pending, failed = make_lease(reservations=2).reservations

        assert reservation_phase(replace(failed, status=FAILED), phase) is Phase.OVER
        assert reservation_phase(replace(pending, status=DELETED), phase) is Phase.OVER
        assert reservation_phase(pending, phase) is phase
        assert reservation_phase(replace(pending, status=ACTIVE), phase) is phase


class TestStatus:
    @pytest.mark.parametrize(
        ("start", "end", "reservations", "status"),
        [
            (UNDONE, UNDONE, [], LeaseStatus.PENDING),
            (UNDONE, UNDONE, [PENDING, PENDING], LeaseStatus.PENDING),
            (UNDONE, UNDONE, [PENDING, FAILED], LeaseStatus.ERROR),
            (IN_PROGRESS, UNDONE, [PENDING], LeaseStatus.STARTING),
            (IN_PROGRESS, UNDONE, [FAILED, PENDING], LeaseStatus.STARTING),
            (DONE, UNDONE, [], LeaseStatus.ACTIVE),
            (DONE, UNDONE, [ACTIVE, ACTIVE], LeaseStatus.ACTIVE),
            (DONE, UNDONE, [ACTIVE, FAILED], LeaseStatus.ERROR),
            (ERROR, UNDONE, [FAILED], LeaseStatus.ERROR),
            (DONE, IN_PROGRESS, [ACTIVE], LeaseStatus.TERMINATING),
            (ERROR, IN_PROGRESS, [FAILED], LeaseStatus.TERMINATING),
            (DONE, DONE, [], LeaseStatus.TERMINATED),
            (DONE, DONE, [DELETED], LeaseStatus.TERMINATED),
            (ERROR, DONE, [DELETED], LeaseStatus.TERMINATED),
            (DONE, DONE, [DELETED, ACTIVE], LeaseStatus.ERROR),
            (DONE, ERROR, [ACTIVE], LeaseStatus.ERROR),
        ],
    )
    def test_events_and_reservations_decide(
        self,
        start: EventStatus,
        end: EventStatus,
        reservations: list[ReservationStatus],
        status: LeaseStatus,
    ) -> None:
        facts: dict[str, Any] = {"start": start, "end": end, "reservations": reservations}

        assert lease_status(is_deleting=False, **facts) is status
        assert lease_status(is_deleting=True, **facts) is LeaseStatus.DELETING

    def test_a_lease_with_the_right_status_is_left_as_it_is(self) -> None:
        lease = make_lease()

        assert with_status(lease) is lease
        assert with_status(replace(lease, is_deleting=True)).status is LeaseStatus.DELETING


class TestStart:
    def test_a_lease_is_starting_while_it_is_being_handed_over(self) -> None:
        lease = begun(make_lease(), Phase.RUNNING)

        assert lease.status is LeaseStatus.STARTING
        assert events_of(lease)[EventType.START] is IN_PROGRESS

    @pytest.mark.parametrize("phase", [Phase.AHEAD, Phase.PREPARING])
    def test_nothing_begins_before_the_start(self, phase: Phase) -> None:
        lease = make_lease()

        prepared = advanced(begun(lease, phase), phase, [progress(complete=True, deployed=True)])

        assert prepared.status is LeaseStatus.PENDING
        assert prepared.reservations[0].status is PENDING
        assert prepared.reservations[0].is_deployed
        assert prepared.events == lease.events

    def test_a_lease_is_active_once_all_of_it_is_handed_over(self) -> None:
        half = started(make_lease(reservations=2), progress(0), progress(1, complete=False, waiting_for="x"))
        whole = started(half, progress(1))

        assert half.status is LeaseStatus.STARTING
        assert [each.problem for each in half.reservations] == [None, "x"]
        assert whole.status is LeaseStatus.ACTIVE
        assert [each.status for each in whole.reservations] == [ACTIVE, ACTIVE]
        assert [each.problem for each in whole.reservations] == [None, None]
        assert events_of(whole)[EventType.START] is DONE

    def test_a_lease_without_reservations_is_active_at_once(self) -> None:
        assert started(make_lease(reservations=0)).status is LeaseStatus.ACTIVE

    def test_one_refusal_fails_the_lease_once_the_others_are_settled(self) -> None:
        refused = progress(0, complete=False, deployed=False, refused="no such aggregate")

        half = started(make_lease(reservations=2), refused)
        whole = started(half, progress(1))

        assert half.status is LeaseStatus.STARTING
        assert whole.status is LeaseStatus.ERROR
        assert events_of(whole)[EventType.START] is ERROR
        assert [each.status for each in whole.reservations] == [FAILED, ACTIVE]
        assert whole.reservations[0].problem == "no such aggregate"

    def test_what_failed_keeps_its_reason_while_it_is_taken_back(self) -> None:
        lease = started(make_lease(), progress(complete=False, refused="no such aggregate"))

        taken_back = started(lease, progress(complete=True, deployed=False))

        assert taken_back.reservations[0].status is FAILED
        assert taken_back.reservations[0].problem == "no such aggregate"
        assert not taken_back.reservations[0].is_deployed

    def test_a_refusal_after_the_start_is_noted_and_takes_nothing_away(self) -> None:
        lease = started(make_lease(), progress())

        later = started(lease, progress(complete=False, refused="quota"))

        assert later.status is LeaseStatus.ACTIVE
        assert later.reservations[0].status is ACTIVE
        assert later.reservations[0].problem == "quota"

    def test_a_reservation_without_progress_stays_as_it_is(self) -> None:
        lease = begun(make_lease(), Phase.RUNNING)

        assert advanced(lease, Phase.RUNNING, []) == lease


class TestEnd:
    def test_a_lease_is_terminated_once_all_of_it_is_taken_back(self) -> None:
        active = started(make_lease(reservations=2), progress(0), progress(1))

        half = ended(active, progress(0, deployed=False), progress(1, complete=False, waiting_for="servers"))
        whole = ended(half, progress(1, deployed=False))

        assert half.status is LeaseStatus.TERMINATING
        assert [each.status for each in half.reservations] == [DELETED, ACTIVE]
        assert half.reservations[1].problem == "servers"
        assert whole.status is LeaseStatus.TERMINATED
        assert set(events_of(whole).values()) == {DONE}

    def test_what_failed_to_start_ends_like_the_rest(self) -> None:
        lease = ended(started(make_lease(), progress(complete=False, refused="x")), progress(deployed=False))

        assert lease.status is LeaseStatus.TERMINATED
        assert lease.reservations[0].status is DELETED
        assert lease.reservations[0].problem is None

    def test_a_lease_whose_window_passed_unseen_counts_as_started(self) -> None:
        lease = ended(make_lease(), progress(deployed=False))

        assert lease.status is LeaseStatus.TERMINATED
        assert events_of(lease)[EventType.START] is DONE

    def test_a_start_that_was_not_finished_by_the_end_has_failed(self) -> None:
        lease = begun(begun(make_lease(), Phase.RUNNING), Phase.OVER)

        assert lease.status is LeaseStatus.TERMINATING
        assert events_of(lease)[EventType.START] is ERROR

    def test_before_end_actions_that_were_not_finished_by_the_end_have_failed(self) -> None:
        lease = with_before_end(started(make_lease(), progress()), IN_PROGRESS)

        assert events_of(ended(lease, progress()))[EventType.BEFORE_END] is ERROR

    def test_a_refusal_keeps_the_lease_terminating(self) -> None:
        active = started(make_lease(), progress())

        lease = ended(active, progress(complete=False, refused="servers cannot be deleted"))

        assert lease.status is LeaseStatus.TERMINATING
        assert lease.reservations[0].problem == "servers cannot be deleted"

    def test_a_terminated_lease_stays_so(self) -> None:
        lease = ended(make_lease(), progress(deployed=False))

        assert ended(lease) == lease

    def test_a_lease_to_be_deleted_leaves_its_events_alone(self) -> None:
        lease = replace(started(make_lease(), progress()), is_deleting=True)

        gone = ended(lease, progress(deployed=False))

        assert gone.status is LeaseStatus.DELETING
        assert gone.events == lease.events
        assert gone.reservations[0].status is DELETED


class TestBeforeEnd:
    def test_it_is_due_from_its_time_until_the_end_and_only_once(self) -> None:
        lease = started(make_lease(start=1, end=5), progress())  # due half an hour before the end

        assert not is_before_end_due(lease, Phase.RUNNING, at(4.4))
        assert is_before_end_due(lease, Phase.RUNNING, at(4.5))
        assert is_before_end_due(with_before_end(lease, IN_PROGRESS), Phase.RUNNING, at(4.5))
        assert not is_before_end_due(with_before_end(lease, DONE), Phase.RUNNING, at(4.5))
        assert not is_before_end_due(with_before_end(lease, ERROR), Phase.RUNNING, at(4.5))
        assert not is_before_end_due(lease, Phase.OVER, at(5))

    def test_it_waits_for_the_start(self) -> None:
        lease = begun(make_lease(start=1, end=5), Phase.RUNNING)

        assert not is_before_end_due(lease, Phase.RUNNING, at(4.5))

    def test_it_happens_though_a_part_of_the_start_failed(self) -> None:
        lease = started(make_lease(start=1, end=5), progress(complete=False, refused="x"))

        assert is_before_end_due(lease, Phase.RUNNING, at(4.5))

    def test_a_lease_without_the_event_has_nothing_due(self) -> None:
        lease = started(replace(make_lease(), events=()), progress())

        assert not is_before_end_due(lease, Phase.RUNNING, at(4.9))


class TestNextDue:
    def test_every_turn_of_a_lease_comes_in_order(self) -> None:
        lease, now, turns = make_lease(start=1, end=5), at(0), []

        while (due := next_due(lease, now, LEAD)) is not None:
            turns.append(due)
            now = due

        assert turns == [at(1) - LEAD, at(1), at(4.5), at(5)]

    def test_before_end_actions_that_were_taken_are_not_due_again(self) -> None:
        lease = with_before_end(make_lease(start=1, end=5), DONE)

        assert next_due(lease, at(1), LEAD) == at(5)

    def test_nothing_is_due_after_the_end(self) -> None:
        assert next_due(make_lease(start=1, end=5), at(5), LEAD) is None

    @given(st.floats(-1, 7), st.floats(0, 8), st.sampled_from([timedelta(0), LEAD]))
    def test_nothing_changes_by_itself_before_it(self, hour: float, later: float, lead: timedelta) -> None:
        lease = started(make_lease(start=1, end=5), progress())
        now = at(hour)
        due = next_due(lease, now, lead)
        until = now + later * HOUR if due is None else min(now + later * HOUR, due - timedelta.resolution)

        phase = phase_of(lease, now, lead)

        assert phase_of(lease, until, lead) is phase
        assert is_before_end_due(lease, phase, until) == is_before_end_due(lease, phase, now)
