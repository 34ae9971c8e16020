"""Lists."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Final

from bench.filling import FEW, MANY
from bench.service.client import Client
from bench.service.lines import Line, Target
from bench.service.measured_installation import MeasuredInstallation

_REPEATS: Final = 9
_FIRST: Final = 3
_WARM_UP: Final = 8
_PAGE: Final = 100
_MOST_MS: Final = 1000
_MOST_MS_FIRST: Final = 250
_MOST_MS_PAGE: Final = 15
"""Targets: a list of ``MANY`` leases, the first of them after the start of a manager, and a page."""


def measure(measured: MeasuredInstallation, hosts: int, leases: int) -> Iterator[Line]:
    """Yield the lines of the hosts, and of the leases of the projects that have enough of them."""
    each_ms: dict[int, float] = {}
    for project, count in (("few", FEW), ("many", MANY)):
        if leases < FEW + MANY and project == "many":
            continue
        client = measured.client(project, "member,reader")
        first = _first(measured, client, count)
        slowest = [Target.at_most(_MOST_MS_FIRST, statistics.median(first), "ms")] if count == MANY else []
        yield _line(measured, f"list {count} leases, first", first, hosts, *slowest)
        values = _milliseconds(client, "leases", count)
        each_ms[count] = statistics.median(values) / count
        targets = [Target.at_most(_MOST_MS, statistics.median(values), "ms")] if count == MANY else []
        if count == MANY:
            targets.append(Target.at_most(1.3, each_ms[MANY] / each_ms[FEW], "a lease, to that of 500"))
        yield _line(measured, f"list {count} leases", values, hosts, *targets)
        if count == MANY:
            pages = _page_milliseconds(client)
            page_target = Target.at_most(_MOST_MS_PAGE, statistics.median(pages), "ms")
            yield _line(measured, f"page of {_PAGE} of {count} leases", pages, hosts, page_target)
    yield _line(measured, f"list {hosts} hosts", _milliseconds(measured.client(), "hosts", hosts), None)


def _line(
    measured: MeasuredInstallation, name: str, values: list[float], hosts: int | None, *targets: Target
) -> Line:
    floor = measured.floors.measure()
    return Line(
        group="list",
        name=name,
        unit="ms",
        values=values,
        floors=[floor.echo + floor.wsgi] * len(values),
        hosts=hosts,
        targets=targets,
    )


def _first(measured: MeasuredInstallation, client: Client, count: int) -> list[float]:
    """Return the durations of the first list of each manager after its start."""
    values = []
    for _ in range(_FIRST):
        with measured.managers_away():
            pass
        values.append(_ask(client, "leases", count))
    # The broker calls the managers in turn; each manager, and each process of the API, must have been called.
    for _ in range(_WARM_UP):
        _ask(client, "leases", count)
    return values


def _milliseconds(client: Client, collection: str, count: int) -> list[float]:
    return [_ask(client, collection, count) for _ in range(_REPEATS)]


def _page_milliseconds(client: Client) -> list[float]:
    """Return the durations of all pages of the leases, one after the other."""
    newer, path, values = client.at("1.1"), f"/leases?limit={_PAGE}", []
    while path:
        answer = newer.ask("GET", path).expect(200)
        values.append(answer.milliseconds)
        found, links = answer.body["leases"], answer.body.get("leases_links")
        path = f"/leases?limit={_PAGE}&marker={found[-1]['id']}" if links else ""
    return values


def _ask(client: Client, collection: str, count: int) -> float:
    path = {"leases": "/leases", "hosts": "/os-hosts"}[collection]
    answer = client.ask("GET", path).expect(200)
    found = len(answer.body[collection])
    if found != count:
        raise RuntimeError(f"{count} {collection} were expected in the list: {found}")
    return answer.milliseconds
