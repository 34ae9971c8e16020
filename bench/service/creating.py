"""Sequential creation, extension and deletion of leases, on hosts with bookings."""

from __future__ import annotations

import statistics
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from bench.filling import BEGIN, DAY
from bench.service.client import Answer, Client
from bench.service.lines import Line
from bench.service.measured_installation import FLAVOR, MeasuredInstallation

_SETTLED_AFTER_SECONDS: Final = 0.25
_PROPERTIES: Final = '["==", "$rack", "r3"]'
_SLOTS: Final = {"amount": 2, "affinity": None, "resource_properties": _PROPERTIES}
KINDS: Final[Mapping[str, Mapping[str, object]]] = {
    "host": {
        "resource_type": "physical:host",
        "min": 1,
        "max": 1,
        "hypervisor_properties": '[">=", "$vcpus", "8"]',
        "resource_properties": _PROPERTIES,
    },
    "instance": {
        "resource_type": "virtual:instance",
        "vcpus": 1,
        "memory_mb": 2048,
        "disk_gb": 10,
        **_SLOTS,
    },
    "flavor": {"resource_type": "flavor:instance", "flavor_id": FLAVOR, **_SLOTS},
    "volume": {"resource_type": "virtual:volume", "gibibytes": 2, "amount": 2},
    "storage": {"resource_type": "physical:storage", "min": 1, "max": 1},
    "network": {"resource_type": "network", "network_name": "bench", "amount": 2},
}
"""The reservations of leases, by kind."""
ANY_HOST: Final = {**KINDS["host"], "hypervisor_properties": "", "resource_properties": ""}
"""A reservation that each host satisfies."""


@dataclass(slots=True)
class Windows:
    """Windows in which half of the hosts are booked; each is returned once."""

    _number: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> dict[str, str]:
        """Return the dates of a request."""
        with self._lock:
            self._number += 1
            number = self._number
        start = BEGIN + (number % 15) * DAY + timedelta(minutes=10 * (1 + number // 15 % 140))
        return {"start_date": date(start), "end_date": date(start + timedelta(minutes=5))}


def date(instant: datetime) -> str:
    """Return an instant in the format of API v1."""
    return instant.strftime("%Y-%m-%d %H:%M")


def create(client: Client, kind: str, dates: Mapping[str, str]) -> Answer:
    """Return the response to a request for a lease, which must be granted."""
    body = {"name": f"bench {kind}", **dates, "reservations": [dict(KINDS[kind])]}
    return client.ask("POST", "/leases", body).expect(201)


def measure(measured: MeasuredInstallation, hosts: int, bookings: int, windows: Windows) -> Iterator[Line]:
    """Yield a line for each kind of lease."""
    client = measured.client()
    for kind in KINDS:
        # For the first request of a kind, all caches are empty.
        for _ in range(4):
            create(client, kind, windows.next())
        act = partial(_create_ms, client, kind, windows)
        yield _line(measured, f"create {kind} lease", act, hosts, bookings)


def measure_changes(
    measured: MeasuredInstallation, hosts: int, bookings: int, windows: Windows
) -> Iterator[Line]:
    """Yield lines for the extension and the deletion of leases that have not started."""
    client = measured.client()
    leases: list[str] = []

    def extend() -> float:
        dates = windows.next()
        lease_id = create(client, "host", dates).body["lease"]["id"]
        leases.append(lease_id)
        # From the fifth to the ninth minute.
        later = {"end_date": dates["end_date"][:-1] + "9"}
        return client.ask("PUT", f"/leases/{lease_id}", later).expect(200).milliseconds

    def delete() -> float:
        return client.ask("DELETE", f"/leases/{leases.pop()}").expect(204).milliseconds

    for name, act in (("extend lease", extend), ("delete pending lease", delete)):
        yield _line(measured, name, act, hosts, bookings)


def count_statements(
    measured: MeasuredInstallation, hosts: int, bookings: int, windows: Windows
) -> Iterator[Line]:
    """Yield a line for each kind of lease: all statements caused by a request, as counted by the server."""
    client, settled = measured.client(), threading.Event()
    for kind in KINDS:
        counts = []
        for _ in range(measured.effort.counted):
            before = measured.statements.so_far()
            create(client, kind, windows.next())
            settled.wait(_SETTLED_AFTER_SECONDS)
            counts.append(float(measured.statements.so_far() - before - measured.statements.own))
        yield Line(
            group="statements",
            name=f"SQL per {kind} lease",
            unit="statements",
            values=counts,
            hosts=hosts,
            allocations=bookings,
        )


def _create_ms(client: Client, kind: str, windows: Windows) -> float:
    return create(client, kind, windows.next()).milliseconds


def _line(
    measured: MeasuredInstallation, name: str, act: Callable[[], float], hosts: int, bookings: int
) -> Line:
    """Return the result of *act* in milliseconds, as medians of runs with their floors."""
    values, floors = [], []
    for _ in range(measured.effort.runs):
        floors.append(measured.floors.measure().write)
        values.append(statistics.median(act() for _ in range(measured.effort.requests)))
    return Line(
        group="create" if name.startswith("create") else "change",
        name=name,
        unit="ms",
        values=values,
        floors=floors,
        hosts=hosts,
        allocations=bookings,
    )
