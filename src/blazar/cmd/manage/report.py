"""``blazar-manage report``: how reserved resources were used, as a table, JSON, CSV or an HTML page."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from blazar.app.usage import BY, MOST_STEPS, get_usage, parse_window
from blazar.booking.context import Context
from blazar.cmd.manage.rendering import printable
from blazar.domain.dates import format_date
from blazar.domain.usage.figures import Figure
from blazar.ports.manager import Caller

_FORMATS: Final = ("table", "json", "csv", "html")
_STEPS: Final = {"hour": 60, "day": 1440, "week": 10080}
"""Minutes by the names of steps."""
_LONGEST_IN_DAYS: Final = timedelta(days=100)
"""The longest period for which a page without --step has steps of a day; longer ones have steps of a week."""
_FIGURES: Final = tuple(each.value for each in Figure)


def add_parsers(parsers: Any) -> None:
    """Add the sub-command."""
    report = parsers.add_parser("report", help="print how reserved resources were used in a period")
    groups = report.add_mutually_exclusive_group()
    groups.add_argument(
        "--by",
        choices=[each for each in BY if each != "property"],
        default="project",
        help="one group for each of these; project",
    )
    groups.add_argument("--property", metavar="NAME", help="one group for each value of a property: rack")
    report.add_argument(
        "--from", dest="start", metavar="DATE", help="start of the period, in UTC; 30 days before its end"
    )
    report.add_argument("--to", dest="end", metavar="DATE", default="now", help="end of the period; now")
    report.add_argument(
        "--step", type=_step, metavar="STEP", help="hour, day, week or a number of minutes: figures of each"
    )
    report.add_argument("--project", metavar="ID", help="only this project")
    report.add_argument("--resource-type", metavar="TYPE", help="only reservations of this type")
    report.add_argument(
        "-f",
        "--format",
        choices=_FORMATS,
        default="table",
        help="table; html is a page with plots, for which blazar[report] must be installed",
    )
    report.add_argument("-o", "--output", metavar="FILE", help="write to a file instead of stdout")
    report.set_defaults(run=print_report)


def print_report(context: Context, arguments: Any) -> int:
    """Print the report; return 0.

    Raises:
        BadRequest: An argument is invalid.
        ValueError: The library for plots is not installed.
        OSError: The file cannot be written.
    """
    # Before the data are read, so that a missing library is reported at once.
    page = _load_page() if arguments.format == "html" else None
    usage = read_usage(context, arguments)
    if page is not None:
        text = page(usage)
    else:
        text = {"table": render_table, "json": _json, "csv": _csv}[arguments.format](usage)
    if arguments.output:
        Path(arguments.output).write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


def read_usage(context: Context, arguments: Any) -> Mapping[str, Any]:
    """Return the usage that the arguments select, as the API answers it."""
    dates = {"to": arguments.end, **({"from": arguments.start} if arguments.start else {})}
    window = parse_window(dates, context.clock.now())
    step = arguments.step
    if step is None and arguments.format == "html":
        step = _STEPS["day" if window.duration <= _LONGEST_IN_DAYS else "week"]
        step = max(step, -(-window.duration // MOST_STEPS // timedelta(minutes=1)))
    asked = {
        "by": "property" if arguments.property else arguments.by,
        "property": arguments.property,
        "from": format_date(window.start),
        "to": format_date(window.end),
        "step": step,
        "resource_type": arguments.resource_type,
    }
    query = {key: value for key, value in asked.items() if value is not None}
    caller = Caller(user_id=None, project_id=None, sees_private_properties=True)
    return get_usage(context, caller, query, arguments.project, True)


def _step(text: str) -> str:
    minutes = str(_STEPS.get(text, text))
    if not (minutes.isascii() and minutes.isdigit() and int(minutes[:9]) > 0):
        raise argparse.ArgumentTypeError(f"{text} is not hour, day, week or a number of minutes")
    return minutes


def _load_page() -> Any:
    try:
        from blazar.cmd.manage.report_page import render_page
    except ModuleNotFoundError as error:
        raise ValueError(
            f"an HTML report needs the library {error.name}: install blazar[report], or use -f table, json"
            " or csv"
        ) from error
    return render_page


def _json(usage: Mapping[str, Any]) -> str:
    return json.dumps(usage, indent=2) + "\n"


def _csv(usage: Mapping[str, Any]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    has_steps = bool(usage["steps"])
    dates = ("start_date", "end_date") if has_steps else ()
    writer.writerow([usage["property"] or usage["by"], *dates, "unit", "resource_class", *_FIGURES])
    for group, amount in _amounts(usage):
        named = (amount["unit"], amount["resource_class"] or "")
        if not has_steps:
            writer.writerow([_name(group), *named, *_numbers(amount["hours"])])
            continue
        for step, hours in zip(usage["steps"], amount["steps"], strict=True):
            writer.writerow([_name(group), step["start_date"], step["end_date"], *named, *_numbers(hours)])
    return text.getvalue()


def render_table(usage: Mapping[str, Any]) -> str:
    """Return the answer of the API as a table for people."""
    header = [usage["property"] or usage["by"], "unit", "class", *_FIGURES, "use"]
    if usage["steps"]:
        header.insert(1, "from")
    rows = [header, *_table_rows(usage)]
    widths = [max(len(row[number]) for row in rows) for number in range(len(header))]
    texts = len(header) - len(_FIGURES) - 1
    lines = [
        "  ".join(
            cell.ljust(width) if number < texts else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    since = usage["complete_since"]
    note = [] if since is None else [f"Leases that ended before {since} UTC are not included."]
    period = f"Hours from {usage['from']} to {usage['to']} UTC"
    return "\n".join([period, *note, "", *lines]) + "\n"


def _table_rows(usage: Mapping[str, Any]) -> Iterator[list[str]]:
    for group, amount in _amounts(usage):
        named = [amount["unit"], amount["resource_class"] or "-"]
        name = printable(_name(group))
        if not usage["steps"]:
            yield [name, *named, *_cells(amount["hours"])]
            continue
        for step, hours in zip(usage["steps"], amount["steps"], strict=True):
            if hours["reserved"]:
                yield [name, step["start_date"], *named, *_cells(hours)]


def _amounts(usage: Mapping[str, Any]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    for group in usage["groups"]:
        for amount in group["amounts"]:
            yield group["value"], amount


def _name(value: object) -> str:
    return "-" if value is None else str(value)


def _numbers(hours: Mapping[str, float]) -> Sequence[float]:
    return [hours[each] for each in _FIGURES]


def _cells(hours: Mapping[str, float]) -> list[str]:
    return [*(f"{each:.1f}" for each in _numbers(hours)), share(hours["in_use"], hours["reserved"])]


def share(part: float, whole: float) -> str:
    """Return a part in percent; a hyphen if the whole is 0."""
    return f"{part / whole:.0%}" if whole else "-"
