"""Counters of calls, their concurrency and duration, and the injection of faults."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rig.cloud.faults import Fault, FaultKind


@dataclass(frozen=True, slots=True, order=True)
class Kind:
    """The key by which calls are counted."""

    service: str
    method: str
    route: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Calls since the last reset."""

    calls: Counter[Kind]
    """Number of received calls by kind."""
    peak_concurrency: int
    """The maximum number of calls in progress at the same time."""
    faults: Counter[FaultKind]
    """Number of calls with an injected fault."""


@dataclass(slots=True)
class _Tally:
    fault: Fault
    seen: int = 0
    struck: int = 0

    def strikes(self, kind: Kind) -> bool:
        if not self.fault.matches(kind.service, kind.method, kind.route):
            return False
        self.seen += 1
        is_spent = self.fault.times is not None and self.struck >= self.fault.times
        return not is_spent and self.seen % self.fault.every == 0


@dataclass(slots=True)
class _Book:
    calls: Counter[Kind] = field(default_factory=Counter)
    faults: Counter[FaultKind] = field(default_factory=Counter)
    peak: int = 0


class Traffic:
    """Counter and fault injector for calls; thread-safe, and never waits under its lock."""

    def __init__(self, latency_seconds: float = 0) -> None:
        self.latency_seconds = latency_seconds
        """Duration of each call before it is executed."""
        self._lock = threading.Lock()
        self._present = 0
        self._book = _Book()
        self._tallies: tuple[_Tally, ...] = ()

    @property
    def figures(self) -> Stats:
        """Return a copy of the counters."""
        with self._lock:
            book = self._book
            return Stats(calls=Counter(book.calls), peak_concurrency=book.peak, faults=Counter(book.faults))

    def reset_figures(self) -> None:
        """Reset the counters; calls in progress still count for the concurrency."""
        with self._lock:
            self._book = _Book(peak=self._present)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Return the present rules, in order."""
        with self._lock:
            return tuple(each.fault for each in self._tallies)

    def set_faults(self, faults: Iterable[Fault]) -> None:
        """Replace all rules; each counts calls from now on. The first rule that selects a call applies."""
        with self._lock:
            self._tallies = tuple(_Tally(each) for each in faults)

    @contextmanager
    def passing(self, kind: Kind) -> Iterator[Fault | None]:
        """Count a call while it is in progress, and yield the fault to inject, if any."""
        with self._lock:
            self._present += 1
            self._book.calls[kind] += 1
            self._book.peak = max(self._book.peak, self._present)
            fault = self._pick(kind)
        try:
            yield fault
        finally:
            with self._lock:
                self._present -= 1

    def _pick(self, kind: Kind) -> Fault | None:
        # All rules count the call, including those after the one that applies.
        striking = [each for each in self._tallies if each.strikes(kind)]
        if not striking:
            return None
        striking[0].struck += 1
        self._book.faults[striking[0].fault.kind] += 1
        return striking[0].fault
