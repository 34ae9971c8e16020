"""Kinds of faults and their likelihood: each seed has its own mix, and most have only some kinds."""

from __future__ import annotations

import random
from dataclasses import dataclass, fields, replace
from datetime import timedelta

from blazar.cloud.simulated.faults import FaultKind, FaultRule, Moment
from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar_plugin_testing.faults import COMMIT_FAULTS, CommitFault


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """The likelihood of each fault at each opportunity, from 0 to 1."""

    # Cloud calls.
    fails: float = 0
    reply_lost: float = 0
    conflicts: float = 0
    not_found: float = 0
    late: float = 0
    """Slower than a claim lasts without renewal."""

    # Commits, and starts of transactions.
    commit_fails: float = 0
    commit_reply_lost: float = 0
    deadlock: float = 0
    no_connection: float = 0

    # Managers, at any step.
    killed: float = 0
    stalled: float = 0
    """Paused for longer than a claim lasts; the manager then continues as if nothing had happened."""
    clock_jumps: float = 0

    # Others.
    broker_refuses: float = 0
    sluggish: float = 0
    """Any step takes seconds."""


CALM = Weather()
_STORMS = {
    "killed": (0.002, 0.01),
    "stalled": (0.002, 0.006),
    "clock_jumps": (0.002, 0.01),
    "broker_refuses": (0.1, 0.6),
    "sluggish": (0.02, 0.15),
}
_USUAL = (0.01, 0.06)


def draw_weather(chance: random.Random) -> Weather:
    """Return a random weather: one in ten without faults, the others with about a third of all kinds."""
    if chance.random() < 0.1:
        return replace(CALM, sluggish=0.05)
    chances = {
        each.name: chance.choice(_STORMS.get(each.name, _USUAL))
        for each in fields(Weather)
        if chance.random() < 0.35
    }
    return Weather(**chances)


_CALL_FAULTS = {
    "fails": FaultRule(kind=FaultKind.STATUS, status=503),
    "reply_lost": FaultRule(kind=FaultKind.LOSE_REPLY),
    "conflicts": FaultRule(kind=FaultKind.ERROR, error=CloudConflict),
    "not_found": FaultRule(kind=FaultKind.ERROR, error=CloudNotFound),
}
_COMMIT_FAULTS = {"commit_fails": "fails", "commit_reply_lost": "reply-lost", "deadlock": "deadlock"}


def draw_call_fault(weather: Weather, chance: random.Random) -> FaultRule | None:
    """Return the fault of a cloud call, None if there is none."""
    for name, rule in _CALL_FAULTS.items():
        likelihood = getattr(weather, name)
        if likelihood and chance.random() < likelihood:
            return rule
    if weather.late and chance.random() < weather.late:
        delay = timedelta(seconds=chance.uniform(5, 25))
        return FaultRule(kind=FaultKind.LATE, delay=delay, when=chance.choice([Moment.BEFORE, Moment.AFTER]))
    return None


def draw_commit_fault(weather: Weather, chance: random.Random) -> CommitFault | None:
    """Return the fault of a commit, None if there is none."""
    for name, fault in _COMMIT_FAULTS.items():
        likelihood = getattr(weather, name)
        if likelihood and chance.random() < likelihood:
            return COMMIT_FAULTS[fault]
    return None
