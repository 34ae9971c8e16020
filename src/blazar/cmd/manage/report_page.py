"""The HTML page of a report: one file, without scripts, that needs nothing from a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

from blazar.cmd.manage.rendering import printable
from blazar.cmd.manage.report import share
from blazar.cmd.manage.report_plots import COLOURS, plot_groups, plot_steps
from blazar.domain.usage.figures import Figure

_MOST_BARS: Final = 25
"""The groups with the most hours that a plot shows; the table has all."""
_FIGURES: Final = tuple(each.value for each in Figure)
_STYLE: Final = """
body { font: 15px/1.4 sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1em 0; }
td, th { padding: .2em .7em; border-bottom: 1px solid #ddd; text-align: right; }
td:first-child, th:first-child, td:nth-child(2), th:nth-child(2) { text-align: left; }
svg { max-width: 100%; height: auto; }
h2 { margin-top: 2em; }
"""
_MEANINGS: Final = {
    Figure.IN_USE: "seen in use, such as hosts with servers",
    Figure.IDLE: "seen unused, in reservations that were used at other times",
    Figure.NO_SHOW: "seen unused, in reservations that were never used",
    Figure.LOST: "not usable: not handed over yet, in error, or failed without a replacement",
    Figure.UNKNOWN: "not observed, or in the future",
}


def render_page(usage: Mapping[str, Any]) -> str:
    """Return the page for an answer of the API that has steps."""
    by = printable(usage["property"] or usage["by"])
    period = f"{usage['from']} to {usage['to']} UTC"
    units = sorted({each["unit"] for group in usage["groups"] for each in group["amounts"]})
    since = usage["complete_since"]
    note = f"<p>Leases that ended before {escape(since)} UTC are not included.</p>" if since else ""
    parts = [_unit_part(usage, unit, by) for unit in units] or ["<p>Nothing was reserved.</p>"]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f"<title>Usage by {escape(by)}, {period}</title><style>{_STYLE}</style></head><body>",
            f"<h1>Usage by {escape(by)}</h1><p>Hours from {period}.</p>",
            note,
            _legend(),
            *parts,
            "</body></html>",
            "",
        ]
    )


def _legend() -> str:
    items = "".join(
        f'<li><span style="color:{COLOURS[figure]}">&#9632;</span> <b>{figure.value.replace("_", " ")}</b>: '
        f"{escape(meaning)}</li>"
        for figure, meaning in _MEANINGS.items()
    )
    return f"<ul>{items}</ul>"


def _unit_part(usage: Mapping[str, Any], unit: str, by: str) -> str:
    """Return the plots and the tables of a unit."""
    found = [
        (_name(group["value"]), each)
        for group in usage["groups"]
        for each in group["amounts"]
        if each["unit"] == unit
    ]
    own = [(name, each) for name, each in found if each["resource_class"] is None]
    columns = {
        figure: [sum(step) for step in zip(*(_steps(each, figure) for _, each in own), strict=True)]
        for figure in _MEANINGS
    }
    dates = [*(each["start_date"] for each in usage["steps"]), usage["to"]]
    most = sorted(own, key=lambda each: -each[1]["hours"]["reserved"])[:_MOST_BARS]
    bars = {figure: [each["hours"][figure.value] for _, each in most] for figure in _MEANINGS}
    plots = [
        plot_steps(f"{unit}: hours over time", dates, columns),
        plot_groups(f"{unit}: hours by {by}", [name for name, _ in most], bars),
    ]
    return "\n".join([f"<h2>{escape(unit)}</h2>", *plots, _table(found, by)])


def _steps(amount: Mapping[str, Any], figure: Figure) -> Sequence[float]:
    return [each[figure.value] for each in amount["steps"]]


def _table(found: Sequence[tuple[str, Mapping[str, Any]]], by: str) -> str:
    header = "".join(
        f"<th>{escape(each)}</th>"
        for each in (by, "class", *(name.replace("_", " ") for name in _FIGURES), "use")
    )
    rows = []
    for name, amount in found:
        hours = amount["hours"]
        cells = [
            name,
            amount["resource_class"] or "-",
            *(f"{hours[each]:,.1f}" for each in _FIGURES),
            share(hours["in_use"], hours["reserved"]),
        ]
        rows.append("<tr>" + "".join(f"<td>{escape(each)}</td>" for each in cells) + "</tr>")
    return f"<table><tr>{header}</tr>{''.join(rows)}</table>"


def _name(value: object) -> str:
    return "-" if value is None else printable(str(value))
