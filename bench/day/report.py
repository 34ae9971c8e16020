"""The table at the end of the day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy
from faults.client import Said

from bench.day.checks import Outcome
from bench.day.figures import Figures
from bench.day.happenings import UPGRADE, Happening
from bench.day.lateness import Late, outside
from bench.day.mailbox import Mailbox
from bench.day.operators import Operators
from bench.day.pace import Day
from bench.day.processes import Sample
from bench.service.lines import number

_PERCENTS: Final = (50, 95, 99, 100)
_Row = tuple[str, ...]
_HEAD_OF_REQUESTS: Final = (
    "kind of request",
    *("done", "refused", "not answered"),
    *("p50 ms", "p95 ms", "p99 ms", "most"),
)
_HEAD_OF_LATENESS: Final = ("lateness", "count", "p50", "p95", "p99", "most", "real: p50", "p99", "most")
_HEAD_OF_PROCESSES: Final = (
    "processes",
    *("cores, mean", "most"),
    *("MiB, first", "last", "most", "one service, most"),
)
_HEAD_OF_HAPPENINGS: Final = (
    "upgrades and faults",
    *("periods", "strikes", "longest, real", "requests not answered"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """All that was recorded in a day."""

    day: Day
    figures: Figures
    operators: Operators
    happenings: Sequence[Happening]
    planned: int
    """The number of planned upgrades and periods of faults; late ones may exceed the day."""
    mailbox: Mailbox
    late: Sequence[Late]
    samples: Sequence[Sample]
    notifications: int
    outcome: Outcome | None
    """None if a check failed."""


def report(findings: Findings) -> str:
    """Return all tables as text."""
    parts = (
        _counts(findings),
        _table(_HEAD_OF_REQUESTS, _requests(findings)),
        _table(_HEAD_OF_LATENESS, _lateness(findings)),
        _table(_HEAD_OF_PROCESSES, _processes(findings)),
        _table(_HEAD_OF_HAPPENINGS, _happenings(findings)),
    )
    return "\n\n".join(parts)


def _counts(findings: Findings) -> str:
    figures, mailbox, operators = findings.figures, findings.mailbox, findings.operators
    types = ", ".join(f"{count} {kind}" for kind, count in sorted(figures.types.items()))
    mails = ", ".join(f"{count} {kind}" for kind, count in sorted(mailbox.types().items()))
    lines = [
        f"{sum(figures.types.values())} leases: {types}",
        f"{figures.offers_taken} offers taken, {figures.servers} servers booted, "
        f"{operators.failures} hosts failed, {operators.maintenances} maintenances, "
        f"{len(findings.happenings)} of {findings.planned} planned upgrades and faults",
        f"{findings.notifications} notifications; {len(mailbox.messages)} mails ({mails}), "
        f"{mailbox.repeated()} of them sent again",
    ]
    if findings.outcome is not None:
        statuses = ", ".join(f"{count} {name}" for name, count in sorted(findings.outcome.leases.items()))
        lines.append(
            f"at the end of the day: {statuses}; settled after {findings.outcome.settled_seconds:.1f} s"
        )
        if findings.outcome.waited_for:
            lines.append(f"it waited for: {findings.outcome.waited_for[:200]}")
    return "\n".join(lines)


def _requests(findings: Findings) -> Iterator[_Row]:
    figures = findings.figures
    for kind in figures.kinds():
        counts = [str(figures.answers[kind, said]) for said in (Said.DONE, Said.REFUSED, Said.UNKNOWN)]
        times = figures.milliseconds[kind]
        yield (kind, *counts, *(f"{each:.0f}" for each in _percentiles(times)))


def _lateness(findings: Findings) -> Iterator[_Row]:
    troubles = [(each.began_at, each.ended_at) for each in findings.happenings]
    speed = findings.day.clock.speed
    for name, late in (("all", findings.late), ("due outside of faults", outside(findings.late, troubles))):
        for what in ("start", "end"):
            for until in ("begun", "done"):
                seconds = [
                    ((each.began_at if until == "begun" else each.done_at) - each.due).total_seconds()
                    for each in late
                    if each.what == what
                ]
                shown = _percentiles(seconds)
                real = [each / speed for each in shown]
                yield (
                    f"{what} {until}, {name}",
                    str(len(seconds)),
                    *(f"{each / 60:.1f} min" for each in shown),
                    *(f"{real[place]:.2f} s" for place in (0, 2, 3)),
                )


def _processes(findings: Findings) -> Iterator[_Row]:
    kinds = dict.fromkeys(each.kind for each in findings.samples)
    for kind in kinds:
        own = [each for each in findings.samples if each.kind == kind]
        cores = [each.cores for each in own]
        memory = [each.mebibytes for each in own]
        yield (
            kind,
            f"{float(numpy.mean(cores)):.2f}",
            f"{max(cores):.2f}",
            *(number(round(each)) for each in (memory[0], memory[-1], max(memory))),
            number(round(max(each.largest for each in own))),
        )


def _happenings(findings: Findings) -> Iterator[_Row]:
    unanswered = Counter(_during(findings.happenings, each.asked_at) for each in findings.figures.unanswered)
    periods: Counter[str] = Counter(each.name for each in findings.happenings)
    strikes: Counter[str] = Counter()
    seconds: dict[str, float] = {}
    for each in findings.happenings:
        strikes[each.name] += each.strikes
        length = findings.day.real_seconds(each.ended_at - each.began_at)
        seconds[each.name] = max(length, seconds.get(each.name, 0))
    for name in sorted(periods, key=lambda name: (name != UPGRADE, name)):
        yield name, str(periods[name]), str(strikes[name]), f"{seconds[name]:.0f} s", str(unanswered[name])
    yield "none of them", "", "", "", str(unanswered[""])


def _during(happenings: Sequence[Happening], instant: datetime) -> str:
    return next((each.name for each in happenings if each.began_at <= instant <= each.ended_at), "")


def _percentiles(values: Sequence[float]) -> list[float]:
    return [float(numpy.percentile(values, each)) if values else 0.0 for each in _PERCENTS]


def _table(head: _Row, rows: Iterator[_Row]) -> str:
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
