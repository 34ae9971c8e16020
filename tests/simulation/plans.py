"""The plan of a seed: the size of its environment, its rules, its weather, and the number of requests."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta

from reconcile.parts import Conditions
from simulation.weather import Weather, draw_weather

_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All parameters that are fixed before the run."""

    seed: int
    conditions: Conditions
    weather: Weather
    processes: int
    workers: int
    skew: timedelta
    """The maximum initial error of a manager's clock."""
    sweep_interval: timedelta
    disasters: int
    """The maximum number of times that managers are killed or paused."""
    requests: int
    """The number of requests of lessees and operators within *horizon*."""
    horizon: timedelta
    steady_hosts: tuple[str, ...]
    """The hosts that operators never remove."""


def draw_plan(seed: int) -> Plan:
    """Return the plan of a seed."""
    chance = random.Random(f"plan {seed}")
    hosts = chance.randint(1, 3)
    conditions = Conditions(
        hosts=hosts,
        floatingips=chance.choice([0, 2, 3]),
        cleaning_time=chance.choice([0, 0, 10]) * _MINUTE,
        before_end_lead=chance.choice([0, 15]) * _MINUTE,
        server_deletion_time=timedelta(seconds=chance.choice([0, 40])),
        healing_interval=chance.choice([10, 60]) * _MINUTE,
    )
    return Plan(
        seed=seed,
        conditions=conditions,
        weather=draw_weather(chance),
        processes=chance.randint(2, 4),
        workers=chance.randint(1, 3),
        skew=timedelta(seconds=chance.choice([0, 0, 2, 8])),
        sweep_interval=30 * _MINUTE,
        disasters=chance.randint(1, 6),
        requests=chance.randint(8, 20),
        horizon=chance.choice([10, 30, 60]) * _MINUTE,
        steady_hosts=tuple(f"host-{number}" for number in range(1, max(1, hosts - 1) + 1)),
    )
