"""Calendars of leases and busy times, as three independent parsers read them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import icalendar
import pytest
import vobject
from hypothesis import example, given
from hypothesis import strategies as st
from ical.calendar_stream import IcsCalendarStream
from samples import MINUTE, at, make_lease, window

from blazar.booking.calendars import (
    busy_event,
    deleted_lease_event,
    lease_event,
    one_line,
    render_calendar,
)
from blazar.domain.feeds import DeletedLease
from blazar.domain.lease import EventType, Lease, LeaseId, LeaseStatus, ReservationStatus


@dataclass(frozen=True, kw_only=True)
class Read:
    """An event, as a parser reads it."""

    uid: str
    summary: str
    start: datetime
    end: datetime | None
    status: str
    description: str | None
    alarms: tuple[timedelta, ...]
    """Times from the end to the alarms."""


Parser = Callable[[str], Sequence[Read]]


def parsed_by_icalendar(text: str) -> Sequence[Read]:
    calendar: Any = icalendar.Calendar.from_ical(text)
    assert not [each.errors for each in calendar.walk() if each.errors]
    return [
        Read(
            uid=str(each["uid"]),
            summary=str(each["summary"]),
            start=each["dtstart"].dt,
            end=each["dtend"].dt if "dtend" in each else None,
            status=str(each["status"]),
            description=str(each["description"]) if "description" in each else None,
            alarms=tuple(alarm["trigger"].dt for alarm in each.walk("VALARM")),
        )
        for each in calendar.events
    ]


def parsed_by_ical(text: str) -> Sequence[Read]:
    calendar = IcsCalendarStream.calendar_from_ics(text)
    found: list[Any] = list(calendar.events)
    return [
        Read(
            uid=each.uid,
            summary=each.summary,
            start=each.dtstart,
            end=each.dtend,
            status=each.status.value,
            description=each.description,
            alarms=tuple(alarm.trigger for alarm in each.alarm),
        )
        for each in found
    ]


def parsed_by_vobject(text: str) -> Sequence[Read]:
    calendar = vobject.readOne(text)
    return [
        Read(
            uid=each.uid.value,
            summary=each.summary.value,
            start=each.dtstart.value,
            end=each.dtend.value if hasattr(each, "dtend") else None,
            status=each.status.value,
            description=each.description.value if hasattr(each, "description") else None,
            alarms=tuple(alarm.trigger.value for alarm in each.contents.get("valarm", ())),
        )
        for each in calendar.contents.get("vevent", ())
    ]


PARSERS = (parsed_by_icalendar, parsed_by_ical, parsed_by_vobject)
HOSTILE = (
    "x\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nUID:evil\r\nSUMMARY:evil",
    "x\rEND:VEVENT\rBEGIN:VEVENT",
    "x\x0bEND:VEVENT\x0cBEGIN:VEVENT\x1c\x1d\x1e\x85\u2028\u2029BEGIN:VEVENT",
    "\\n\\, ; : \" ' = \\",
    "BEGIN:VEVENT",
    "END:VCALENDAR",
    " leading and trailing ",
    "\x00\x07\x1b[31m\x7f",
    "\U0001f600" * 70,
    "e\u0301" * 70,
    "\u202eright to left",
    "",
)


def events(*rendered: str, title: str = "calendar") -> str:
    return render_calendar(title, rendered)


def of_lease(lease: Lease, alarm: timedelta | None = None) -> str:
    return events(lease_event(lease, {}, alarm))


@pytest.mark.parametrize("parse", PARSERS)
class TestEveryParser:
    def test_reads_a_lease(self, parse: Parser) -> None:
        lease = make_lease("l1", start=1, end=5)

        [found] = parse(of_lease(lease, 15 * MINUTE))

        assert (found.uid, found.summary) == ("l1@blazar", "name of l1")
        assert (found.start, found.end, found.status) == (at(1), at(5), "CONFIRMED")
        assert found.description is not None
        assert found.description.splitlines() == [
            "Status: PENDING",
            "physical:host",
            "Notice before the end: 2031-01-01 04:30 UTC",
            "End: 2031-01-01 05:00 UTC. The reserved resources are then released.",
            "Lease: l1",
        ]
        assert found.alarms == (-30 * MINUTE, -15 * MINUTE)

    def test_reads_a_deleted_lease(self, parse: Parser) -> None:
        gone = DeletedLease(
            lease_id=LeaseId("l1"),
            name="night",
            user_id="user",
            project_id="project",
            start=at(1),
            end=at(5),
            revision=7,
            created_at=None,
            deleted_at=at(2),
        )

        [found] = parse(events(deleted_lease_event(gone)))

        assert (found.uid, found.summary, found.status) == ("l1@blazar", "night", "CANCELLED")
        assert (found.start, found.end, found.alarms) == (at(1), at(5), ())

    def test_reads_a_busy_time(self, parse: Parser) -> None:
        [found] = parse(events(busy_event("f1@blazar", "No host free", window(1, 5), at(0))))

        assert (found.uid, found.summary, found.start, found.end) == (
            "f1@blazar",
            "No host free",
            at(1),
            at(5),
        )

    def test_reads_a_lease_that_ended_when_it_began(self, parse: Parser) -> None:
        [found] = parse(of_lease(make_lease(start=1, end=1)))

        assert (found.start, found.alarms) == (at(1), ())
        assert found.end in (None, at(1))

    def test_reads_a_calendar_without_events(self, parse: Parser) -> None:
        assert parse(events()) == []

    @pytest.mark.parametrize("name", HOSTILE)
    def test_reads_one_event_whatever_the_name_is(self, parse: Parser, name: str) -> None:
        lease = replace(make_lease("l1"), name=name)

        [found] = parse(render_calendar(name, [lease_event(lease, {})]))

        assert found.uid == "l1@blazar"
        assert found.summary == one_line(name)
        assert found.description is not None
        assert found.description.startswith("Status: PENDING\n")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
@example("\r\n")
def test_no_name_adds_a_line(name: str) -> None:
    lease = replace(make_lease("l1"), name=name)

    text = render_calendar(name, [lease_event(lease, {})])

    plain = render_calendar("", [lease_event(replace(lease, name=""), {})])
    names = [unfolded.partition(":")[0] for unfolded in text.replace("\r\n ", "").split("\r\n")]
    assert names == [each.partition(":")[0] for each in plain.replace("\r\n ", "").split("\r\n")]
    assert max(len(each.encode()) for each in text.split("\r\n")) <= 75
    # Parsers split lines at various characters.
    assert len(text.splitlines()) == text.count("\r\n")
    assert {each for each in text if unicodedata.category(each) == "Cc"} <= {"\r", "\n"}


def test_equal_leases_give_equal_texts() -> None:
    lease = make_lease("l1", reservations=3)

    assert of_lease(lease) == of_lease(replace(lease))


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"status": LeaseStatus.CREATING}, "TENTATIVE"),
        ({"status": LeaseStatus.PENDING}, "CONFIRMED"),
        ({"status": LeaseStatus.ACTIVE}, "CONFIRMED"),
        ({"status": LeaseStatus.TERMINATED}, "CONFIRMED"),
        ({"status": LeaseStatus.ERROR}, "TENTATIVE"),
        ({"status": LeaseStatus.DELETING}, "CANCELLED"),
        ({"is_deleting": True}, "CANCELLED"),
    ],
)
def test_the_status_says_whether_the_lease_takes_place(changes: Any, status: str) -> None:
    [found] = parsed_by_icalendar(of_lease(replace(make_lease(), **changes)))

    assert found.status == status


def test_a_lease_with_missing_resources_is_tentative() -> None:
    lease = make_lease()
    broken = [replace(each, missing_resources=True) for each in lease.reservations]

    [found] = parsed_by_icalendar(of_lease(replace(lease, reservations=tuple(broken))))

    assert found.status == "TENTATIVE"
    assert "physical:host (resources are missing)" in str(found.description)


def test_reservations_in_error_are_named() -> None:
    lease = make_lease()
    failed = [replace(each, status=ReservationStatus.ERROR) for each in lease.reservations]

    [found] = parsed_by_icalendar(of_lease(replace(lease, reservations=tuple(failed))))

    assert "physical:host (in error)" in str(found.description)


@pytest.mark.parametrize(
    ("alarm", "leads"),
    [(None, [30]), (0 * MINUTE, []), (30 * MINUTE, [30]), (60 * MINUTE, [60, 30]), (241 * MINUTE, [30])],
)
def test_alarms(alarm: timedelta | None, leads: Iterable[int]) -> None:
    [found] = parsed_by_icalendar(of_lease(make_lease(start=1, end=5), alarm))

    assert list(found.alarms) == [-each * MINUTE for each in leads]


def test_a_lease_without_a_notice_has_no_alarm() -> None:
    lease = make_lease()
    kept = tuple(each for each in lease.events if each.event_type is not EventType.BEFORE_END)

    [found] = parsed_by_icalendar(of_lease(replace(lease, events=kept)))

    assert found.alarms == ()
    assert "Notice" not in str(found.description)


@pytest.mark.parametrize("status", [LeaseStatus.TERMINATING, LeaseStatus.TERMINATED, LeaseStatus.DELETING])
def test_what_is_over_has_no_alarm(status: LeaseStatus) -> None:
    [found] = parsed_by_icalendar(of_lease(make_lease(status=status), 15 * MINUTE))

    assert found.alarms == ()


def test_times_of_changes_are_those_of_the_lease() -> None:
    lease = make_lease(created_at=at(0), updated_at=at(0.5), revision=9)

    calendar: Any = icalendar.Calendar.from_ical(of_lease(lease))
    [event] = calendar.walk("VEVENT")

    assert event["created"].dt == at(0)
    assert event["last-modified"].dt == event["dtstamp"].dt == at(0.5)
    assert event["sequence"] == 9
