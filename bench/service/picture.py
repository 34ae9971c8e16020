"""A picture of the curves, as SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from bench.plots import Curve, Panel, picture
from bench.service.lines import Line, number


def draw(lines: Iterable[Line]) -> str:
    """Return the ratio of a create to its floor, against the numbers of hosts and of their allocations."""
    made = [each for each in lines if each.group == "create"]
    bookings = sorted({each.allocations or 0 for each in made})
    hosts = sorted({each.hosts or 0 for each in made})
    of_hosts = [each for each in made if each.name == "create host lease"]
    against_hosts = [
        _curve(
            f"{count} allocations a host",
            of_hosts,
            lambda each: each.hosts,
            lambda each: each.allocations,
            count,
        )
        for count in bookings
    ]
    against_bookings = [
        _curve(f"{count} hosts", of_hosts, lambda each: each.allocations, lambda each: each.hosts, count)
        for count in hosts
    ]
    most = max(each.ratio or 0 for each in of_hosts) * 1.15
    panels = (
        _panel("create host lease: times its floor, against hosts", against_hosts, most),
        _panel("create host lease: times its floor, against allocations of a host", against_bookings, most),
    )
    return picture(panels, number)


def _curve(
    name: str,
    lines: Iterable[Line],
    x: Callable[[Line], int | None],
    key: Callable[[Line], int | None],
    value: int,
) -> Curve:
    points = sorted((float(x(each) or 0), each.ratio or 0) for each in lines if key(each) == value)
    return Curve(name=name, points=points)


def _panel(title: str, curves: list[Curve], most: float) -> Panel:
    """Return one drawing: x is logarithmic (of the value plus one, because 0 occurs), y from 0 to *most*."""
    xs = sorted({x for curve in curves for x, _ in curve.points})
    return Panel(title=title, curves=curves, most=most, ticks=xs, scale=math.log1p)
