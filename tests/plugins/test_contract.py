"""What every resource plugin must keep to, whatever it reserves."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from plugin_cases import CASES, RESERVATION, PluginCase, assignment_of, lessee_of, new_cloud, spec_of

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
        self.plugin: Plugin = case.make(Settings(), None)
        self.cloud: SimulatedCloud = new_cloud()
        self.resources = case.furnish(self.cloud)
        self.lessee = lessee_of(self.cloud)
        self.spec = spec_of(self.plugin, case, self.lessee)
        self.assignment: Assignment[Any] = assignment_of(self.plugin, case, self.resources, self.spec)

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
        assert case.make(Settings(), None).resource_type == resource_type


def test_a_spec_survives_the_store(stage: Stage) -> None:
    for spec in (stage.plugin.parse(stage.case.body), stage.spec):
        assert stage.plugin.decode(json.loads(json.dumps(dict(stage.plugin.encode(spec))))) == spec


def test_what_clients_see_is_json(stage: Stage) -> None:
    rendered = dict(stage.plugin.render(stage.spec))

    assert json.loads(json.dumps(rendered)) == rendered


@pytest.mark.parametrize("is_active", [False, True])
def test_what_clients_see_can_be_sent_back_to_change_nothing(stage: Stage, is_active: bool) -> None:
    assert stage.plugin.revise(stage.spec, stage.plugin.render(stage.spec), is_active=is_active) == stage.spec


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
        spec=stage.spec,
        window=Interval(START, START + timedelta(hours=1)),
        now=START,
        excluded=frozenset({stage.resources[0].id}),
    )

    chosen = stage.plugin.choose(wish, availability)

    assert chosen
    assert len(chosen) == len(set(chosen))
    assert set(chosen) <= {each.id for each in stage.resources[1:]}
    assert all((share is None) == (stage.case.share is None) for share in chosen.values())


def test_ahead_of_its_time_what_the_request_has_made_is_wanted_and_after_it_nothing(stage: Stage) -> None:
    assert stage.plugin.wanted(stage.assignment, Phase.AHEAD) == stage.seen(Phase.AHEAD).items
    assert stage.plugin.wanted(stage.assignment, Phase.AHEAD) == stage.seen(Phase.OVER).items
    assert stage.plugin.wanted(stage.assignment, Phase.OVER) == frozenset()


def test_what_is_known_or_there_is_neither_looked_up_nor_made_again(stage: Stage) -> None:
    before = stage.cloud.calls

    assert stage.plugin.look_up(stage.spec, stage.lessee) == stage.spec
    assert stage.plugin.provide(stage.spec, RESERVATION, stage.lessee, afresh=False) == stage.spec
    assert stage.cloud.calls == before


def test_what_a_request_has_made_is_withdrawn_unless_it_is_kept(stage: Stage) -> None:
    made = stage.seen(Phase.OVER).items

    stage.plugin.withdraw(stage.cloud, stage.spec, stage.spec)
    assert stage.seen(Phase.OVER).items == made
    for _ in range(2):
        stage.plugin.withdraw(stage.cloud, stage.spec, None)
        assert stage.seen(Phase.OVER).items == frozenset()


def test_who_uses_what_is_not_asked_for_when_nothing_changes(stage: Stage) -> None:
    before = stage.cloud.calls

    assert stage.plugin.count_in_use(stage.cloud, stage.assignment, stage.spec) == {}
    assert stage.cloud.calls == before


def test_what_becomes_known_outside_is_part_of_the_spec_and_shown(stage: Stage) -> None:
    stage.make_all(Phase.RUNNING)
    notes = dict(stage.seen(Phase.RUNNING).notes)

    spec = stage.plugin.decode({**stage.plugin.encode(stage.spec), **notes})

    assert notes.items() <= stage.plugin.render(spec).items()


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
    assert all(name.split(".")[1].startswith(("list_", "find_", "get_", "has_")) for name in called)


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
