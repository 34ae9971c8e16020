"""What the service's processes keep in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.service.lines import Line, Target
from bench.service.site import Site
from cloudlab.service import Service

_KIB_IN_MIB: Final = 1024
_MOST_MIB: Final = 300


def measure(site: Site, hosts: int, bookings: int) -> Iterator[Line]:
    """Yield a line for the managers, and one for the processes of the API."""
    managers = [sum(_resident_mib(each)) for each in site.stack.managers]
    targets = (Target.at_most(_MOST_MIB, max(managers), "MiB"),) if hosts == max(site.effort.sizes) else ()
    yield _line("memory of a manager", managers, hosts, bookings, *targets)
    api = _resident_mib(site.stack.service("blazar-api"))
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
    """Return what each of a service's processes holds."""
    statuses = [Path(f"/proc/{each.pid}/status").read_text() for each in service.members()]
    found = [re.search(r"VmRSS:\s+(\d+) kB", status) for status in statuses]
    return [int(each[1]) / _KIB_IN_MIB for each in found if each is not None]
