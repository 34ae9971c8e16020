"""Contract tests of capabilities; the tests of a capability that a plugin does not declare are skipped."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from blazar.domain.errors import Conflict
from blazar.domain.lifecycle import Phase
from blazar.plugins.capabilities import (
    ActsBeforeEnd,
    CleansUp,
    CreatesAsLessee,
    DiscoversResources,
    HasIndependentSteps,
    ReadsAsLessee,
    RegistersResources,
    ReleasesWhileActive,
    RequiresProperties,
    ServesDespiteFailure,
    ToleratesDamagedSpec,
)
from blazar.plugins.contract import Done
from blazar_plugin_testing.clocks import EPOCH
from blazar_plugin_testing.contract import HarnessedPlace, Stage
from blazar_plugin_testing.place import RESERVATION, Place


def require(place: Place, capability: type) -> Any:
    """Return the plugin if it declares a capability; otherwise skip the test, and say why."""
    if not isinstance(place.plugin, capability):
        pytest.skip(f"{place.plugin.resource_type} does not declare {capability.__name__}")
    return place.plugin


class CapabilityContract(HarnessedPlace):
    """Tests of the capabilities that a plugin declares, one step at a time."""

    def test_the_stored_spec_has_the_requirement_of_the_request(self, place: Place) -> None:
        plugin = require(place, RequiresProperties)
        spec = place.spec()

        assert plugin.requirement(plugin.decode(plugin.encode(spec))) == plugin.requirement(spec)

    def test_data_that_are_known_are_not_looked_up_again(self, stage: Stage) -> None:
        plugin = require(stage.place, ReadsAsLessee)
        before, lessee = stage.place.counted, stage.place.lessee()

        assert plugin.look_up(stage.spec, lessee) == stage.spec
        assert stage.place.counted == before

    def test_objects_that_exist_are_not_made_again(self, stage: Stage) -> None:
        plugin = require(stage.place, CreatesAsLessee)
        before, lessee = stage.place.counted, stage.place.lessee()

        assert plugin.provide(stage.spec, RESERVATION, lessee, afresh=False) == stage.spec
        assert stage.place.counted == before

    def test_objects_of_a_request_are_withdrawn_unless_they_are_kept(self, stage: Stage) -> None:
        plugin = require(stage.place, CreatesAsLessee)
        made = stage.seen(Phase.OVER).items

        plugin.withdraw(stage.cloud, stage.spec, stage.spec)
        assert stage.seen(Phase.OVER).items == made
        for _ in range(2):
            plugin.withdraw(stage.cloud, stage.spec, None)
            assert stage.seen(Phase.OVER).items == frozenset()
        assert stage.place.snapshot() == stage.place.empty

    def test_use_is_not_counted_if_nothing_changes(self, stage: Stage) -> None:
        plugin = require(stage.place, ReleasesWhileActive)
        before = stage.place.counted

        assert plugin.count_in_use(stage.cloud, stage.assignment, stage.spec) == {}
        assert stage.place.counted == before

    def test_resources_that_are_kept_are_not_released(self, stage: Stage) -> None:
        plugin = require(stage.place, ReleasesWhileActive)
        stage.make_all(Phase.RUNNING)
        before = stage.place.snapshot()

        plugin.release(stage.cloud, stage.assignment, stage.holdings)

        assert stage.place.snapshot() == before

    def test_released_resources_can_be_restored(self, stage: Stage) -> None:
        plugin = require(stage.place, ReleasesWhileActive)
        stage.make_all(Phase.RUNNING)

        for _ in range(2):
            plugin.release(stage.cloud, stage.assignment, {})
        stage.make_all(Phase.RUNNING)

        assert stage.seen(Phase.RUNNING).items >= stage.wanted(Phase.RUNNING)

    def test_a_plugin_that_releases_has_a_request_for_less(self, place: Place) -> None:
        require(place, ReleasesWhileActive)

        assert place.harness.less is not None, "set less in the harness, so that its release is tested"

    def test_independent_steps_belong_to_one_resource_each(self, stage: Stage) -> None:
        plugin = require(stage.place, HasIndependentSteps)

        items = [each for each in stage.wanted(Phase.RUNNING) if each.rank in plugin.independent_ranks]

        assert items
        assert all(each.scope for each in items)

    def test_items_that_are_only_cleaned_up_are_never_wanted(self, stage: Stage) -> None:
        plugin = require(stage.place, CleansUp)

        wanted = {item.rank for phase in Phase for item in stage.wanted(phase)}

        assert plugin.clean_up_ranks
        assert wanted.isdisjoint(plugin.clean_up_ranks)

    def test_before_end_can_be_repeated(self, stage: Stage) -> None:
        plugin = require(stage.place, ActsBeforeEnd)
        stage.make_all(Phase.RUNNING)

        first = plugin.before_end(stage.cloud, stage.assignment, EPOCH)
        second = plugin.before_end(stage.cloud, stage.assignment, EPOCH)

        assert first == second == Done()

    def test_only_failed_resources_are_lost(self, stage: Stage) -> None:
        plugin = require(stage.place, ServesDespiteFailure)
        failed = [each.id for each in stage.assignment.resources[:1]]

        assert plugin.lost(stage.cloud, stage.assignment, failed) <= frozenset(failed)
        assert plugin.lost(stage.cloud, stage.assignment, ()) == frozenset()

    def test_with_the_least_spec_too_removing_what_is_seen_leaves_nothing(self, stage: Stage) -> None:
        plugin = require(stage.place, ToleratesDamagedSpec)
        stage.make_all(Phase.RUNNING)
        stage.assignment = replace(stage.assignment, spec=plugin.least_spec())

        stage.remove_all()

        assert stage.seen(Phase.OVER).items == frozenset()

    def test_discovered_resources_are_named_once_and_can_be_stored(self, place: Place) -> None:
        plugin = require(place, DiscoversResources)

        discovered = plugin.discover(place.cloud)

        for each in discovered:
            assert each.collection == plugin.collection
            assert 0 < len(each.name) <= 255
            assert json.loads(json.dumps(dict(each.facts))) == each.facts
            assert all(amount >= 0 for amount in each.amounts.values())
        names = [each.name for each in discovered]
        assert len(set(names)) == len(names)
        assert plugin.discover(place.cloud) == discovered

    def test_registered_resources_keep_their_names_and_can_be_removed(self, place: Place) -> None:
        plugin = require(place, RegistersResources)
        with place.store.read() as transaction:
            registered = transaction.discovered.list(plugin.collection)

        assert plugin.resource_collection.name == plugin.collection
        assert registered, "the harness registers resources"
        for each in registered:
            assert plugin.change(place.cloud, each, {}) == each
            with suppress(Conflict):
                plugin.check_removable(place.cloud, each)
