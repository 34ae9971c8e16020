"""Eight concurrent clients."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import numpy

from bench.filling import BEGIN
from bench.service.client import Client
from bench.service.creating import ANY_HOST, date
from bench.service.lines import Line, Target, over_runs
from bench.service.measured_installation import CLIENTS, MeasuredInstallation, together
from cloudlab.service import Service
from rig.usage import processor_seconds

_SCARCE_HOSTS: Final = 10
_SCARCE_WINDOWS: Final = 50
PLENTY_WINDOWS: Final = 2_000
_LEAST_DECIDED: Final = {"room for all": 450, "scarce pool": 200}
"""Targets of requests per second."""
OVERLAPS: Final = (
    "SELECT COUNT(*) FROM allocations a JOIN allocations b ON a.resource_id = b.resource_id AND a.id < b.id"
    " WHERE a.exclusive_resource_id IS NOT NULL AND b.exclusive_resource_id IS NOT NULL"
    " AND a.start_at < b.end_at AND b.start_at < a.end_at"
)
GRANTED: Final = 201
REFUSED: Final = 400


@dataclass(slots=True)
class Crowd:
    """Results of the clients."""

    granted_ms: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    seconds: float = 0
    worked: Mapping[str, float] = field(default_factory=dict)
    """Processor time in seconds, by process."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, status: int, milliseconds: float) -> None:
        """Count a response."""
        with self._lock:
            self.statuses[status] += 1
            if status == GRANTED:
                self.granted_ms.append(milliseconds)


def measure_scarce(measured: MeasuredInstallation) -> list[Line]:
    """Return the lines for a pool that is smaller than the demand. Raises RuntimeError."""

    def run() -> Iterator[Line]:
        with measured.managers_away():
            measured.empty()
            measured.fill(_SCARCE_HOSTS, 0, 0, 0)
        seconds = measured.effort.crowd_seconds
        yield from _lines(measured, "scarce pool", _SCARCE_HOSTS, None, _SCARCE_WINDOWS, seconds)

    return over_runs(run() for _ in range(measured.effort.runs))


def measure_plenty(measured: MeasuredInstallation, hosts: int, bookings: int) -> list[Line]:
    """Return the lines for a pool that is large enough for all requests. Raises RuntimeError."""
    seconds = max(5, measured.effort.crowd_seconds // 2)
    return over_runs(
        _lines(measured, "room for all", hosts, bookings, PLENTY_WINDOWS, seconds)
        for _ in range(measured.effort.runs)
    )


def _lines(
    measured: MeasuredInstallation, name: str, hosts: int, bookings: int | None, windows: int, seconds: int
) -> Iterator[Line]:
    floor = measured.floors.measure()
    crowd = run_crowd(measured, windows, seconds)
    unexpected = {each: n for each, n in crowd.statuses.items() if each not in (GRANTED, REFUSED)}
    overlaps = int(measured.scalar(OVERLAPS))
    if unexpected or overlaps:
        raise RuntimeError(f"{name}: {overlaps} overlaps; unexpected responses: {unexpected}")
    half, most = (float(numpy.percentile(crowd.granted_ms, each)) for each in (50, 99))
    # A scarce pool is soon used up; a refusal is a decision too.
    a_second = crowd.statuses.total() / crowd.seconds

    def line(
        what: str, unit: str, value: float, *targets: Target, floors: Mapping[str, float] | None = None
    ) -> Line:
        return Line(
            group="crowd",
            name=f"{CLIENTS} clients, {name}: {what}",
            unit=unit,
            values=[value],
            floors=list((floors or {}).values()),
            hosts=hosts,
            allocations=bookings,
            targets=targets,
        )

    write = {"write": floor.write}
    yield line("decided", "leases/s", a_second, Target.at_least(_LEAST_DECIDED[name], a_second, "leases/s"))
    yield line("granted", "leases/s", crowd.statuses[GRANTED] / crowd.seconds)
    yield line("p50 of a create", "ms", half, floors=write)
    yield line("p99 of a create", "ms", most, Target.at_most(4, most / half, "p99/p50"), floors=write)
    yield line("overlaps", "pairs", overlaps, Target.at_most(0, overlaps, "overlaps"))
    for who, worked in crowd.worked.items():
        yield line(f"processor time of {who} per decision", "ms", 1000 * worked / crowd.statuses.total())


def run_crowd(measured: MeasuredInstallation, windows: int, seconds: int) -> Crowd:
    """Return what clients get that request a host each in random windows, one request after the other.

    Args:
        measured: The installation, with hosts.
        windows: The number of different windows.
        seconds: The time after which no client sends another request.
    """
    crowd = Crowd()
    began, before = time.monotonic(), _work(measured)

    def still() -> bool:
        return time.monotonic() < began + seconds

    together(
        lambda number: _ask(measured.client(), crowd, random.Random(number), windows, still), range(CLIENTS)
    )
    crowd.seconds = time.monotonic() - began
    crowd.worked = {who: seconds - before[who] for who, seconds in _work(measured).items()}
    return crowd


def _work(measured: MeasuredInstallation) -> Mapping[str, float]:
    """Return the processor time so far in seconds, by process."""

    def of(*services: Service) -> float:
        return processor_seconds(process.pid for each in services for process in each.members())

    installation = measured.installation
    return {
        "the API": of(installation.service("blazar-api")),
        "the managers": of(*installation.managers),
        "the broker": of(installation.service("rabbitmq")),
        "the database": of(*installation.databases),
        "the clients": time.process_time(),
    }


def _ask(
    client: Client, crowd: Crowd, chance: random.Random, windows: int, still: Callable[[], bool]
) -> None:
    while still():
        start = BEGIN + timedelta(minutes=10 * chance.randrange(windows))
        dates = {"start_date": date(start), "end_date": date(start + timedelta(minutes=10))}
        answer = client.ask("POST", "/leases", {"name": "crowd", **dates, "reservations": [ANY_HOST]})
        crowd.note(answer.status, answer.milliseconds)
