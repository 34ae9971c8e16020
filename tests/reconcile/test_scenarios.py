"""Every life of a lease, with every step of it failed once, lost once, killed once, and taken twice.

The steps are found by machine: the n-th call of the cloud, or the n-th commit, goes wrong, for n = 1, 2, …
until there is no n-th one.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
from databases import KINDS
from reconcile.floatingip_scenarios import FLOATINGIP_SCENARIOS
from reconcile.healing_scenarios import HEALING_SCENARIOS
from reconcile.invariants import check_said_once
from reconcile.lab import Lab, LabOn, NothingToStrike
from reconcile.scenarios import SCENARIOS as HOST_SCENARIOS
from reconcile.scenarios import Scenario
from reconcile.slot_scenarios import SLOT_SCENARIOS

from blazar.plugins.testing.faults import CLOUD_FAULTS, COMMIT_FAULTS

SCENARIOS = (*HOST_SCENARIOS, *SLOT_SCENARIOS, *HEALING_SCENARIOS, *FLOATINGIP_SCENARIOS)

Record = Callable[[str, object], None]

every_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
every_database = pytest.mark.parametrize("kind", KINDS)


IN_TURN = "in-turn"
"""A worker fails at odd steps and is killed at even ones."""
_STOPS = ("fails", "killed")
_TRIES_ALL = os.environ.get("BLAZAR_TEST_FAULTS") == "all"
_SERVERS = ("mariadb", "postgresql")


def trials(faults: Iterable[str]) -> pytest.MarkDecorator:
    """Return which scenario is played where with which fault.

    Every step of every scenario is struck on SQLite, and every step of every kind of action on one of the
    others (:func:`is_struck`), by what stops a worker before or after it has written. What a fault leads
    to hardly depends on the database, so all else that can go wrong is tried on SQLite, with every kind of
    action.
    With ``BLAZAR_TEST_FAULTS=all`` everything is tried with every scenario on every database: for hours.
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


def at_step(fault: str, nth: int) -> str:
    """Return what goes wrong at a step."""
    return _STOPS[(nth - 1) % len(_STOPS)] if fault == IN_TURN else fault


def is_struck(kind: str, nth: int) -> bool:
    """Return whether a step is struck on a database: on the two servers, pairs of steps in turn."""
    if _TRIES_ALL or kind not in _SERVERS:
        return True
    return (nth - 1) // len(_STOPS) % len(_SERVERS) == _SERVERS.index(kind)


@every_database
@every_scenario
def test_nothing_goes_wrong(scenario: Scenario, kind: str, lab_on: LabOn) -> None:
    lab = lab_on(kind)
    lab.reset(scenario.conditions)

    scenario.play(lab)

    check_said_once(lab)


@every_database
@every_scenario
def test_every_step_is_taken_twice(scenario: Scenario, kind: str, lab_on: LabOn) -> None:
    lab = lab_on(kind)
    lab.reset(replace(scenario.conditions, takes_steps_twice=True))

    scenario.play(lab)

    check_said_once(lab)


@every_database
@every_scenario
def test_everything_is_looked_at_more_often_than_needed(scenario: Scenario, kind: str, lab_on: LabOn) -> None:
    lab = lab_on(kind)
    lab.reset(replace(scenario.conditions, is_restless=True))

    scenario.play(lab)

    check_said_once(lab)


@trials(CLOUD_FAULTS)
def test_a_call_of_the_cloud_goes_wrong(
    scenario: Scenario, kind: str, fault: str, lab_on: LabOn, record_property: Record
) -> None:
    lab = lab_on(kind)

    def arm(nth: int) -> None:
        lab.may_fail = fault == "refused"
        lab.faults.add(CLOUD_FAULTS[at_step(fault, nth)](nth))

    struck = filter(functools.partial(is_struck, kind), itertools.count(1))
    steps = each_step(lab, scenario, struck, arm, lambda: bool(lab.faults.fired))

    record_property("engine: calls that went wrong on " + kind, steps)


@trials(COMMIT_FAULTS)
def test_a_commit_goes_wrong(
    scenario: Scenario, kind: str, fault: str, lab_on: LabOn, record_property: Record
) -> None:
    lab = lab_on(kind)

    struck = filter(functools.partial(is_struck, kind), itertools.count(1))
    steps = each_step(
        lab,
        scenario,
        struck,
        lambda nth: lab.store.arm(COMMIT_FAULTS[at_step(fault, nth)], nth),
        lambda: not lab.store.is_armed,
    )

    record_property("engine: commits that went wrong on " + kind, steps)


def each_step(
    lab: Lab,
    scenario: Scenario,
    struck: Iterable[int],
    arm: Callable[[int], None],
    has_struck: Callable[[], bool],
) -> int:
    """Play a scenario with each of these steps struck, as long as it has so many; return how often."""
    for times, nth in enumerate(struck):
        lab.reset(scenario.conditions)
        lab.arm, lab.has_struck = functools.partial(arm, nth), has_struck
        try:
            scenario.play(lab)
        except NothingToStrike:
            return times
        except BaseException as error:
            error.add_note(f"when step {nth} was struck: {lab.faults.fired}")
            raise
    raise AssertionError
