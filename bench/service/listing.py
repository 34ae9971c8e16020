"""Lists."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Final

from bench.filling import FEW, MANY
from bench.service.client import Client
from bench.service.lines import Line, Target
from bench.service.site import Site

_REPEATS: Final = 3
_SECOND: Final = 1000.0


def measure(site: Site, hosts: int, leases: int) -> Iterator[Line]:
    """Yield the lines of the hosts, and of the leases of the projects that have enough of them."""
    each_ms: dict[int, float] = {}
    for project, count in (("few", FEW), ("many", MANY)):
        if leases < FEW + MANY and project == "many":
            continue
        values = _milliseconds(site, site.client(project, "member,reader"), "leases", count)
        each_ms[count] = statistics.median(values) / count
        targets = [Target.at_most(_SECOND, statistics.median(values), "ms")] if count == MANY else []
        if count == MANY:
            targets.append(Target.at_most(1.3, each_ms[MANY] / each_ms[FEW], "a lease, to that of 500"))
        yield _line(site, f"list {count} leases", values, hosts, *targets)
    yield _line(site, f"list {hosts} hosts", _milliseconds(site, site.client(), "hosts", hosts), None)


def _line(site: Site, name: str, values: list[float], hosts: int | None, *targets: Target) -> Line:
    floor = site.floors.measure()
    return Line(
        group="list",
        name=name,
        unit="ms",
        values=values,
        floors=[floor.echo + floor.wsgi] * len(values),
        hosts=hosts,
        targets=targets,
    )


def _milliseconds(site: Site, client: Client, collection: str, count: int) -> list[float]:
    path = {"leases": "/leases", "hosts": "/os-hosts"}[collection]
    answers = [client.ask("GET", path).expect(200) for _ in range(_REPEATS)]
    found = {len(each.body[collection]) for each in answers}
    if found != {count}:
        raise RuntimeError(f"{count} {collection} were expected in the list: {found}")
    return [each.milliseconds for each in answers]
