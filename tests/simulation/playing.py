"""Simulation of a seed from its beginning to the end of all leases, with checks of the invariants."""

from __future__ import annotations

import logging
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from reconcile.floatingips import floatingips
from reconcile.invariants import check_settled
from reconcile.parts import hosts, lease_body
from reconcile.unexpected import UnexpectedErrors
from simulation.crew import Sabotage
from simulation.database import Database
from simulation.people import People
from simulation.plans import draw_plan
from simulation.simulation_env import SimulationEnv
from simulation.weather import CALM

from blazar.domain.lease import LeaseStatus
from blazar.plugins.hosts.monitor import notice_change
from blazar_plugin_testing.service_env import LESSEE

_MINUTE = timedelta(minutes=1)
_MEMORY = Path("/dev/shm")
"""A folder in memory; if there is none, files are written to disk, which takes longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a seed; ``trace`` is the same in every run on every machine."""

    seed: int
    trace: str
    events: tuple[str, ...]
    """All events, in words."""
    error: str = ""
    """The violation and its traceback; empty if there was none."""


def play(database: Database, seed: int, sabotage: Sabotage | None = None) -> Outcome:
    """Run a seed, with a bug from *sabotage* if given, and return its outcome."""
    env = SimulationEnv(database, draw_plan(seed), sabotage)
    error = ""
    try:
        with _nothing_unexpected():
            _live(env)
    except Exception:
        error = traceback.format_exc()
    finally:
        env.scheduler.close()
    return Outcome(seed=seed, trace=env.trace, events=tuple(env.events), error=error)


def play_all(seeds: Iterable[int], sabotage: Sabotage | None = None) -> list[Outcome]:
    """Run seeds on a database of their own and return their outcomes."""
    logging.getLogger("alembic").setLevel(logging.WARNING)
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        database = Database(Path(folder))
        try:
            return [play(database, seed, sabotage) for seed in seeds]
        finally:
            database.close()


def story(outcome: Outcome, length: int = 40) -> str:
    """Return the last events of a failed seed, its error, and the command that repeats it."""
    events = "\n".join(outcome.events[-length:])
    return f"{events}\n{outcome.error}seed {outcome.seed} failed; again: make simulate SEED={outcome.seed}"


def _live(env: SimulationEnv) -> None:
    """Run requests and faults, let all of them end, and check that every resource is available again."""
    People(env).come()
    env.weather = env.plan.weather
    env.go_on(env.clock.now() + env.plan.horizon)
    _calm_down(env)
    _settle(env, env.clock.now())
    _settle(env, max([env.clock.now(), *_ends(env)]))
    _have_everything(env)


def _calm_down(env: SimulationEnv) -> None:
    """Stop all faults and correct the clocks; paused processes continue when their pause ends."""
    env.note("nothing goes wrong any more")
    env.weather = CALM
    for each in env.crew.processes:
        each.clock.offset = timedelta(0)


def _settle(env: SimulationEnv, after: datetime) -> None:
    """Advance the clock by more than two sweeps, then check that every lease is as its window requires."""
    instant = after + 2 * env.plan.sweep_interval + 15 * _MINUTE
    # Leases start and end at full minutes.
    env.go_on(instant.replace(second=30, microsecond=0))
    while env.crew.is_busy and env.clock.now() < instant + 10 * _MINUTE:
        env.go_on(env.clock.now() + _MINUTE)
    assert env.scheduler.tasks == [env.scheduler.main], [each.name for each in env.scheduler.tasks]
    env.host_names = _registered(env)
    check_settled(env)
    env.note("all is as it should be")


def _have_everything(env: SimulationEnv) -> None:
    """Check that a lease of all resources can start."""
    process, names = env.crew.some(), _registered(env)
    for name in names:
        env.cloud.set_host_state(name, is_up=True, is_enabled=True)
        notice_change(process.context, name)
    env.go_on(env.clock.now() + 5 * _MINUTE)
    asked = [hosts(len(names), len(names))]
    if env.conditions.floatingips:
        asked.append(floatingips(env, env.conditions.floatingips))
    end = f"{env.clock.now() + 60 * _MINUTE:%Y-%m-%d %H:%M}"
    process.service.create_lease(LESSEE, lease_body("everything", "now", end, *asked))
    env.go_on(env.clock.now() + 5 * _MINUTE)
    status = {each.name: each.status for each in env.leases()}["everything"]
    assert status is LeaseStatus.ACTIVE, status


def _registered(env: SimulationEnv) -> list[str]:
    return sorted(name for (name,) in env.database.look("SELECT service_name FROM hosts"))


def _ends(env: SimulationEnv) -> list[datetime]:
    return [
        datetime.fromisoformat(f"{end}+00:00") for (end,) in env.database.look("SELECT end_at FROM leases")
    ]


@contextmanager
def _nothing_unexpected() -> Iterator[None]:
    """Fail if an unexpected error was logged; other log lines are ignored."""
    handler, logger = UnexpectedErrors(), logging.getLogger("blazar")
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.ERROR)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate
    assert not handler.found, handler.found
