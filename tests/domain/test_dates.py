"""Parsing of dates, and the dates that a lease can have."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from samples import HOUR, MINUTE, at, make_lease

from blazar.domain.dates import (
    before_end_for_changed,
    before_end_for_new,
    check_changed_dates,
    check_new_dates,
    counted_as_now,
    minute_of,
    parse_date,
)
from blazar.domain.errors import BeforeEndOutsideLease, InvalidDate, InvalidPeriod
from blazar.domain.lease import Event, EventStatus, EventType, Lease

SECOND = timedelta(seconds=1)


def text(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M}"


def with_event(lease: Lease, event_type: EventType, status: EventStatus) -> Lease:
    events = [
        replace(each, status=status) if each.event_type is event_type else each for each in lease.events
    ]
    return replace(lease, events=tuple(events))


def refusal(lease: Lease, start: datetime, end: datetime, now: datetime) -> str | None:
    try:
        check_changed_dates(lease, start, end, now)
    except InvalidPeriod as error:
        return error.message
    return None


class TestParsing:
    @pytest.mark.parametrize("written", ["2031-04-05 06:07", "2031-4-5 6:7"])
    def test_a_date_is_a_minute_of_utc(self, written: str) -> None:
        assert parse_date("end_date", written) == datetime(2031, 4, 5, 6, 7, tzinfo=UTC)

    def test_now_is_the_current_minute_where_the_word_is_allowed(self) -> None:
        assert parse_date("start_date", "now", at(1) + 59 * SECOND) == at(1)

    @pytest.mark.parametrize("written", ["now", "NOW", "Now "])
    def test_now_is_no_date_elsewhere_or_in_capitals(self, written: str) -> None:
        with pytest.raises(InvalidDate):
            parse_date("before_end_date", written, None if written == "now" else at(1))

    @pytest.mark.parametrize(
        "written",
        [
            "",
            "soon",
            "2031-04-05",
            "2031-04-05 06:07:08",
            "2031-04-05T06:07",
            "2031-04-05 06:07Z",
            "2031-04-05 06:07\n",
            "2031-02-29 00:00",
            "2031-04-05 24:00",
            "99999-01-01 00:00",
            None,
            203104050607,
            True,
            ["2031-04-05 06:07"],
        ],
    )
    def test_anything_else_is_refused_by_name(self, written: object) -> None:
        with pytest.raises(InvalidDate) as refused:
            parse_date("end_date", written, at(1))

        assert refused.value.fields["name"] == "end_date"
        expected = f"{written} is an invalid date. Required format: %Y-%m-%d %H:%M"
        assert refused.value.message.startswith(expected)

    def test_a_long_text_is_not_repeated_whole(self) -> None:
        with pytest.raises(InvalidDate) as refused:
            parse_date("end_date", "x" * 100_000)

        assert len(refused.value.message) < 200

    def test_a_minute_is_rounded_down(self) -> None:
        assert minute_of(at(1) + MINUTE - timedelta(microseconds=1)) == at(1)

    @pytest.mark.parametrize("second", [0, 1, 59])
    def test_the_minute_before_counts_as_now_and_no_other(self, second: int) -> None:
        now = at(1) + second * SECOND

        assert counted_as_now(at(1) - MINUTE, now) == at(1)
        for other in (at(1) - 2 * MINUTE, at(1), at(1) + MINUTE):
            assert counted_as_now(other, now) == other


class TestNewLease:
    def test_a_lease_may_begin_in_the_current_minute(self) -> None:
        check_new_dates(at(1), at(2), now=at(1) + 59 * SECOND)

    def test_a_lease_may_not_begin_a_minute_ago(self) -> None:
        with pytest.raises(InvalidPeriod, match="start_date") as refused:
            check_new_dates(at(1) - MINUTE, at(2), now=at(1) + 59 * SECOND)
        assert f"{text(at(1) - MINUTE)} UTC is in the past, it is {text(at(1))} UTC now" in str(refused.value)

    @pytest.mark.parametrize("end", [at(1), at(2)])
    def test_a_lease_must_end_after_it_begins(self, end: datetime) -> None:
        with pytest.raises(InvalidPeriod, match=r"End date must be later than start date\."):
            check_new_dates(at(2), end, now=at(1))

    def test_a_start_in_the_past_is_reported_first(self) -> None:
        with pytest.raises(InvalidPeriod, match="later than current"):
            check_new_dates(at(1), at(0), now=at(2))


class TestChangedLease:
    @pytest.mark.parametrize("seconds", [0, 30])
    def test_a_lease_ahead_can_be_moved_to_begin_in_the_current_minute(self, seconds: int) -> None:
        now = at(0) + seconds * SECOND

        assert refusal(make_lease(start=1, end=5), at(0), at(5), now) is None

    def test_a_lease_ahead_cannot_be_moved_into_the_past(self) -> None:
        assert "start_date" in str(refusal(make_lease(start=1, end=5), at(0) - MINUTE, at(5), at(0)))

    @pytest.mark.parametrize("now", [at(1), at(1) + 30 * SECOND, at(3)])
    @pytest.mark.parametrize("start", [at(0), at(2), at(4)])
    def test_a_lease_that_has_begun_keeps_its_start(self, now: datetime, start: datetime) -> None:
        lease = make_lease(start=1, end=5)

        assert "start_date" in str(refusal(lease, start, at(5), now))
        assert refusal(lease, at(1), at(6), now) is None

    def test_a_lease_whose_start_was_begun_keeps_it_though_the_clock_was_set_back(self) -> None:
        lease = with_event(make_lease(start=1, end=5), EventType.START, EventStatus.DONE)

        assert "start_date" in str(refusal(lease, at(2), at(5), at(0)))

    @pytest.mark.parametrize("now", [at(5), at(5) + SECOND, at(9)])
    def test_an_ended_lease_cannot_be_changed_not_even_in_its_last_minute(self, now: datetime) -> None:
        assert "has ended" in str(refusal(make_lease(start=1, end=5), at(1), at(6), now))

    @pytest.mark.parametrize("status", [EventStatus.IN_PROGRESS, EventStatus.DONE, EventStatus.ERROR])
    def test_a_lease_whose_end_was_begun_cannot_be_changed(self, status: EventStatus) -> None:
        lease = with_event(make_lease(start=1, end=5), EventType.END, status)

        assert "has ended" in str(refusal(lease, at(1), at(6), at(2)))

    def test_an_active_lease_can_be_ended_now(self) -> None:
        now = at(2) + 30 * SECOND

        assert refusal(make_lease(start=1, end=5), at(1), minute_of(now), now) is None

    def test_a_lease_can_be_ended_in_the_minute_in_which_it_began(self) -> None:
        assert refusal(make_lease(start=1, end=5), at(1), at(1), at(1) + 30 * SECOND) is None

    def test_an_active_lease_cannot_be_ended_a_minute_ago(self) -> None:
        assert "end_date" in str(refusal(make_lease(start=1, end=5), at(1), at(2) - MINUTE, at(2)))

    @pytest.mark.parametrize("end", [0.5, 1, 2])
    def test_a_lease_ahead_must_end_after_it_begins(self, end: float) -> None:
        assert "End date must be later" in str(refusal(make_lease(start=1, end=5), at(2), at(end), at(0)))

    def test_unchanged_dates_are_fine_until_the_end(self) -> None:
        lease = make_lease(start=1, end=5)

        assert [refusal(lease, at(1), at(5), at(hour)) for hour in (0, 1, 4.9)] == [None] * 3


class TestBeforeEnd:
    @pytest.mark.parametrize("absent", [None, ""])
    def test_by_default_it_lies_a_fixed_time_before_the_end(self, absent: object) -> None:
        assert before_end_for_new(absent, at(1), at(5), HOUR) == at(4)

    @pytest.mark.parametrize("end", [1.25, 1.5])
    def test_the_default_never_lies_before_the_start(self, end: float) -> None:
        assert before_end_for_new(None, at(1), at(end), HOUR / 2) == at(1)

    def test_a_default_longer_than_the_calendar_is_the_start(self) -> None:
        assert before_end_for_new(None, at(1), at(5), timedelta.max) == at(1)

    def test_without_a_default_there_is_no_event(self) -> None:
        assert before_end_for_new(None, at(1), at(5), timedelta(0)) is None

    def test_an_explicit_date_wins_though_there_is_no_default(self) -> None:
        assert before_end_for_new(text(at(2)), at(1), at(5), timedelta(0)) == at(2)

    @pytest.mark.parametrize("hour", [0, 1, 5, 6])
    def test_an_explicit_date_lies_strictly_inside(self, hour: int) -> None:
        with pytest.raises(BeforeEndOutsideLease):
            before_end_for_new(text(at(hour)), at(1), at(5), HOUR)
        with pytest.raises(BeforeEndOutsideLease):
            before_end_for_changed(text(at(hour)), make_lease(start=1, end=9), at(1), at(5))

    @pytest.mark.parametrize("wrong", ["now", 0, False, []])
    def test_an_explicit_date_must_be_a_date(self, wrong: object) -> None:
        with pytest.raises(InvalidDate, match="before_end_date"):
            before_end_for_new(wrong, at(1), at(5), HOUR)

    @pytest.mark.parametrize("absent", [None, ""])
    def test_after_a_change_the_distance_to_the_end_stays(self, absent: object) -> None:
        lease = make_lease(start=1, end=5)  # its event is due half an hour before the end

        assert before_end_for_changed(absent, lease, at(1), at(9)) == at(8.5)

    def test_after_a_change_it_does_not_lie_before_the_start(self) -> None:
        assert before_end_for_changed(None, make_lease(start=1, end=5), at(2), at(2.25)) == at(2)

    def test_a_lease_without_the_event_gets_it_only_by_an_explicit_date(self) -> None:
        lease = make_lease(start=1, end=5)
        lease = replace(lease, events=tuple(each for each in lease.events if not is_before_end(each)))

        assert before_end_for_changed(None, lease, at(1), at(9)) is None
        assert before_end_for_changed(text(at(3)), lease, at(1), at(9)) == at(3)


def is_before_end(event: Event) -> bool:
    return event.event_type is EventType.BEFORE_END
