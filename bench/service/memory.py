"""Memory of the service's processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bench.service.lines import Line, Target
from bench.service.measured_installation import MeasuredInstallation
from cloudlab.service import Service
from rig.usage import resident_mebibytes

_MOST_MIB: Final = 300


def measure(measured: MeasuredInstallation, hosts: int, bookings: int) -> Iterator[Line]:
    """Yield a line for the managers, and one for the processes of the API."""
    managers = [sum(_resident_mib(each)) for each in measured.installation.managers]
    targets = (
        (Target.at_most(_MOST_MIB, max(managers), "MiB"),) if hosts == max(measured.effort.sizes) else ()
    )
    yield _line("memory of a manager", managers, hosts, bookings, *targets)
    api = _resident_mib(measured.installation.service("blazar-api"))
    yield _line("memory of a process of the API", api, hosts, bookings)


def _line(name: str, values: list[float], hosts: int, bookings: int, *targets: Target) -> Line:
    return Line(
        group="memory",
        name=name,
        unit="MiB",
        values=values,
        hosts=hosts,
        allocations=bookings,
        targets=targets,
    )


def _resident_mib(service: Service) -> list[float]:
    """Return the memory of each process of a service."""
    return [resident_mebibytes([each.pid]) for each in service.members()]
