"""The table: a line for each measurement, with its floor and its target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bench.measuring import Spread, spread

_HEAD = ("what", "median (least to most)", "unit", "floor", "ratio", "target", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The target of a figure."""

    text: str
    is_met: bool

    @classmethod
    def at_most(cls, limit: float, figure: float, what: str) -> Target:
        """Return a target that is met by values up to a limit."""
        return cls(text=f"{what} <= {limit:g}", is_met=figure <= limit)

    @classmethod
    def at_least(cls, limit: float, figure: float, what: str) -> Target:
        """Return a target that is met by values from a limit on."""
        return cls(text=f"{what} >= {limit:g}", is_met=figure >= limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A measurement; each value is of one run."""

    group: str
    """The workload."""
    name: str
    unit: str
    values: Sequence[float]
    floors: Sequence[float] = ()
    """Durations of the minimum work in the same runs; empty if the measurement has no floor."""
    hosts: int | None = None
    allocations: int | None = None
    """Number of future allocations of each host."""
    targets: tuple[Target, ...] = ()

    @property
    def figures(self) -> Spread:
        """Return median, minimum and maximum over the runs."""
        return spread(self.values)

    @property
    def ratio(self) -> float | None:
        """Return the ratio to the floor, by the medians over the runs."""
        if not self.floors:
            return None
        return spread(value / floor for value, floor in zip(self.values, self.floors, strict=True))[0]

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the table."""
        median, least, most = self.figures
        where = "" if self.hosts is None else f", {self.hosts} hosts"
        booked = "" if self.allocations is None else f" x {self.allocations}"
        return (
            f"{self.name}{where}{booked}",
            f"{number(median)} ({number(least)} to {number(most)})" if least != most else number(median),
            self.unit,
            number(spread(self.floors)[0]) if self.floors else "",
            f"{self.ratio:.2f}" if self.ratio is not None else "",
            "; ".join(each.text for each in self.targets),
            "; ".join("met" if each.is_met else "MISSED" for each in self.targets),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the line as JSON."""
        median, least, most = self.figures
        return {
            "group": self.group,
            "name": self.name,
            "hosts": self.hosts,
            "allocations": self.allocations,
            "unit": self.unit,
            "median": median,
            "least": least,
            "most": most,
            "values": list(self.values),
            "floor": spread(self.floors)[0] if self.floors else None,
            "ratio": self.ratio,
            "targets": [{"text": each.text, "met": each.is_met} for each in self.targets],
        }


def over_runs(runs: Iterable[Iterable[Line]]) -> list[Line]:
    """Return the lines of one run with the values of all runs; a target is met if every run meets it."""
    complete = [list(run) for run in runs]
    return [_together(same) for same in zip(*complete, strict=True)]


def _together(lines: Sequence[Line]) -> Line:
    return replace(
        lines[0],
        values=[value for line in lines for value in line.values],
        floors=[floor for line in lines for floor in line.floors],
        targets=tuple(
            replace(same[0], is_met=all(each.is_met for each in same))
            for same in zip(*(line.targets for line in lines), strict=True)
        ),
    )


def number(value: float) -> str:
    """Return a number with few digits."""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.1f}"


def table(lines: Iterable[Line]) -> str:
    """Return the lines as text in columns."""
    rows = [_HEAD, *(each.cells() for each in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
