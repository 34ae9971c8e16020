"""The service at the sizes that a single machine hardly holds, as processes, with everything on this machine.

    python -m bench.scale [--only start growth due] [--database mariadb|postgresql] [--scale 1] [--seconds N]

  start   a manager starts with 10,000 hosts and a million bookings: when it grants the first request
  growth  eight clients create leases for five minutes in a database with a million leases; the first fifth of
          the time is compared with the others
  due     10,000 leases start in one minute, on a cloud that takes 20 ms for each call, with four managers

With --scale, the numbers of hosts and leases are multiplied by this factor.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

import numpy

from bench.filling import BEGIN, DAY, book
from bench.service.creating import ANY_HOST, date
from bench.service.crowding import GRANTED, OVERLAPS, PLENTY_WINDOWS, run_crowd
from bench.service.effort import QUICK
from bench.service.measured_installation import MeasuredInstallation, in_own_process, measured_installation
from bench.service.starting import LATENCY_MS, prepare, start_many
from rig.usage import resident_mebibytes
from rig.wanted import Database

HOSTS: Final = 10_000
BOOKINGS: Final = 100
DUE: Final = 10_000
FIRST: Final = 1_000
"""Of the leases that start, those that are judged by themselves."""
PARTS_OF_GROWTH: Final = 5
SETTLED_SECONDS: Final = 60
ROUNDS_AT_ONCE: Final = 5
CREATES_A_SECOND: Final = 20
"""The rate at which leases are created at least, also on a slow machine."""
LEAST_SECONDS_TO_CREATE: Final = 20
"""For a few leases, of which the first wait for connections and imports."""
PATIENCE_SECONDS: Final = 1_800
LIFE: Final = timedelta(hours=6)
"""Longer than it takes until all leases are active."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, and whether it meets its target."""

    what: str
    value: str
    target: str = ""
    is_met: bool = True

    def __str__(self) -> str:
        """Return a line of the table."""
        judged = f"{self.target:>16}  {'met' if self.is_met else 'MISSED'}" if self.target else ""
        return f"{self.what:<60}{self.value:>14}{judged}"


def main() -> int:
    """Measure and print; return 1 if a host was reserved twice."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.scale",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="+", choices=[*PARTS], default=[*PARTS])
    parser.add_argument("--database", choices=("mariadb", "postgresql"), default="mariadb")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--seconds", type=int, default=300, help="of growth")
    options = parser.parse_args()
    overlaps = 0
    for name in options.only:
        overlaps += in_own_process(run, name, options.database, options.scale, options.seconds)
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"{options.database}, {os.cpu_count()} cores, load of the machine: {load}; {overlaps} overlaps")
    return int(overlaps > 0)


def run(name: str, database: Database, scale: float, seconds: int) -> int:
    """Measure one part and print its figures; return the number of hosts that were reserved twice."""
    managers, measure = PARTS[name]
    effort = replace(
        QUICK,
        sizes=(round(HOSTS * scale),),
        due_leases=round(DUE * scale),
        crowd_seconds=round(seconds / PARTS_OF_GROWTH),
    )
    with measured_installation(database, effort, managers=managers, api_processes=2) as measured:
        for figure in measure(measured):
            print(figure, flush=True)
        return int(measured.scalar(OVERLAPS))


def measure_start(measured: MeasuredInstallation) -> Iterator[Figure]:
    """Yield the time from the start of a manager to the first granted request, and its memory."""
    hosts = measured.effort.sizes[0]
    (manager,) = measured.installation.managers
    manager.kill()
    measured.empty()
    measured.fill(hosts, 0, BOOKINGS, 0)
    what = f"{hosts} hosts x {BOOKINGS} bookings"
    client = measured.client()
    dates = {"start_date": date(BEGIN + DAY / 2), "end_date": date(BEGIN + DAY / 2 + timedelta(hours=1))}
    body = {"name": "first", **dates, "reservations": [ANY_HOST]}
    began = time.monotonic()
    manager.start()
    measured.wait(lambda: client.ask("POST", "/leases", body).status == GRANTED, PATIENCE_SECONDS)
    seconds = time.monotonic() - began
    yield Figure(f"start, {what}: first granted request", f"{seconds:.1f} s", "<= 3 s", seconds <= 3)
    measured.wait(lambda: time.monotonic() > began + SETTLED_SECONDS, 2 * SETTLED_SECONDS)
    client.ask("POST", "/leases", body).expect(GRANTED)
    memory = resident_mebibytes([each.pid for each in manager.members()])
    yield Figure(f"start, {what}: memory of the manager", f"{memory:.0f} MiB", "<= 300 MiB", memory <= 300)


def measure_growth(measured: MeasuredInstallation) -> Iterator[Figure]:
    """Yield what eight clients get in each part of the time, with a million leases from the beginning."""
    hosts = measured.effort.sizes[0]
    with measured.managers_away():
        measured.empty()
        measured.fill(hosts, 0, 0, 0)
        leases = 0
        for first in range(0, BOOKINGS, ROUNDS_AT_ONCE):
            leases = book(measured.engine, hosts, range(first, first + ROUNDS_AT_ONCE), 1, leases)
    run_crowd(measured, PLENTY_WINDOWS, 10)
    rates = []
    for part in range(1, PARTS_OF_GROWTH + 1):
        before = int(measured.scalar("SELECT COUNT(*) FROM leases"))
        crowd = run_crowd(measured, PLENTY_WINDOWS, measured.effort.crowd_seconds)
        rates.append(crowd.statuses[GRANTED] / crowd.seconds)
        half, most = (float(numpy.percentile(crowd.granted_ms, each)) for each in (50, 99))
        others = crowd.statuses.total() - crowd.statuses[GRANTED]
        what = f"growth, part {part}, {before} leases, p50 {half:.0f}, p99 {most:.0f} ms"
        yield Figure(f"{what}, {others} refused", f"{rates[-1]:.1f}/s")
    share = min(rates) / rates[0]
    yield Figure("growth: slowest part to first part", f"{share:.2f}", ">= 0.90", share >= 0.9)


def measure_due(measured: MeasuredInstallation) -> Iterator[Figure]:
    """Yield when leases that start in one minute begin to start, and when they are active."""
    count = measured.effort.due_leases
    prepare(measured)
    measured.control.set_latency_ms(LATENCY_MS)
    seconds_to_create_them = max(LEAST_SECONDS_TO_CREATE, count / CREATES_A_SECOND)
    starts = start_many(measured, count, seconds_to_create_them, PATIENCE_SECONDS, LIFE)
    last = starts.begun_after[-1]
    first = float(numpy.percentile(starts.begun_after[:FIRST], 99))
    name = f"due, {count} leases"
    yield Figure(f"{name}: the last one begins after", f"{last:.1f} s", "<= 60 s", last <= 60)
    of_first = f"{name}: 99 % of the first {min(FIRST, count)} begin after"
    yield Figure(of_first, f"{first:.1f} s", "<= 2 s", first <= 2)
    yield Figure(f"{name}: the last one is active after", f"{starts.done_after[-1]:.1f} s")
    yield Figure(f"{name}: cloud calls of a start", f"{starts.calls / count:.2f}")


PARTS: Final[dict[str, tuple[int, Callable[[MeasuredInstallation], Iterator[Figure]]]]] = {
    "start": (1, measure_start),
    "growth": (2, measure_growth),
    "due": (4, measure_due),
}
"""The number of managers and the function that measures, by name."""


if __name__ == "__main__":
    sys.exit(main())
