"""Contract tests of capabilities; the tests of a capability that a plugin does not declare are skipped."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from blazar.domain.errors import Conflict
from blazar.domain.lifecycle import Phase
from blazar.domain.requirements import Condition, Operator, Requirement
from blazar.domain.start_times import Starts
from blazar.plugins.capabilities import (
    ActsBeforeEnd,
    CleansUp,
    CreatesAsLessee,
    DescribesEnd,
    DescribesUse,
    DiscoversResources,
    ExplainsProblems,
    HasCatalogueEntry,
    HasIndependentSteps,
    HasLeftovers,
    HasPool,
    HoldsAfterEnd,
    ListsChoices,
    ObservesAnswers,
    ObservesUse,
    ReadsAsLessee,
    RegistersResources,
    ReleasesChosenResources,
    ReleasesWhileActive,
    RequiresProperties,
    ServesDespiteFailure,
    StatesNeed,
    SuggestsOtherTypes,
    ToleratesDamagedSpec,
)
from blazar.plugins.contract import Done
from blazar.plugins.leftovers import Sweep
from blazar_plugin_testing.clocks import EPOCH
from blazar_plugin_testing.contract import HarnessedEnv, StepEnv
from blazar_plugin_testing.plugin_env import RESERVATION, PluginEnv

_WITHOUT_CALLS: Any = object()
"""In place of the cloud, where no call may be made."""

EPOCH_MINUTE = int(EPOCH.timestamp()) // 60


def require(env: PluginEnv, capability: type) -> Any:
    """Return the plugin if it declares a capability; otherwise skip the test, and say why."""
    if not isinstance(env.plugin, capability):
        pytest.skip(f"{env.plugin.resource_type} does not declare {capability.__name__}")
    return env.plugin


class CapabilityContract(HarnessedEnv):
    """Tests of the capabilities that a plugin declares, one step at a time."""

    def test_the_stored_spec_has_the_requirement_of_the_request(self, env: PluginEnv) -> None:
        plugin = require(env, RequiresProperties)
        spec = env.spec()

        assert plugin.requirement(plugin.decode(plugin.encode(spec))) == plugin.requirement(spec)

    def test_a_choice_has_as_many_units_as_the_need_states(self, env: PluginEnv) -> None:
        plugin, spec = require(env, StatesNeed), env.spec()
        need = plugin.need(spec)

        chosen = env.choose(spec).values()

        units = sum(1 if share is None else share.slots for share in chosen)
        assert need.least <= units <= need.most
        assert {None if share is None else share.demand for share in chosen} == {need.demand}

    def test_a_request_can_be_changed_to_need_fewer_units(self, env: PluginEnv) -> None:
        plugin, spec = require(env, StatesNeed), env.spec()
        least = plugin.need(spec).least

        for units in range(1, least):
            changed = plugin.need(plugin.revise(spec, plugin.change_need(units), is_active=False))
            assert changed == replace(plugin.need(spec), least=units, most=changed.most)

    def test_the_requirement_of_a_request_can_be_changed(self, env: PluginEnv) -> None:
        plugin, spec = require(env, RequiresProperties), env.spec()
        wanted = Requirement((Condition("gpu", Operator.EQ, "a100"),))

        for requirement in (wanted, Requirement()):
            changes = plugin.change_requirement(requirement)
            assert plugin.requirement(plugin.revise(spec, changes, is_active=False)) == requirement

    def test_a_choice_is_refused_if_there_are_fewer_units_than_the_need_states(self, env: PluginEnv) -> None:
        plugin, spec = require(env, StatesNeed), env.spec()
        need, all_resources = plugin.need(spec), {each.id for each in env.resources()}
        starts = Starts(first=EPOCH_MINUTE, count=1, duration=60, cleaning=0, now=EPOCH)
        for kept in ((), tuple(sorted(all_resources))[:1]):
            excluded = frozenset(all_resources.difference(kept))
            availability = env.availability()
            (units,) = availability.profile(need, starts, excluded=availability.mask_of(excluded)).units
            if units < need.least:
                with pytest.raises(Conflict):
                    env.choose(spec, excluded=excluded)

    def test_the_catalogue_tells_the_keys_of_a_request_and_facts_of_the_resources(
        self, env: PluginEnv
    ) -> None:
        plugin = require(env, HasCatalogueEntry)

        assert set(env.harness.body) <= {*plugin.request_keys, "resource_type"}
        assert all(plugin.public_facts <= each.facts.keys() for each in env.resources())

    def test_other_types_are_suggested_as_requests(self, env: PluginEnv) -> None:
        plugin = require(env, SuggestsOtherTypes)

        suggested = list(plugin.other_types(env.spec(), [each.facts for each in env.resources()]))

        for summary, body in suggested:
            assert summary.strip()
            assert body["resource_type"] != plugin.resource_type
            assert json.loads(json.dumps(body)) == body

    def test_a_reduced_reservation_needs_no_more_than_is_left(self, env: PluginEnv) -> None:
        plugin, spec = require(env, ReleasesChosenResources), env.spec()
        resources = env.assignment(spec).resources
        units = [1 if each.share is None else each.share.slots for each in resources]

        for count in range(1, len(resources)):
            left = sum(units[count:])
            reduced = plugin.reduce(spec, resources[:count], left)
            assert plugin.decode(plugin.encode(reduced)) == reduced
            if isinstance(plugin, StatesNeed):
                need = plugin.need(reduced)
                assert need.least <= left
                assert need.most == left

    def test_resources_leave_the_pool_and_return_to_it(self, env: PluginEnv) -> None:
        plugin, before = require(env, HasPool), env.snapshot()
        facts = [each.facts for each in env.resources()]

        for _ in range(2):
            plugin.leave_pool(env.cloud, facts)
        outside = env.snapshot()
        for _ in range(2):
            plugin.enter_pool(env.cloud, facts)

        assert outside != before
        assert env.snapshot() == before
        assert plugin.find_by_aggregate(env.cloud, "an-aggregate-that-does-not-exist") is None

    def test_kinds_of_leftovers_have_names_of_one_word(self, env: PluginEnv) -> None:
        plugin, before = require(env, HasLeftovers), env.counted
        sweep = Sweep(cloud=env.cloud, store=env.store, clock=env.clock, check_claim=lambda: None)

        names = [each.name for each in plugin.leftover_kinds(sweep)]

        assert env.counted == before
        assert names
        assert all(re.fullmatch(r"\S+", name) for name in names)

    def test_the_use_of_a_reservation_is_described_in_json(self, env: PluginEnv) -> None:
        plugin = require(env, DescribesUse)
        described = plugin.describe_use(env.spec(), RESERVATION)

        assert described
        assert json.loads(json.dumps(described)) == described

    def test_the_end_is_described_in_complete_sentences(self, env: PluginEnv) -> None:
        plugin = require(env, DescribesEnd)
        spec, lease_id = env.spec(), env.create("described", 1, 2)

        described = plugin.describe_end(spec)

        assert plugin.end_texts
        for each in (*plugin.end_texts, *described):
            assert re.fullmatch(r"[A-Z].*\.", each.text), each.text
            assert (each.key is None) is (each.value is None)
        assert any(not each.is_before_end for each in described)
        # Clients find out from the catalogue what they choose.
        keys = {each.key for each in plugin.end_texts if each.key is not None}
        assert keys <= env.shown(lease_id).keys()
        assert list(plugin.describe_end(plugin.decode(plugin.encode(spec)))) == list(described)

    def test_the_texts_about_problems_can_be_read_by_lessees(self, env: PluginEnv) -> None:
        plugin = require(env, ExplainsProblems)

        assert plugin.problem_texts
        for pattern, text in plugin.problem_texts.items():
            # A text is part of a sentence, and repeats only groups that its expression has.
            assert text == text.strip(" .")
            re.compile(f"{pattern}|()").search("").expand(text)  # type: ignore[union-attr]

    def test_data_that_are_known_are_not_looked_up_again(self, steps: StepEnv) -> None:
        plugin = require(steps.env, ReadsAsLessee)
        before, lessee = steps.env.counted, steps.env.lessee()

        assert plugin.look_up(steps.spec, lessee) == steps.spec
        assert steps.env.counted == before

    def test_what_the_catalogue_lists_can_be_named_in_requests(self, steps: StepEnv) -> None:
        plugin = require(steps.env, ListsChoices)

        choices = plugin.list_choices(steps.env.lessee())

        assert json.loads(json.dumps(choices)) == choices
        for listed in choices.values():
            assert len({each["id"] for each in listed}) == len(listed)
            assert all(each["name"] for each in listed)

    def test_objects_that_exist_are_not_made_again(self, steps: StepEnv) -> None:
        plugin = require(steps.env, CreatesAsLessee)
        before, lessee = steps.env.counted, steps.env.lessee()

        assert plugin.provide(steps.spec, RESERVATION, lessee, afresh=False) == steps.spec
        assert steps.env.counted == before

    def test_objects_of_a_request_are_withdrawn_unless_they_are_kept(self, steps: StepEnv) -> None:
        plugin = require(steps.env, CreatesAsLessee)
        made = steps.seen(Phase.OVER).items

        plugin.withdraw(steps.cloud, steps.spec, steps.spec)
        assert steps.seen(Phase.OVER).items == made
        for _ in range(2):
            plugin.withdraw(steps.cloud, steps.spec, None)
            assert steps.seen(Phase.OVER).items == frozenset()
        assert steps.env.snapshot() == steps.env.empty

    def test_use_is_not_counted_if_nothing_changes(self, steps: StepEnv) -> None:
        plugin = require(steps.env, ReleasesWhileActive)
        before = steps.env.counted

        assert plugin.count_in_use(steps.cloud, steps.assignment, steps.spec) == {}
        assert steps.env.counted == before

    def test_resources_that_are_kept_are_not_released(self, steps: StepEnv) -> None:
        plugin = require(steps.env, ReleasesWhileActive)
        steps.make_all(Phase.RUNNING)
        before = steps.env.snapshot()

        plugin.release(steps.cloud, steps.assignment, steps.holdings)

        assert steps.env.snapshot() == before

    def test_released_resources_can_be_restored(self, steps: StepEnv) -> None:
        plugin = require(steps.env, ReleasesWhileActive)
        steps.make_all(Phase.RUNNING)

        for _ in range(2):
            plugin.release(steps.cloud, steps.assignment, {})
        steps.make_all(Phase.RUNNING)

        assert steps.seen(Phase.RUNNING).items >= steps.wanted(Phase.RUNNING)

    def test_a_plugin_that_releases_has_a_request_for_less(self, env: PluginEnv) -> None:
        require(env, ReleasesWhileActive)

        assert env.harness.less is not None, "set less in the harness, so that its release is tested"

    def test_independent_steps_belong_to_one_resource_each(self, steps: StepEnv) -> None:
        plugin = require(steps.env, HasIndependentSteps)

        items = [each for each in steps.wanted(Phase.RUNNING) if each.rank in plugin.independent_ranks]

        assert items
        assert all(each.scope for each in items)

    def test_answers_show_what_another_observation_shows(self, steps: StepEnv) -> None:
        plugin, has_shown = require(steps.env, ObservesAnswers), False
        for phase in (Phase.PREPARING, Phase.RUNNING, Phase.OVER):
            seen = steps.seen(phase)
            for act, item in steps.missing(phase, seen):
                act(steps.cloud, steps.assignment, item, seen)
                shown = plugin.observe_answers(_WITHOUT_CALLS, steps.assignment, phase, seen)
                assert shown is None or shown.items == steps.seen(phase).items == steps.wanted(phase)
                has_shown = has_shown or shown is not None
        assert has_shown

    def test_items_that_are_only_cleaned_up_are_never_wanted(self, steps: StepEnv) -> None:
        plugin = require(steps.env, CleansUp)

        wanted = {item.rank for phase in Phase for item in steps.wanted(phase)}

        assert plugin.clean_up_ranks
        assert wanted.isdisjoint(plugin.clean_up_ranks)

    def test_resources_are_held_after_the_end_as_long_as_the_request_says(self, env: PluginEnv) -> None:
        plugin, spec = require(env, HoldsAfterEnd), env.spec()

        assert plugin.hold_after_end(spec) >= timedelta(0)
        assert plugin.hold_after_end(plugin.decode(plugin.encode(spec))) == plugin.hold_after_end(spec)

    def test_before_end_can_be_repeated(self, steps: StepEnv) -> None:
        plugin = require(steps.env, ActsBeforeEnd)
        steps.make_all(Phase.RUNNING)

        first = plugin.before_end(steps.cloud, steps.assignment, EPOCH)
        second = plugin.before_end(steps.cloud, steps.assignment, EPOCH)

        assert first == second == Done()

    def test_only_failed_resources_are_lost(self, steps: StepEnv) -> None:
        plugin = require(steps.env, ServesDespiteFailure)
        failed = [each.id for each in steps.assignment.resources[:1]]

        assert plugin.lost(steps.cloud, steps.assignment, failed) <= frozenset(failed)
        assert plugin.lost(steps.cloud, steps.assignment, ()) == frozenset()

    def test_only_held_resources_are_in_use(self, steps: StepEnv) -> None:
        plugin = require(steps.env, ObservesUse)
        steps.make_all(Phase.RUNNING)
        before, held = steps.env.snapshot(), {each.id for each in steps.assignment.resources}

        used = plugin.observe_use(steps.cloud, [steps.assignment])

        assert used.keys() <= {steps.assignment.reservation_id}
        assert all(found.keys() <= held and min(found.values(), default=0) >= 0 for found in used.values())
        assert plugin.observe_use(steps.cloud, []) == {}
        assert steps.env.snapshot() == before

    def test_with_the_least_spec_too_removing_what_is_seen_leaves_nothing(self, steps: StepEnv) -> None:
        plugin = require(steps.env, ToleratesDamagedSpec)
        steps.make_all(Phase.RUNNING)
        steps.assignment = replace(steps.assignment, spec=plugin.least_spec())

        steps.remove_all()

        assert steps.seen(Phase.OVER).items == frozenset()

    def test_discovered_resources_are_named_once_and_can_be_stored(self, env: PluginEnv) -> None:
        plugin = require(env, DiscoversResources)

        discovered = plugin.discover(env.cloud)

        for each in discovered:
            assert each.collection == plugin.collection
            assert 0 < len(each.name) <= 255
            assert json.loads(json.dumps(dict(each.facts))) == each.facts
            assert all(amount >= 0 for amount in each.amounts.values())
        names = [each.name for each in discovered]
        assert len(set(names)) == len(names)
        assert plugin.discover(env.cloud) == discovered

    def test_registered_resources_keep_their_names_and_can_be_removed(self, env: PluginEnv) -> None:
        plugin = require(env, RegistersResources)
        with env.store.read() as transaction:
            registered = transaction.plugin_resources.list(plugin.collection)

        assert plugin.resource_collection.name == plugin.collection
        assert registered, "the harness registers resources"
        for each in registered:
            assert plugin.change(env.cloud, each, {}) == each
            with suppress(Conflict):
                plugin.check_removable(env.cloud, each)
