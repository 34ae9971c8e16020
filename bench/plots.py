"""Curves as SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

COLOURS: Final = ("#1b6ca8", "#c8553d", "#3a7d44", "#7d5ba6", "#b8860b", "#555555")
_TOP: Final = 34
_LEFT: Final = 52
_RIGHT: Final = 16
_BOTTOM: Final = 44
_STYLE: Final = "font-family:sans-serif;font-size:11px"


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A named line through points, in the order of x."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A marked range of x."""

    left: float
    right: float
    colour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One drawing; y goes from 0 to *most*."""

    title: str
    curves: Sequence[Curve]
    most: float
    ticks: Sequence[float]
    """Values of x with a label, ascending; the last one is at the right."""
    scale: Callable[[float], float] = float
    """Maps x to a distance from the left."""
    bands: Sequence[Band] = ()
    has_spots: bool = True
    """Whether each point is marked."""
    width: int = 430
    height: int = 300

    def draw(self, shown: Callable[[float], str]) -> str:
        """Return the elements of the drawing.

        Args:
            shown: Returns the label of a value.
        """
        parts = [self._band(each) for each in self.bands]
        parts.append(f'<text x="{_LEFT}" y="18" font-weight="bold">{self.title}</text>')
        for share in range(5):
            y = self.most * share / 4
            left, height = self._place(0, y)
            right, label = self.width - _RIGHT, shown(round(y, 1))
            parts.append(f'<path d="M{left:.1f} {height:.1f}H{right}" stroke="#ddd"/>')
            parts.append(f'<text x="{left - 6:.1f}" y="{height + 4:.1f}" text-anchor="end">{label}</text>')
        for x in self.ticks:
            across, base = self._place(x, 0)
            parts.append(f'<text x="{across:.1f}" y="{base + 16:.1f}" text-anchor="middle">{shown(x)}</text>')
        for index, curve in enumerate(self.curves):
            parts += self._curve(curve, index)
        return "".join(parts)

    def _place(self, x: float, y: float) -> tuple[float, float]:
        widest = self.scale(self.ticks[-1]) or 1
        across = self.scale(x) / widest * (self.width - _LEFT - _RIGHT)
        up = y / self.most * (self.height - _TOP - _BOTTOM)
        return _LEFT + across, self.height - _BOTTOM - up

    def _band(self, band: Band) -> str:
        (left, top), (right, base) = self._place(band.left, self.most), self._place(band.right, 0)
        size = f'width="{max(1.0, right - left):.1f}" height="{base - top:.1f}"'
        return f'<rect x="{left:.1f}" y="{top:.1f}" {size} fill="{band.colour}"/>'

    def _curve(self, curve: Curve, index: int) -> Iterable[str]:
        colour = COLOURS[index % len(COLOURS)]
        spots = [self._place(x, y) for x, y in curve.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        width = 2 if self.has_spots else 1
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
        if self.has_spots:
            for x, y in spots:
                yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
        yield f'<text x="{_LEFT + 8}" y="{_TOP + 12 + 14 * index}" fill="{colour}">{curve.name}</text>'


def picture(panels: Sequence[Panel], shown: Callable[[float], str], *, is_column: bool = False) -> str:
    """Return an SVG picture of panels of the same size, in a row or in a column."""
    width, height = panels[0].width, panels[0].height
    across, down = (0, height) if is_column else (width, 0)
    size = (width, height * len(panels)) if is_column else (width * len(panels), height)
    placed = "".join(
        f'<g transform="translate({index * across},{index * down})">{panel.draw(shown)}</g>'
        for index, panel in enumerate(panels)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
        f'viewBox="0 0 {size[0]} {size[1]}" style="{_STYLE}">'
        f'<rect width="100%" height="100%" fill="white"/>{placed}</svg>\n'
    )
