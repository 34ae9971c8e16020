"""Eight clients on installations with 1, 2 and 4 managers and as many processes of the API; then a model.

    python -m bench.managers [--database mariadb|postgresql|galera] [--hosts N] [--seconds N]

Each client requests one host in a random window, one request after the other; there is room for all.

  leases/s            decided requests
  p50, p99            milliseconds of a granted request
  cores               processor time of all processes in a second, of those that the machine has
  API … clients       milliseconds of processor time for a decision
  model               leases/s by the model: the machine's cores, divided by the processor time for a
                      decision. That of each kind of process is a line through the figures of 1 and 2
                      managers, so for 4 managers the model can be wrong

What 50 managers would do is computed from the same lines, for managers and APIs on machines of their own,
and a database and a broker with as many cores as this machine: the one that is busy first is the limit.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy

from bench.service.crowding import OVERLAPS, PLENTY_WINDOWS, Crowd, run_crowd
from bench.service.effort import QUICK
from bench.service.measured_installation import in_own_process, measured_installation
from rig.wanted import Database

NUMBERS = (1, 2, 4)
FITTED = NUMBERS[:2]
MANY = 50
BOOKINGS = 10
SHARED = ("the database", "the broker")
CORES = os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Point:
    """The figures of one installation."""

    managers: int
    rate: float
    """Decided requests in a second."""
    half_ms: float
    most_ms: float
    work_ms: Mapping[str, float]
    """Milliseconds of processor time for a decision, by kind of process."""

    @property
    def cores(self) -> float:
        """Return the processor time of all processes in a second."""
        return self.rate * sum(self.work_ms.values()) / 1000


def main() -> int:
    """Measure and print; return 1 if a host was reserved twice."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.managers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--database", choices=("mariadb", "postgresql", "galera"), default="mariadb")
    parser.add_argument("--hosts", type=int, default=1_000)
    parser.add_argument("--seconds", type=int, default=20)
    options = parser.parse_args()
    points: list[Point] = []
    overlaps = 0
    for number in NUMBERS:
        point, found = in_own_process(measure, options.database, number, options.hosts, options.seconds)
        points.append(point)
        overlaps += found
        if number == NUMBERS[0]:
            print(f"{'managers':>8} {'leases/s':>9} {'p50':>6} {'p99':>6} {'cores':>6}", end="  ")
            print(*(f"{each.removeprefix('the '):>9}" for each in point.work_ms), f"{'model':>7}")
        print(f"{number:>8} {point.rate:>9.1f} {point.half_ms:>6.1f} {point.most_ms:>6.1f}", end=" ")
        print(f"{point.cores:>6.2f}", *(f"{each:>9.2f}" for each in point.work_ms.values()), end=" ")
        print(f"{CORES * 1000 / sum(modelled(points, number).values()):>7.1f}", flush=True)
    demands = modelled(points, MANY)
    limits = {each: CORES * 1000 / demands[each] for each in SHARED}
    first = min(limits, key=lambda each: limits[each])
    shown = ", ".join(f"{name.removeprefix('the ')} {limit:.0f}" for name, limit in limits.items())
    print(f"{MANY} managers, model: {shown} leases/s with {CORES} cores each; the limit is {first}")
    print(f"{overlaps} overlaps")
    return int(overlaps > 0)


def measure(database: Database, managers: int, hosts: int, seconds: int) -> tuple[Point, int]:
    """Return the figures of an installation, and the number of hosts that were reserved twice."""
    with measured_installation(database, QUICK, managers=managers, api_processes=managers) as measured:
        with measured.managers_away():
            measured.empty()
            measured.fill(hosts, 0, BOOKINGS, 0)
        run_crowd(measured, PLENTY_WINDOWS, 2)
        crowd = run_crowd(measured, PLENTY_WINDOWS, seconds)
        return point_of(managers, crowd), int(measured.scalar(OVERLAPS))


def point_of(managers: int, crowd: Crowd) -> Point:
    """Return the figures of a run."""
    decided = crowd.statuses.total()
    half, most = (float(numpy.percentile(crowd.granted_ms, each)) for each in (50, 99))
    work = {who: 1000 * seconds / decided for who, seconds in crowd.worked.items()}
    return Point(managers, decided / crowd.seconds, half, most, work)


def modelled(points: Sequence[Point], managers: int) -> Mapping[str, float]:
    """Return the processor time for a decision in milliseconds, by kind of process."""
    known = [each for each in points if each.managers in FITTED]
    numbers = [each.managers for each in known]
    found = {}
    for who in known[0].work_ms:
        line = numpy.polyfit(numbers, [each.work_ms[who] for each in known], len(known) - 1)
        found[who] = float(numpy.polyval(line, managers))
    return found


if __name__ == "__main__":
    sys.exit(main())
