"""Records of usage as values over time, found by bisection.

The number of records is not bounded: a lessee who constantly creates and deletes servers adds one with each
observation. So each record is read once, not once for each of the others.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Generic, TypeVar

from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationStatus
from blazar.domain.usage.records import NO_FACTS, Holding, ReservationState, ResourceFacts, UsageRecords

ValueT = TypeVar("ValueT")
State = tuple[ReservationStatus, bool]
"""The status of a reservation, and whether it holds failed resources without a replacement."""
_INITIAL: Final[State] = (ReservationStatus.PENDING, False)


@dataclass(frozen=True, slots=True)
class Timeline(Generic[ValueT]):
    """A value that changes at instants."""

    first: ValueT
    """The value before the first change."""
    instants: Sequence[datetime] = ()
    """The changes in the order of time."""
    values: Sequence[ValueT] = ()
    """The value from each change on."""

    def at(self, instant: datetime) -> ValueT:
        """Return the value at an instant."""
        number = bisect_right(self.instants, instant)
        return self.values[number - 1] if number else self.first

    def changes(self, window: Interval) -> Sequence[datetime]:
        """Return the changes in a window."""
        first, last = bisect_left(self.instants, window.start), bisect_left(self.instants, window.end)
        return self.instants[first:last]


def highest(windows: Iterable[tuple[Interval, int]]) -> Timeline[int]:
    """Return the highest number of the windows that contain an instant; 0 if none does."""
    changes: dict[datetime, dict[int, int]] = {}
    for window, number in windows:
        for instant, count in ((window.start, 1), (window.end, -1)):
            counts = changes.setdefault(instant, {})
            counts[number] = counts.get(number, 0) + count
    instants, values = sorted(changes), list[int]()
    present: dict[int, int] = {}
    for instant in instants:
        for number, count in changes[instant].items():
            present[number] = present.get(number, 0) + count
            if not present[number]:
                del present[number]
        values.append(max(present, default=0))
    return Timeline(0, instants, values)


def state_timeline(states: Sequence[ReservationState]) -> Timeline[State]:
    """Return the state of a reservation; of several from the same instant, the last one counts."""
    found = {each.since: (each.status, each.is_missing) for each in states}
    instants = sorted(found)
    return Timeline(_INITIAL, instants, [found[each] for each in instants])


def facts_timeline(known: Sequence[ResourceFacts]) -> Timeline[ResourceFacts]:
    """Return the facts of a resource: at each instant the first ones that are still valid.

    The last ones stay valid after their end: the resource was deleted.
    """
    valid, latest = list[ResourceFacts](), list[datetime]()
    for each in known:
        if each.until is None:
            valid.append(each)
            break
        if not latest or each.until > latest[-1]:
            valid.append(each)
            latest.append(each.until)
    return Timeline(valid[0] if valid else NO_FACTS, latest[: len(valid) - 1] if valid else (), valid[1:])


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldingTimelines:
    """The timelines that concern one holding."""

    states: Timeline[State]
    failed: Timeline[int]
    """1 while the resource has failed."""
    observed: Timeline[int]
    """1 while its type is observed."""
    used: Timeline[int]
    """The units in use."""
    facts: Timeline[ResourceFacts]
    has_arrived: bool
    """Whether the reservation was ever used."""

    def lines(self) -> tuple[Timeline[State] | Timeline[int] | Timeline[ResourceFacts], ...]:
        """Return all of them."""
        return self.states, self.failed, self.observed, self.used, self.facts


@dataclass(frozen=True, slots=True)
class Timelines:
    """The timelines of records; each is made once."""

    records: UsageRecords
    _known: dict[Hashable, Timeline[int]] = field(default_factory=dict)
    _states: dict[str, Timeline[State]] = field(default_factory=dict)
    _facts: dict[str, Timeline[ResourceFacts]] = field(default_factory=dict)

    def of(self, holding: Holding) -> HoldingTimelines:
        """Return the timelines of a holding."""
        records, reservation_id, resource_id = self.records, holding.reservation_id, holding.resource_id
        key = (reservation_id, resource_id)
        if reservation_id not in self._states:
            self._states[reservation_id] = state_timeline(records.states.get(reservation_id, ()))
        if resource_id not in self._facts:
            self._facts[resource_id] = facts_timeline(records.facts.get(resource_id, ()))
        return HoldingTimelines(
            states=self._states[reservation_id],
            failed=self._made(("failed", resource_id), lambda: _ones(records.failures.get(resource_id, ()))),
            observed=self._made(
                ("observed", holding.resource_type),
                lambda: _ones(records.observed.get(holding.resource_type, ())),
            ),
            used=self._made(
                ("used", *key),
                lambda: highest((each.window, each.units) for each in records.used.get(key, ())),
            ),
            facts=self._facts[resource_id],
            has_arrived=reservation_id in records.arrived,
        )

    def _made(self, key: Hashable, make: Callable[[], Timeline[int]]) -> Timeline[int]:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]


def _ones(windows: Iterable[Interval]) -> Timeline[int]:
    return highest((each, 1) for each in windows)
