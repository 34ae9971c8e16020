"""The shared parts of one run: users, operators and faults act on them side by side."""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass, field

from bench.day.figures import Figures, TimedClient
from bench.day.pace import Day
from bench.day.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a day."""

    site: Site
    day: Day
    seed: str
    """The seed of all choices."""
    figures: Figures = field(default_factory=Figures)
    """Records all answers."""
    is_over: threading.Event = field(default_factory=threading.Event)
    """Ends the day."""

    def chance(self, name: str) -> random.Random:
        """Return a sequence of choices of its own for a part of the run."""
        return random.Random(f"{self.seed}-{name}")

    def client(self, user: str) -> TimedClient:
        """Return a new connection of a user."""
        return TimedClient(self.site.gateway, user, self.figures, self.day)
