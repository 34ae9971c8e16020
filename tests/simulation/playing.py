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
from simulation.weather import CALM
from simulation.world import World

from blazar.domain.lease import LeaseStatus
from blazar.reconcile.periodic.host_monitor import notice_change
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
    world = World(database, draw_plan(seed), sabotage)
    error = ""
    try:
        with _nothing_unexpected():
            _live(world)
    except Exception:
        error = traceback.format_exc()
    finally:
        world.scheduler.close()
    return Outcome(seed=seed, trace=world.trace, events=tuple(world.events), error=error)


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


def _live(world: World) -> None:
    """Run requests and faults, let all of them end, and check that every resource is available again."""
    People(world).come()
    world.weather = world.plan.weather
    world.go_on(world.clock.now() + world.plan.horizon)
    _calm_down(world)
    _settle(world, world.clock.now())
    _settle(world, max([world.clock.now(), *_ends(world)]))
    _have_everything(world)


def _calm_down(world: World) -> None:
    """Stop all faults and correct the clocks; paused processes continue when their pause ends."""
    world.note("nothing goes wrong any more")
    world.weather = CALM
    for each in world.crew.processes:
        each.clock.offset = timedelta(0)


def _settle(world: World, after: datetime) -> None:
    """Advance the clock by more than two sweeps, then check that every lease is as its window requires."""
    instant = after + 2 * world.plan.sweep_interval + 15 * _MINUTE
    # Leases start and end at full minutes.
    world.go_on(instant.replace(second=30, microsecond=0))
    while world.crew.is_busy and world.clock.now() < instant + 10 * _MINUTE:
        world.go_on(world.clock.now() + _MINUTE)
    assert world.scheduler.tasks == [world.scheduler.main], [each.name for each in world.scheduler.tasks]
    world.host_names = _registered(world)
    check_settled(world)
    world.note("all is as it should be")


def _have_everything(world: World) -> None:
    """Check that a lease of all resources can start."""
    process, names = world.crew.some(), _registered(world)
    for name in names:
        world.cloud.set_host_state(name, is_up=True, is_enabled=True)
        notice_change(process.context, name)
    world.go_on(world.clock.now() + 5 * _MINUTE)
    asked = [hosts(len(names), len(names))]
    if world.conditions.floatingips:
        asked.append(floatingips(world, world.conditions.floatingips))
    end = f"{world.clock.now() + 60 * _MINUTE:%Y-%m-%d %H:%M}"
    process.service.create_lease(LESSEE, lease_body("everything", "now", end, *asked))
    world.go_on(world.clock.now() + 5 * _MINUTE)
    status = {each.name: each.status for each in world.leases()}["everything"]
    assert status is LeaseStatus.ACTIVE, status


def _registered(world: World) -> list[str]:
    return sorted(name for (name,) in world.database.look("SELECT service_name FROM hosts"))


def _ends(world: World) -> list[datetime]:
    return [
        datetime.fromisoformat(f"{end}+00:00") for (end,) in world.database.look("SELECT end_at FROM leases")
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
