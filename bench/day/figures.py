"""Counts and durations of the requests of users and operators; shared by all threads."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from faults.client import Answer, Client, Said
from faults.gateway import Gateway
from faults.lessees import Promise

from bench.day.pace import Day


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A request without an answer, or with 502, 503 or 504."""

    kind: str
    asked_at: datetime
    status: int | None


@dataclass(slots=True)
class Figures:
    """Counts, durations and confirmed answers."""

    milliseconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Of answered requests, by kind."""
    answers: Counter[tuple[str, Said]] = field(default_factory=Counter)
    unanswered: list[Unanswered] = field(default_factory=list)
    promises: list[Promise] = field(default_factory=list)
    """The answers about leases."""
    names: dict[str, str] = field(default_factory=dict)
    """The names of leases by id."""
    types: Counter[str] = field(default_factory=Counter)
    """Reservations of created leases, by resource type."""
    servers: int = 0
    offers_taken: int = 0
    problems: list[str] = field(default_factory=list)
    """Answers that no caller may get."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, kind: str, answer: Answer, milliseconds: float, asked_at: datetime) -> None:
        """Record an answer."""
        with self._lock:
            self.answers[kind, answer.said] += 1
            if answer.said is Said.UNKNOWN:
                self.unanswered.append(Unanswered(kind, asked_at, answer.status))
            else:
                self.milliseconds[kind].append(milliseconds)

    def note_lease(self, promise: Promise, name: str) -> None:
        """Record a confirmed lease."""
        with self._lock:
            self.promises.append(promise)
            self.names[promise.lease_id] = name
            self.types[promise.resource_type] += 1

    def note_server(self) -> None:
        """Record that a server was booted in a lease."""
        with self._lock:
            self.servers += 1

    def note_offer_taken(self) -> None:
        """Record that an offer became a lease or a change of one."""
        with self._lock:
            self.offers_taken += 1

    def note_problem(self, problem: str) -> None:
        """Record an answer that no caller may get."""
        with self._lock:
            self.problems.append(problem)

    def kinds(self) -> Sequence[str]:
        """Return the kinds of requests, in alphabetical order."""
        return sorted({kind for kind, _ in self.answers})


class TimedClient:
    """A client of one user whose requests are timed; use it from one thread only."""

    def __init__(self, gateway: Gateway, user: str, figures: Figures, day: Day) -> None:
        self._client = Client(gateway, user)
        self._figures, self._day = figures, day

    def ask(self, kind: str, method: str, path: str, body: object = None) -> Answer:
        """Send a request, record it as one of a kind, and return its answer.

        Raises:
            AssertionError: The answer is an internal server error.
        """
        asked_at, began = self._day.now(), time.monotonic()
        answer = self._client.ask(method, path, body)
        self._figures.note(kind, answer, 1000 * (time.monotonic() - began), asked_at)
        return answer

    def close(self) -> None:
        """Close the connection."""
        self._client.close()
