"""Waiting for a lease, with a clock that the tests set."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from blazarclient import exception, waiting
from blazarclient.base import Record

START = datetime(2031, 1, 1, 10, 0, tzinfo=UTC)


def lease(status: str, start: str = "2031-01-01T10:00:00.000000") -> Record:
    return {
        "id": "l",
        "name": "mine",
        "status": status,
        "start_date": start,
        "end_date": "2031-01-01T12:00:00.000000",
    }


class FakeLease:
    """A lease whose status advances with each request."""

    def __init__(self, *statuses: str) -> None:
        self.statuses = list(statuses)
        self.time = START
        self.stderr = io.StringIO()

    def fetch(self) -> Record:
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        if status == "gone":
            raise exception.NotFound()
        return lease(status)

    def options(self, timeout: timedelta | None = None) -> waiting.WaitOptions:
        def pause(seconds: float) -> None:
            self.time += timedelta(seconds=seconds)

        return waiting.WaitOptions(timeout=timeout, now=lambda: self.time, pause=pause, progress=self.stderr)


@pytest.mark.parametrize(
    ("status", "start", "settled"),
    [
        ("PENDING", "2031-01-01T10:01:00.000000", True),
        ("PENDING", "2031-01-01T10:00:00.000000", False),
        ("STARTING", "2031-01-01T10:00:00.000000", False),
        ("ACTIVE", "2031-01-01T10:00:00.000000", True),
        ("UPDATING", "2031-01-01T10:00:00.000000", False),
        ("TERMINATING", "2031-01-01T10:00:00.000000", False),
        ("TERMINATED", "2031-01-01T10:00:00.000000", True),
        ("ERROR", "2031-01-01T10:00:00.000000", True),
    ],
)
def test_a_stable_status_without_a_due_start_or_end_is_settled(
    status: str, start: str, settled: bool
) -> None:
    assert waiting.is_settled(lease(status, start), START) is settled


def test_an_active_lease_past_its_end_is_not_settled() -> None:
    assert not waiting.is_settled(lease("ACTIVE"), START + timedelta(hours=2))


def test_client_weakness_43_a_wait_prints_each_new_status() -> None:
    fake = FakeLease("PENDING", "STARTING", "STARTING", "ACTIVE")

    found = waiting.until_settled(fake.fetch, fake.options())

    assert found["status"] == "ACTIVE"
    assert fake.stderr.getvalue().splitlines() == [
        "lease mine: PENDING",
        "lease mine: STARTING",
        "lease mine: ACTIVE",
    ]


def test_a_transitional_status_does_not_end_the_wait_even_if_the_clocks_differ() -> None:
    fake = FakeLease("PENDING", "PENDING", "ACTIVE")
    fake.time = START - timedelta(hours=1)

    assert waiting.until_settled(fake.fetch, fake.options(), ("PENDING",))["status"] == "ACTIVE"


def test_waiting_for_a_deletion_fails_if_the_lease_is_in_error() -> None:
    fake = FakeLease("DELETING", "ERROR")

    with pytest.raises(exception.LeaseInError):
        waiting.until_deleted(fake.fetch, fake.options())


def test_waiting_fails_if_the_lease_is_in_error() -> None:
    fake = FakeLease("STARTING", "ERROR")

    with pytest.raises(exception.LeaseInError):
        waiting.until_settled(fake.fetch, fake.options())


@pytest.mark.parametrize("wait", [waiting.until_settled, waiting.until_deleted])
def test_waiting_fails_after_the_timeout(wait: Callable[..., object]) -> None:
    fake = FakeLease("DELETING")

    with pytest.raises(exception.WaitTimeout, match="still DELETING"):
        wait(fake.fetch, fake.options(timedelta(minutes=1)))

    assert timedelta(minutes=1) <= fake.time - START < timedelta(minutes=1, seconds=6)


def test_waiting_for_a_deletion_ends_when_the_lease_is_not_found() -> None:
    fake = FakeLease("ACTIVE", "DELETING", "gone")

    waiting.until_deleted(fake.fetch, fake.options())


def test_progress_on_a_terminal_is_a_single_line() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    fake = FakeLease("PENDING", "ACTIVE")
    fake.stderr = Terminal()

    waiting.until_settled(fake.fetch, fake.options())

    assert fake.stderr.getvalue().count("\n") == 1
    assert fake.stderr.getvalue().count("\r") == 2
