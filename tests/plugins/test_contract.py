"""What every resource plugin must keep to, whatever it reserves."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from plugin_cases import CASES, PluginCase, assignment_of, new_cloud

from blazar.app.context import Plugin
from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.domain.availability import Availability
from blazar.domain.errors import BadRequest
from blazar.domain.interval import Interval
from blazar.domain.lifecycle import Phase
from blazar.plugins.contract import Assignment, Done, Refused, Wish
from blazar.settings import Settings

START = datetime(2031, 1, 1, tzinfo=UTC)


class Stage:
    """A plugin with a cloud in which its resources are."""

    def __init__(self, case: PluginCase) -> None:
        self.case = case
        self.plugin: Plugin = case.make(Settings())
        self.cloud: SimulatedCloud = new_cloud()
        self.resources = case.furnish(self.cloud)
        self.assignment: Assignment[Any] = assignment_of(self.plugin, case, self.resources)

    def seen(self, phase: Phase) -> Any:
        return self.plugin.observe(self.cloud, self.assignment, phase)

    def make_all(self, phase: Phase, times: int = 1) -> None:
        """Make what is wanted, each item as often as told, in the order of ranks."""
        seen = self.seen(phase)
        for item in sorted(self.plugin.wanted(self.assignment, phase), key=lambda each: each.rank):
            for _ in range(times):
                self.plugin.make(self.cloud, self.assignment, item, seen)
                seen = self.seen(phase)

    def remove_all(self, times: int = 1) -> None:
        """Take back all that is seen, each item as often as told."""
        for item in sorted(self.seen(Phase.OVER).items, key=lambda each: -each.rank):
            for _ in range(times):
                self.plugin.remove(self.cloud, self.assignment, item, self.seen(Phase.OVER))


@pytest.fixture(params=sorted(CASES))
def stage(request: pytest.FixtureRequest) -> Stage:
    return Stage(CASES[request.param])


def test_a_plugin_serves_the_type_it_is_listed_for() -> None:
    for resource_type, case in CASES.items():
        assert case.make(Settings()).resource_type == resource_type


def test_a_spec_survives_the_store(stage: Stage) -> None:
    spec = stage.plugin.parse(stage.case.body)

    assert stage.plugin.decode(json.loads(json.dumps(dict(stage.plugin.encode(spec))))) == spec


def test_what_clients_see_is_json(stage: Stage) -> None:
    rendered = dict(stage.plugin.render(stage.plugin.parse(stage.case.body)))

    assert json.loads(json.dumps(rendered)) == rendered


def test_an_empty_request_is_refused_and_an_empty_change_changes_nothing(stage: Stage) -> None:
    spec = stage.plugin.parse(stage.case.body)

    with pytest.raises(BadRequest):
        stage.plugin.parse({})
    assert stage.plugin.revise(spec, {}, is_active=False) == spec
    assert stage.plugin.revise(spec, stage.case.changes, is_active=False) != spec


def test_unknown_keys_are_ignored(stage: Stage) -> None:
    body = {**stage.case.body, "no such key": [1]}

    assert stage.plugin.parse(body) == stage.plugin.parse(stage.case.body)


def test_what_is_chosen_is_known_and_free_and_chosen_once(stage: Stage) -> None:
    availability = Availability()
    for resource in stage.resources:
        availability.put(resource, ())
    wish = Wish(
        spec=stage.plugin.parse(stage.case.body),
        window=Interval(START, START + timedelta(hours=1)),
        now=START,
        excluded=frozenset({stage.resources[0].id}),
    )

    chosen = stage.plugin.choose(wish, availability)

    assert chosen
    assert len(chosen) == len(set(chosen))
    assert set(chosen) <= {each.id for each in stage.resources[1:]}


def test_ahead_of_its_time_and_after_it_nothing_is_wanted(stage: Stage) -> None:
    assert stage.plugin.wanted(stage.assignment, Phase.AHEAD) == frozenset()
    assert stage.plugin.wanted(stage.assignment, Phase.OVER) == frozenset()


def test_what_is_prepared_is_a_part_of_what_is_wanted_later(stage: Stage) -> None:
    prepared = stage.plugin.wanted(stage.assignment, Phase.PREPARING)

    assert prepared <= stage.plugin.wanted(stage.assignment, Phase.RUNNING)


def test_every_scope_is_a_resource_of_the_reservation_or_all_of_it(stage: Stage) -> None:
    scopes = {each.scope for each in stage.plugin.wanted(stage.assignment, Phase.RUNNING)}

    assert scopes <= {"", *(each.id for each in stage.assignment.resources)}


def test_observing_changes_nothing(stage: Stage) -> None:
    stage.make_all(Phase.RUNNING)
    before = stage.cloud.calls

    assert stage.seen(Phase.RUNNING).items == stage.seen(Phase.RUNNING).items
    called = stage.cloud.calls - before
    assert all(name.split(".")[1].startswith(("list_", "find_", "get_")) for name in called)


@pytest.mark.parametrize("phase", [Phase.PREPARING, Phase.RUNNING])
@pytest.mark.parametrize("times", [1, 2])
def test_making_what_is_wanted_makes_it_seen(stage: Stage, phase: Phase, times: int) -> None:
    stage.make_all(phase, times)

    assert stage.seen(phase).items == stage.plugin.wanted(stage.assignment, phase)


@pytest.mark.parametrize("times", [1, 2])
def test_removing_what_is_seen_leaves_nothing(stage: Stage, times: int) -> None:
    stage.make_all(Phase.RUNNING)

    stage.remove_all(times)

    assert stage.seen(Phase.OVER).items == frozenset()


def test_removing_what_is_gone_does_no_harm(stage: Stage) -> None:
    stage.make_all(Phase.RUNNING)
    stage.remove_all()

    outcomes = [
        stage.plugin.remove(stage.cloud, stage.assignment, item, stage.seen(Phase.OVER))
        for item in stage.plugin.wanted(stage.assignment, Phase.RUNNING)
    ]

    assert not any(isinstance(each, Refused) for each in outcomes)
    assert stage.seen(Phase.OVER).items == frozenset()


def test_before_end_can_be_repeated(stage: Stage) -> None:
    stage.make_all(Phase.RUNNING)

    first = stage.plugin.before_end(stage.cloud, stage.assignment, START)
    second = stage.plugin.before_end(stage.cloud, stage.assignment, START)

    assert first == second == Done()
