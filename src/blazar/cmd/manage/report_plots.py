"""Plots of a report as SVG, drawn with matplotlib, which the distribution's extra ``report`` installs."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Final

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from blazar.domain.usage.figures import Figure

COLOURS: Final[Mapping[Figure, str]] = {
    Figure.IN_USE: "#0072b2",
    Figure.IDLE: "#56b4e9",
    Figure.NO_SHOW: "#e69f00",
    Figure.LOST: "#d55e00",
    Figure.UNKNOWN: "#bbbbbb",
}
"""Distinguishable with all common kinds of colour blindness (Okabe and Ito)."""
_WIDTH: Final = 9.0
_HEIGHT: Final = 3.0
_BAR: Final = 0.32
"""Inches for each bar of a group."""
_LONGEST_NAME: Final = 40
_METADATA: Final = ("Date", "Creator", "Format", "Type")

Columns = Mapping[Figure, Sequence[float]]


def plot_steps(title: str, dates: Sequence[str], columns: Columns) -> str:
    """Return the stacked hours of each step.

    Args:
        title: The title.
        dates: The starts of the steps, and the end of the last one.
        columns: The hours of each step, by figure.
    """
    picture = Picture(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    axes = picture.subplots()
    bounds = np.array(dates, "datetime64[m]")
    starts, widths = bounds[:-1], np.diff(bounds)
    below = [0.0] * len(starts)
    for figure, hours in columns.items():
        axes.bar(
            starts, hours, width=widths, bottom=below, align="edge", color=COLOURS[figure], edgecolor="white"
        )
        below = [one + other for one, other in zip(below, hours, strict=True)]
    return _drawn(picture, axes, title)


def plot_groups(title: str, names: Sequence[str], columns: Columns) -> str:
    """Return a bar of stacked hours for each group, the first one on top.

    Args:
        title: The title.
        names: The names of the groups.
        columns: The hours of each group, by figure.
    """
    picture = Picture(figsize=(_WIDTH, 1 + _BAR * len(names)), layout="constrained")
    axes = picture.subplots()
    places = list(range(len(names)))
    left = [0.0] * len(names)
    for figure, hours in columns.items():
        axes.barh(places, hours, left=left, color=COLOURS[figure], edgecolor="white")
        left = [one + other for one, other in zip(left, hours, strict=True)]
    axes.set_yticks(places, [each[:_LONGEST_NAME] for each in names], parse_math=False)
    axes.invert_yaxis()
    return _drawn(picture, axes, title)


def _drawn(picture: Picture, axes: Axes, title: str) -> str:
    """Return a picture as an SVG element; the same picture gives the same text."""
    # Names are not formulas, which dollar signs would make of them.
    axes.set_title(title, loc="left", parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    text = io.StringIO()
    # Texts stay texts, which the browser draws with a font of its own.
    with (
        mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": title, "font.family": "sans-serif"}),
        warnings.catch_warnings(),
    ):
        # So it does not matter that the font with which texts are measured lacks some scripts.
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        picture.savefig(text, format="svg", metadata=dict.fromkeys(_METADATA))
    svg = text.getvalue()
    return svg[svg.index("<svg") :]
