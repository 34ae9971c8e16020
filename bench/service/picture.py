"""A picture of the curves, as SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from bench.service.lines import Line, number

_WIDTH: Final = 430
_HEIGHT: Final = 300
_LEFT: Final = 52
_TOP: Final = 34
_RIGHT: Final = 16
_BOTTOM: Final = 44
_COLOURS: Final = ("#1b6ca8", "#c8553d", "#3a7d44", "#7d5ba6")
_STYLE: Final = "font-family:sans-serif;font-size:11px"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Curve:
    name: str
    points: Sequence[tuple[float, float]]


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
    shifted = "".join(
        f'<g transform="translate({index * _WIDTH},0)">{panel}</g>' for index, panel in enumerate(panels)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * _WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {2 * _WIDTH} {_HEIGHT}" style="{_STYLE}">'
        f'<rect width="100%" height="100%" fill="white"/>{shifted}</svg>\n'
    )


def _curve(
    name: str,
    lines: Iterable[Line],
    x: Callable[[Line], int | None],
    key: Callable[[Line], int | None],
    value: int,
) -> _Curve:
    points = sorted((float(x(each) or 0), each.ratio or 0) for each in lines if key(each) == value)
    return _Curve(name=name, points=points)


def _panel(title: str, curves: Sequence[_Curve], most: float) -> str:
    """Return one drawing: x is logarithmic (of the value plus one, because 0 occurs), y from 0 to *most*."""
    xs = sorted({x for curve in curves for x, _ in curve.points})
    widest = math.log1p(xs[-1]) or 1

    def place(x: float, y: float) -> tuple[float, float]:
        across = math.log1p(x) / widest * (_WIDTH - _LEFT - _RIGHT)
        up = y / most * (_HEIGHT - _TOP - _BOTTOM)
        return _LEFT + across, _HEIGHT - _BOTTOM - up

    parts = [f'<text x="{_LEFT}" y="18" font-weight="bold">{title}</text>']
    for share in range(5):
        y = most * share / 4
        left, height = place(0, y)
        right = _WIDTH - _RIGHT
        parts.append(f'<path d="M{left:.1f} {height:.1f}H{right}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{left - 6:.1f}" y="{height + 4:.1f}" text-anchor="end">{number(round(y, 1))}</text>'
        )
    for x in xs:
        across, base = place(x, 0)
        parts.append(f'<text x="{across:.1f}" y="{base + 16:.1f}" text-anchor="middle">{number(x)}</text>')
    for index, curve in enumerate(curves):
        colour = _COLOURS[index % len(_COLOURS)]
        spots = [place(x, y) for x, y in curve.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in spots]
        parts.append(
            f'<text x="{_LEFT + 8}" y="{_TOP + 12 + 14 * index}" fill="{colour}">{curve.name}</text>'
        )
    return "".join(parts)
