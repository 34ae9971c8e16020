"""Every life of a lease, with every step of it failed once, lost once, killed once, and taken twice.

The steps are found by machine: the n-th call of the cloud, or the n-th commit, goes wrong, for n = 1, 2, …
until there is no n-th one.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
from databases import KINDS
from engine.faults import CLOUD_FAULTS, COMMIT_FAULTS
from engine.floatingip_scenarios import FLOATINGIP_SCENARIOS
from engine.healing_scenarios import HEALING_SCENARIOS
from engine.invariants import check_said_once
from engine.lab import Lab, LabOn, NothingToStrike
from engine.scenarios import SCENARIOS as HOST_SCENARIOS
from engine.scenarios import Scenario
from engine.slot_scenarios import SLOT_SCENARIOS

SCENARIOS = (*HOST_SCENARIOS, *SLOT_SCENARIOS, *HEALING_SCENARIOS, *FLOATINGIP_SCENARIOS)

Record = Callable[[str, object], None]

every_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
every_database = pytest.mark.parametrize("kind", KINDS)


_STOPS = ("fails", "killed")


def trials(faults: Iterable[str]) -> pytest.MarkDecorator:
    """Return which scenario is played where with which fault.

    What a fault leads to hardly depends on the database. So SQLite sees every scenario with what stops a
    worker before and after it has written, and every kind of action with all that can go wrong; the
    others see every kind of action with what stops a worker.
    """
    return pytest.mark.parametrize(
        ("scenario", "kind", "fault"),
        [
            pytest.param(scenario, kind, fault, id=f"{scenario}-{kind}-{fault}")
            for scenario in SCENARIOS
            for kind in KINDS
            for fault in faults
            if (kind == "sqlite") + scenario.is_representative + (fault in _STOPS) >= 2
        ],
    )


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
        lab.faults.add(CLOUD_FAULTS[fault](nth))

    steps = each_step(lab, scenario, arm, lambda: bool(lab.faults.fired))

    record_property("engine: calls that went wrong on " + kind, steps)


@trials(COMMIT_FAULTS)
def test_a_commit_goes_wrong(
    scenario: Scenario, kind: str, fault: str, lab_on: LabOn, record_property: Record
) -> None:
    lab = lab_on(kind)

    steps = each_step(
        lab,
        scenario,
        lambda nth: lab.store.arm(COMMIT_FAULTS[fault], nth),
        lambda: not lab.store.is_armed,
    )

    record_property("engine: commits that went wrong on " + kind, steps)


def each_step(
    lab: Lab,
    scenario: Scenario,
    arm: Callable[[int], None],
    has_struck: Callable[[], bool],
) -> int:
    """Play a scenario as often as it has steps, each time with another step struck; return how many."""
    for nth in itertools.count(1):
        lab.reset(scenario.conditions)
        lab.arm, lab.has_struck = functools.partial(arm, nth), has_struck
        try:
            scenario.play(lab)
        except NothingToStrike:
            return nth - 1
        except BaseException as error:
            error.add_note(f"when step {nth} was struck: {lab.faults.fired}")
            raise
    raise AssertionError
