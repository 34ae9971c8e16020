"""Leases that start and end on a slow cloud: delays, and the number of cloud calls."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import sqlalchemy as sa

from bench.service.client import Client
from bench.service.creating import ANY_HOST, date
from bench.service.lines import Line, Target
from bench.service.measured_installation import MeasuredInstallation, together
from blazar.cloud.simulated.scheduler import FREEPOOL

LATENCY_MS: Final = 20
_MINUTE: Final = timedelta(minutes=1)
_LIFE: Final = 2 * _MINUTE
_PATIENCE_SECONDS: Final = 240
_MOST_CALLS: Final = 6
_MOST_CALLS_OF_DELETE: Final = 5
"""Targets of cloud calls: the start of a lease for one host, and a delete, beyond two per host."""
_ENTRIES: Final = (
    "SELECT l.id, j.reason, MIN(j.at) AS at FROM leases l JOIN journal j ON j.lease_id = l.id"
    " WHERE j.event = 'lease.status' GROUP BY l.id, j.reason"
)
_LEASES: Final = "SELECT COUNT(*) FROM leases"
_NOT_IN: Final = "SELECT COUNT(*) FROM leases WHERE status <> :status"


def prepare(measured: MeasuredInstallation) -> None:
    """Replace the database by one with hosts, and put these into the freepool of the cloud."""
    count = max(measured.effort.due_leases, measured.effort.big_lease_hosts)
    with measured.managers_away():
        measured.empty()
        measured.fill(count, 0, 0, 0)
    measured.control.add_hosts(FREEPOOL, [f"host-{number}" for number in range(1, count + 1)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Starts:
    """Delays and cloud calls of many leases that started in one minute."""

    begun_after: Sequence[float]
    """Seconds from that minute to the status STARTING, ascending."""
    done_after: Sequence[float]
    """Seconds from that minute to the status ACTIVE, ascending."""
    due: datetime
    calls: int
    """Calls of the cloud, of which"""
    prepared_calls: int
    """were made before the last second."""
    most_calls_at_once: int


def start_many(
    measured: MeasuredInstallation,
    count: int,
    seconds_to_create_them: float,
    patience_seconds: float,
    life: timedelta = _LIFE,
) -> Starts:
    """Create leases for a host each that start in the same minute, and wait until they are active.

    Args:
        measured: The installation, without leases.
        count: The number of leases.
        seconds_to_create_them: The least time until the minute.
        patience_seconds: The longest time from the minute on.
        life: How long each lease lasts.

    Raises:
        RuntimeError: A lease was refused, or is not active in time.
    """
    due = _next_minute(seconds_to_create_them)
    client = measured.client()
    measured.control.reset_figures()
    together(lambda number: _create(client, number, due, due + life), range(count))
    if datetime.now(UTC) >= due - timedelta(seconds=1):  # noqa: TID251
        raise RuntimeError(f"{count} leases were not created in {seconds_to_create_them:.0f} seconds")
    _sleep_until(measured, due - timedelta(seconds=1))
    prepared = measured.control.figures().calls.total()
    measured.wait(lambda: measured.scalar(_NOT_IN, status="ACTIVE") == 0, patience_seconds)
    figures, journal = measured.control.figures(), _Journal.read(measured.engine)
    return Starts(
        begun_after=_after(due, journal.entered("STARTING")),
        done_after=_after(due, journal.entered("ACTIVE")),
        due=due,
        calls=figures.calls.total(),
        prepared_calls=prepared,
        most_calls_at_once=figures.peak_concurrency,
    )


def measure_due(measured: MeasuredInstallation) -> Iterator[Line]:
    """Yield the lines of many leases that start in one minute, and of many that end in one minute."""
    count = measured.effort.due_leases
    measured.control.set_latency_ms(LATENCY_MS)
    starts = start_many(measured, count, measured.effort.seconds_to_create_them, _PATIENCE_SECONDS)
    yield from _due_lines("start", starts.begun_after, starts.done_after)
    calls = starts.calls / count
    yield _line(
        "start of a lease: all cloud calls", "calls", [calls], Target.at_most(_MOST_CALLS, calls, "calls")
    )
    late_calls = starts.calls - starts.prepared_calls
    yield _line("start of a lease: cloud calls from a second before it", "calls", [late_calls / count])
    yield _line("start: largest number of cloud calls at once", "calls", [starts.most_calls_at_once])
    if not measured.effort.with_end:
        _delete_all(measured)
        return
    measured.control.reset_figures()
    measured.wait(lambda: measured.scalar(_NOT_IN, status="TERMINATED") == 0, _PATIENCE_SECONDS)
    ends, due = _Journal.read(measured.engine), starts.due + _LIFE
    begun, done = _after(due, ends.entered("TERMINATING")), _after(due, ends.entered("TERMINATED"))
    yield from _due_lines("end", begun, done)
    yield _line("end of a lease: cloud calls", "calls", [measured.control.figures().calls.total() / count])
    _delete_all(measured)


def measure_big(measured: MeasuredInstallation) -> Iterator[Line]:
    """Yield the lines of one lease for many hosts, which must be free."""
    hosts, client = measured.effort.big_lease_hosts, measured.client()
    measured.control.set_latency_ms(LATENCY_MS)
    measured.control.reset_figures()
    wanted = {**ANY_HOST, "min": hosts, "max": hosts}
    end = date(datetime.now(UTC) + timedelta(hours=1))  # noqa: TID251
    body = {"name": "big", "start_date": "now", "end_date": end, "reservations": [wanted]}
    began = time.monotonic()
    answer = client.ask("POST", "/leases", body).expect(201)
    path = f"/leases/{answer.body['lease']['id']}"
    measured.wait(lambda: client.ask("GET", path).body["lease"]["status"] == "ACTIVE", _PATIENCE_SECONDS)
    seconds = time.monotonic() - began
    calls = measured.control.figures().calls.total()
    name = f"lease of {hosts} hosts"
    floor = measured.floors.measure()
    yield _line(f"{name}: create", "ms", [answer.milliseconds], floors=[floor.write])
    yield _line(f"{name}: until ACTIVE", "s", [seconds], floors=[2 * hosts * LATENCY_MS / 1000])
    constant = calls - 2 * hosts
    yield _line(f"{name}: cloud calls", "calls", [calls], Target.at_most(20, constant, "beyond 2 a host"))
    measured.control.reset_figures()
    began = time.monotonic()
    client.ask("DELETE", path).expect(204)
    measured.wait(lambda: client.ask("GET", path).status == 404, _PATIENCE_SECONDS)
    seconds = time.monotonic() - began
    yield _line(f"{name}: delete, until it is gone", "s", [seconds], floors=[2 * hosts * LATENCY_MS / 1000])
    calls = measured.control.figures().calls.total()
    target = Target.at_most(2 * hosts + _MOST_CALLS_OF_DELETE, calls, "calls")
    yield _line(f"{name}: cloud calls of the delete", "calls", [calls], target)


def _delete_all(measured: MeasuredInstallation) -> None:
    """Delete all leases, because the next run counts leases by status."""
    client = measured.client()
    ids = [each["id"] for each in client.ask("GET", "/leases").expect(200).body["leases"]]
    together(lambda lease_id: client.ask("DELETE", f"/leases/{lease_id}").expect(204), ids)
    measured.wait(lambda: measured.scalar(_LEASES) == 0, _PATIENCE_SECONDS)


@dataclass(frozen=True, slots=True)
class _Journal:
    """The times at which leases got their statuses."""

    rows: Sequence[sa.Row[tuple[str, str, datetime]]]

    @classmethod
    def read(cls, engine: sa.Engine) -> _Journal:
        with engine.connect() as connection:
            statement = sa.text(_ENTRIES).columns(id=sa.String, reason=sa.String, at=sa.DateTime)
            return cls(connection.execute(statement).all())

    def entered(self, status: str) -> list[datetime]:
        """Return the time at which each lease first had a status."""
        return [row.at.replace(tzinfo=UTC) for row in self.rows if row.reason.endswith(f"-> {status}")]


def _after(due: datetime, instants: Sequence[datetime]) -> Sequence[float]:
    return sorted((each - due).total_seconds() for each in instants)


def _due_lines(what: str, begun_after: Sequence[float], done_after: Sequence[float]) -> Iterator[Line]:
    count, last = len(done_after), begun_after[-1]
    name = f"{what} of {count} leases"
    targets = (Target.at_most(1, last, "s"),) if what == "start" else ()
    yield _line(f"{name}: half begin after", "s", [statistics.median(begun_after)])
    yield _line(f"{name}: all begin after", "s", [last], *targets)
    yield _line(f"{name}: half are done after", "s", [statistics.median(done_after)])
    yield _line(f"{name}: all are done after", "s", [done_after[-1]])
    yield _line(f"{name}: leases per second", "leases/s", [count / done_after[-1]])


def _line(
    name: str, unit: str, values: Sequence[float], *targets: Target, floors: Sequence[float] = ()
) -> Line:
    return Line(group="start", name=name, unit=unit, values=values, floors=floors, targets=targets)


def _create(client: Client, number: int, due: datetime, end: datetime) -> None:
    dates = {"start_date": date(due), "end_date": date(end)}
    body = {"name": f"due {number}", **dates, "reservations": [ANY_HOST]}
    client.ask("POST", "/leases", body).expect(201)


def _next_minute(least_seconds: float) -> datetime:
    soonest = datetime.now(UTC) + timedelta(seconds=least_seconds)  # noqa: TID251
    return soonest.replace(second=0, microsecond=0) + _MINUTE


def _sleep_until(measured: MeasuredInstallation, instant: datetime) -> None:
    left = instant - datetime.now(UTC)  # noqa: TID251
    measured.wait(lambda: datetime.now(UTC) >= instant, 2 * left.total_seconds())  # noqa: TID251
