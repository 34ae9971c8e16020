"""All workloads, in the order in which they use the installation."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from bench.service import creating, crowding, listing, memory, starting
from bench.service.effort import WHOLE
from bench.service.lines import Line, Target, over_runs
from bench.service.measured_installation import FLAVOR, MeasuredInstallation
from blazar.ports.compute import Flavor

GROUPS = ("create", "change", "statements", "list", "crowd", "start", "memory")
"""Values of ``--only``."""
_FLAVOR = Flavor(id=FLAVOR, name=FLAVOR, vcpus=1, memory_mb=2048, disk_gb=10, is_public=True)
"""The flavor of ``flavor:instance`` leases, which is public."""
_DESIGN_HOSTS, _DESIGN_BOOKINGS = 1_000, 10
_JUDGED_CREATES = ("create host lease", "create instance lease")
_MOST_FLOORS = {**dict.fromkeys(_JUDGED_CREATES, 2.0), "extend lease": 2.8, "delete pending lease": 2.0}
"""Targets of ratios to the floor at the design's numbers of hosts and bookings."""
_MOST_GROWTH = 1.3
_MOST_CREATES = 1.4
"""Target of the duration of an extension relative to that of a create."""
_SAME_STATEMENTS = 3


def all_lines(measured: MeasuredInstallation, only: Collection[str]) -> Iterator[Line]:
    """Yield the lines of the groups in *only*, in the order of measurement."""
    yield from _floor_lines(measured)
    over_hosts = {"create", "change", "statements", "list", "memory"} & set(only)
    if over_hosts or "crowd" in only:
        measured.control.make_flavor(_FLAVOR)
        for hosts in measured.effort.sizes:
            yield from _at(measured, hosts, only)
    if "crowd" in only:
        yield from crowding.measure_scarce(measured)
    if "start" in only:
        starting.prepare(measured)
        runs = range(measured.effort.runs)
        yield from over_runs(starting.measure_big(measured) for _ in runs)
        yield from over_runs(starting.measure_due(measured) for _ in runs)


def judged(lines: list[Line]) -> list[Line]:
    """Return the lines with the targets of ratios, of which some compare several lines."""
    written = {
        (each.name, each.hosts, each.allocations): each
        for each in lines
        if each.group in ("create", "change")
    }
    return [
        replace(line, targets=tuple(_targets(line, written))) if line in written.values() else line
        for line in lines
    ]


def _targets(line: Line, lines: Mapping[tuple[str, int | None, int | None], Line]) -> Iterator[Target]:
    """Yield the targets of a create or a change, of which *lines* are all."""
    if line.ratio is None or line.name not in _MOST_FLOORS:
        return
    is_as_designed = (line.hosts, line.allocations) == (_DESIGN_HOSTS, _DESIGN_BOOKINGS)
    is_largest = (line.hosts, line.allocations) == (max(WHOLE.sizes), max(WHOLE.bookings))
    if is_as_designed:
        yield Target.at_most(_MOST_FLOORS[line.name], line.ratio, "ratio")
    small = lines.get((line.name, 100, _DESIGN_BOOKINGS))
    if line.name in _JUDGED_CREATES and (is_as_designed or is_largest) and small and small.ratio:
        growth = line.ratio / small.ratio
        yield Target.at_most(_MOST_GROWTH, growth, f"to 100 hosts ({growth:.2f})")
    create = lines.get((_JUDGED_CREATES[0], line.hosts, line.allocations))
    if line.name == "extend lease" and is_as_designed and create:
        compared = line.figures[0] / create.figures[0]
        yield Target.at_most(_MOST_CREATES, compared, f"to a create ({compared:.2f})")


def problems(lines: list[Line]) -> list[str]:
    """Return the errors found, which do not depend on speed."""
    found = []
    for kind in creating.KINDS:
        name = f"SQL per {kind} lease"
        # The minimum is that of a request during which no manager queried for due work.
        counts = {each.hosts: each.figures[1] for each in lines if each.name == name}
        if counts and max(counts.values()) - min(counts.values()) > _SAME_STATEMENTS:
            found.append(f"{name}: their number depends on the number of hosts: {counts}")
    return found


def _floor_lines(measured: MeasuredInstallation) -> Iterator[Line]:
    floors = [measured.floors.measure(100) for _ in range(measured.effort.runs)]
    for name, values in (
        ("floor: RPC echo", [each.echo for each in floors]),
        ("floor: commit of a lease's rows", [each.commit for each in floors]),
        ("floor: WSGI answer", [each.wsgi for each in floors]),
    ):
        yield Line(group="floor", name=name, unit="ms", values=values)


def _at(measured: MeasuredInstallation, hosts: int, only: Collection[str]) -> Iterator[Line]:
    """Yield the measurements with this number of hosts, with increasing bookings."""
    windows, leases, before = creating.Windows(), 0, 0
    for bookings in measured.effort.bookings:
        if bookings != _DESIGN_BOOKINGS and not {"create", "memory"} & set(only):
            continue
        with measured.managers_away():
            if before == 0 and leases == 0:
                measured.empty()
            leases = measured.fill(hosts, before, bookings, leases)
        before = bookings
        measured.register_others()
        if "create" in only:
            yield from creating.measure(measured, hosts, bookings, windows)
        if bookings == _DESIGN_BOOKINGS:
            yield from _at_design_bookings(measured, hosts, leases, windows, only)
        if "memory" in only and bookings == measured.effort.bookings[-1]:
            yield from memory.measure(measured, hosts, bookings)


def _at_design_bookings(
    measured: MeasuredInstallation, hosts: int, leases: int, windows: creating.Windows, only: Collection[str]
) -> Iterator[Line]:
    """Yield the measurements with ten bookings per host."""
    if "change" in only:
        yield from creating.measure_changes(measured, hosts, _DESIGN_BOOKINGS, windows)
    if "statements" in only:
        yield from creating.count_statements(measured, hosts, _DESIGN_BOOKINGS, windows)
    if "list" in only:
        yield from listing.measure(measured, hosts, leases)
    if "crowd" in only and hosts == measured.effort.sizes[1]:
        yield from crowding.measure_plenty(measured, hosts, _DESIGN_BOOKINGS)
