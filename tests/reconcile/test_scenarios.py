"""Every scenario, with faults at each of its steps, and with all steps taken twice.

The steps are enumerated automatically: the n-th cloud call, or the n-th commit, is faulty, for n = 1, 2, …
until a run has fewer than n of them. On SQLite, one run of the tests tries every sixth n (``turns.py``).
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
import turns
from databases import KINDS
from reconcile.floatingip_scenarios import FLOATINGIP_SCENARIOS
from reconcile.healing_scenarios import HEALING_SCENARIOS
from reconcile.invariants import check_said_once
from reconcile.occupied_host_scenarios import OCCUPIED_HOST_SCENARIOS
from reconcile.reconciler_env import EnvOn, NothingToStrike, ReconcilerEnv
from reconcile.scenarios import SCENARIOS as HOST_SCENARIOS
from reconcile.scenarios import Scenario
from reconcile.slot_scenarios import SLOT_SCENARIOS

from blazar_plugin_testing.faults import CLOUD_FAULTS, COMMIT_FAULTS

SCENARIOS = (
    *HOST_SCENARIOS,
    *OCCUPIED_HOST_SCENARIOS,
    *SLOT_SCENARIOS,
    *HEALING_SCENARIOS,
    *FLOATINGIP_SCENARIOS,
)

Record = Callable[[str, object], None]

IN_TURN = "in-turn"
"""The worker fails at odd steps and is killed at even ones."""
_STOPS = ("fails", "killed")
ANSWERS = "answers-in-turn"
"""The cloud answers with one of these errors, with another one at the next step and in the next scenario."""
_ANSWERS = ("not-found", "conflict", "refused")
ABORTS = "aborts-in-turn"
"""A commit without effect, after which the worker either retries at once or reports an error."""
_ABORTS = ("fails", "deadlock")
_TURNS = {IN_TURN: _STOPS, ANSWERS: _ANSWERS, ABORTS: _ABORTS}
_TRIES_ALL = os.environ.get("BLAZAR_TEST_FAULTS") == "all"
_SERVERS = ("mariadb", "postgresql")
_STRIDE = 4
"""On each of the two servers, one pair of steps in this many may be faulty, a different pair on each."""
_PARTS_ON_SERVERS = 2
"""Of these pairs, a run tries one in this many, and other runs try the others."""
_PARTS = 6
"""On SQLite, a run tries one step in this many, and other runs try the others."""
_LATER = ("reply-lost", ANSWERS)
"""The faults of every second pair of steps on SQLite; the other pairs have the other faults."""


def plays(*, is_repeated: bool) -> pytest.MarkDecorator:
    """Return pairs of scenario and database: all, or for repeated scenarios SQLite and one server."""
    return pytest.mark.parametrize(
        ("scenario", "kind"),
        [
            pytest.param(scenario, kind, id=f"{scenario}-{kind}")
            for number, scenario in enumerate(SCENARIOS)
            for kind in KINDS
            if _TRIES_ALL or not is_repeated or kind != _SERVERS[number % len(_SERVERS)]
        ],
    )


def trials(faults: Iterable[str]) -> pytest.MarkDecorator:
    """Return the combinations of scenario, database and fault.

    On SQLite, every step of every scenario is faulty once, in one of six parts that take turns over runs,
    and on the servers some steps of every kind of action (:func:`is_struck`), with faults that stop a worker
    before or after a write. The effect of a fault hardly depends on the database, so all other faults are
    tried on SQLite, with every kind of action: a step fails and is followed by a kill, or it is refused and
    its reply is lost, and with another scenario it is the other way round. Faults that the code under test
    handles alike take turns.
    With ``BLAZAR_TEST_FAULTS=all``, every combination is tried, which takes hours.
    """
    return pytest.mark.parametrize(
        ("scenario", "kind", "fault"),
        [
            pytest.param(scenario, kind, fault, id=f"{scenario}-{kind}-{fault}")
            for scenario in SCENARIOS
            for kind in KINDS
            for fault in _tried(scenario, kind, faults)
        ],
    )


def _tried(scenario: Scenario, kind: str, faults: Iterable[str]) -> Iterable[str]:
    if _TRIES_ALL:
        return faults
    if kind == "sqlite":
        return faults if scenario.is_representative else (IN_TURN,)
    return (IN_TURN,) if scenario.is_representative else ()


def at_step(scenario: Scenario, fault: str, nth: int) -> str:
    """Return the fault of a step."""
    turns = _TURNS.get(fault)
    if turns is None:
        return fault
    first = 0 if fault == IN_TURN else SCENARIOS.index(scenario)
    return turns[(first + nth - 1) % len(turns)]


def grouped(faults: Iterable[str], **groups: tuple[str, ...]) -> Iterable[str]:
    """Return the faults, those of each group replaced by its name; all faults if all are to be tried."""
    if _TRIES_ALL:
        return faults
    members = {each for group in groups.values() for each in group}
    return (*(each for each in faults if each not in members), *groups)


def is_struck(scenario: Scenario, kind: str, fault: str, nth: int) -> bool:
    """Return whether a step has a fault on a database.

    The two servers take turns with pairs of steps, and so do the two halves of the faults on SQLite. The
    first pair depends on the scenario, so that all pairs are used over all scenarios. Runs take turns, too.
    """
    if _TRIES_ALL:
        return True
    pair = (nth - 1) // len(_STOPS) + SCENARIOS.index(scenario)
    if kind not in _SERVERS:
        return turns.is_due(nth, _PARTS) and (fault == IN_TURN or pair % 2 == (fault in _LATER))
    turn, place = divmod(pair, _STRIDE)
    return place == _SERVERS.index(kind) * _STRIDE // len(_SERVERS) and turns.is_due(turn, _PARTS_ON_SERVERS)


@plays(is_repeated=False)
def test_nothing_goes_wrong(scenario: Scenario, kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(scenario.conditions)

    scenario.play(env)

    check_said_once(env)


@plays(is_repeated=True)
def test_every_step_is_taken_twice(scenario: Scenario, kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(replace(scenario.conditions, takes_steps_twice=True))

    scenario.play(env)

    check_said_once(env)


@plays(is_repeated=True)
def test_everything_is_looked_at_more_often_than_needed(scenario: Scenario, kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(replace(scenario.conditions, is_restless=True))

    scenario.play(env)

    check_said_once(env)


@trials(grouped(CLOUD_FAULTS, **{ANSWERS: _ANSWERS}))
def test_a_call_of_the_cloud_goes_wrong(
    scenario: Scenario, kind: str, fault: str, env_on: EnvOn, record_property: Record
) -> None:
    env = env_on(kind)

    def arm(nth: int) -> None:
        struck_by = at_step(scenario, fault, nth)
        env.may_fail = struck_by == "refused"
        env.faults.add(CLOUD_FAULTS[struck_by](nth))

    struck = filter(functools.partial(is_struck, scenario, kind, fault), itertools.count(1))
    steps = each_step(env, scenario, struck, arm, lambda: bool(env.faults.fired))

    record_property("engine: calls that went wrong on " + kind, steps)


@trials(grouped(COMMIT_FAULTS, **{ABORTS: _ABORTS}))
def test_a_commit_goes_wrong(
    scenario: Scenario, kind: str, fault: str, env_on: EnvOn, record_property: Record
) -> None:
    env = env_on(kind)

    struck = filter(functools.partial(is_struck, scenario, kind, fault), itertools.count(1))
    steps = each_step(
        env,
        scenario,
        struck,
        lambda nth: env.store.arm(COMMIT_FAULTS[at_step(scenario, fault, nth)], nth),
        lambda: not env.store.is_armed,
    )

    record_property("engine: commits that went wrong on " + kind, steps)


def each_step(
    env: ReconcilerEnv,
    scenario: Scenario,
    struck: Iterable[int],
    arm: Callable[[int], None],
    has_struck: Callable[[], bool],
) -> int:
    """Run a scenario once for each of these faulty steps, until a run has too few steps; return the count."""
    for times, nth in enumerate(struck):
        env.reset(scenario.conditions)
        env.arm, env.has_struck = functools.partial(arm, nth), has_struck
        try:
            scenario.play(env)
        except NothingToStrike:
            return times
        except BaseException as error:
            error.add_note(f"when step {nth} was struck: {env.faults.fired}")
            raise
    raise AssertionError
