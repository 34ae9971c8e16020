"""Waiting for a lease, on a clock of the test's own."""

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


class World:
    """A lease whose statuses follow one another each time somebody looks."""

    def __init__(self, *statuses: str) -> None:
        self.statuses = list(statuses)
        self.time = START
        self.stderr = io.StringIO()

    def look(self) -> Record:
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        if status == "gone":
            raise exception.NotFound()
        return lease(status)

    def patience(self, timeout: timedelta | None = None) -> waiting.Patience:
        def pause(seconds: float) -> None:
            self.time += timedelta(seconds=seconds)

        return waiting.Patience(timeout=timeout, now=lambda: self.time, pause=pause, progress=self.stderr)


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
def test_a_lease_has_settled_when_nothing_is_going_on_or_due(status: str, start: str, settled: bool) -> None:
    assert waiting.is_settled(lease(status, start), START) is settled


def test_a_lease_that_should_have_ended_has_not_settled() -> None:
    assert not waiting.is_settled(lease("ACTIVE"), START + timedelta(hours=2))


def test_client_weakness_43_one_can_wait_and_sees_what_happens() -> None:
    world = World("PENDING", "STARTING", "STARTING", "ACTIVE")

    found = waiting.until_settled(world.look, world.patience())

    assert found["status"] == "ACTIVE"
    assert world.stderr.getvalue().splitlines() == [
        "lease mine: PENDING",
        "lease mine: STARTING",
        "lease mine: ACTIVE",
    ]


def test_who_starts_a_lease_now_waits_for_more_than_pending_whatever_the_clocks_say() -> None:
    world = World("PENDING", "PENDING", "ACTIVE")
    world.time = START - timedelta(hours=1)

    assert waiting.until_settled(world.look, world.patience(), ("PENDING",))["status"] == "ACTIVE"


def test_a_lease_that_cannot_be_deleted_is_no_success() -> None:
    world = World("DELETING", "ERROR")

    with pytest.raises(exception.LeaseInError):
        waiting.until_gone(world.look, world.patience())


def test_a_lease_in_error_is_no_success() -> None:
    world = World("STARTING", "ERROR")

    with pytest.raises(exception.LeaseInError):
        waiting.until_settled(world.look, world.patience())


@pytest.mark.parametrize("wait", [waiting.until_settled, waiting.until_gone])
def test_patience_ends(wait: Callable[..., object]) -> None:
    world = World("DELETING")

    with pytest.raises(exception.WaitTimeout, match="still DELETING"):
        wait(world.look, world.patience(timedelta(minutes=1)))

    assert timedelta(minutes=1) <= world.time - START < timedelta(minutes=1, seconds=6)


def test_a_lease_is_gone_when_there_is_none() -> None:
    world = World("ACTIVE", "DELETING", "gone")

    waiting.until_gone(world.look, world.patience())


def test_on_a_terminal_one_line_is_written_over() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    world = World("PENDING", "ACTIVE")
    world.stderr = Terminal()

    waiting.until_settled(world.look, world.patience())

    assert world.stderr.getvalue().count("\n") == 1
    assert world.stderr.getvalue().count("\r") == 2
