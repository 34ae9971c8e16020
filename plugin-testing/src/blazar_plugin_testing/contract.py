"""Contract tests for all resource plugins: requests, choice, and single steps.

The tests of capabilities are in :mod:`blazar_plugin_testing.offered`, those of complete lives in
:mod:`blazar_plugin_testing.lives`. A test class inherits them all and names its harness.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest

from blazar.api.faults import STATUSES
from blazar.db.engine import make_engine
from blazar.db.schema import upgrade
from blazar.domain.errors import BadRequest, Conflict, NotFound
from blazar.domain.lease import Holdings
from blazar.domain.lifecycle import Phase
from blazar.plugins.capabilities import CleansUp
from blazar.plugins.conformity import list_violations
from blazar.plugins.contract import Assignment, Outcome, Refused, Result
from blazar.resource_types import list_folders
from blazar_plugin_testing.harness import Harness
from blazar_plugin_testing.plugin_env import PluginEnv
from blazar_plugin_testing.service_env import LESSEE

COMMON_KEYS = frozenset(
    {
        *("id", "lease_id", "resource_id", "resource_type", "status", "missing_resources"),
        *("resources_changed", "created_at", "updated_at"),
    }
)
"""Keys that all reservations have, so that a plugin must not use them."""
_JUNK: tuple[object, ...] = (
    None,
    [],
    {},
    [[]],
    True,
    -1,
    1.5,
    2**63,
    "",
    "\x00",
    "x" * 300,
    "99999999999999",
)


class HarnessedEnv:
    """The fixtures of all parts of the suite."""

    harness_type: ClassVar[type[Harness]]

    @pytest.fixture
    def env(self, tmp_path: Path) -> Iterator[PluginEnv]:
        """Yield a service with the plugin; nothing is reserved."""
        path = tmp_path / "blazar.sqlite"
        path.write_bytes(_migrated())
        engine = make_engine(f"sqlite:///{path}")
        yield PluginEnv(engine, self.harness_type)
        engine.dispose()

    @pytest.fixture
    def steps(self, env: PluginEnv) -> StepEnv:
        """Return a reservation as it is after a request."""
        return StepEnv(env)


@functools.cache
def _migrated() -> bytes:
    """Return an SQLite database with its schema; cached, because migrations are slower than most tests."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "blazar.sqlite"
        engine = make_engine(f"sqlite:///{path}")
        upgrade(engine)
        engine.dispose()
        return path.read_bytes()


class StepEnv:
    """A reservation that a test processes one step at a time."""

    def __init__(self, env: PluginEnv) -> None:
        self.env = env
        self.plugin = env.plugin
        self.cloud = env.cloud
        self.spec = env.spec()
        self.assignment: Assignment[Any] = env.assignment(self.spec)

    @property
    def holdings(self) -> Holdings:
        """Return the holdings of the reservation."""
        return {each.id: each.share for each in self.assignment.resources}

    def seen(self, phase: Phase) -> Any:
        """Return the plugin's observation, after its notes were stored with the spec, as the service does."""
        found = self.plugin.observe(self.cloud, self.assignment, phase)
        if found.notes:
            stored = {**self.plugin.encode(self.assignment.spec), **found.notes}
            self.assignment = replace(self.assignment, spec=self.plugin.decode(stored))
        return found

    def wanted(self, phase: Phase) -> Any:
        """Return the items that the plugin wants."""
        return self.plugin.wanted(self.assignment, phase)

    def missing(self, phase: Phase, seen: Any) -> list[tuple[Callable[..., Outcome], Any]]:
        """Return the steps to the wanted items in order: the method of the plugin, and the item."""
        wanted = self.wanted(phase)
        removals = sorted(seen.items - wanted, key=lambda each: -each.rank)
        additions = sorted(wanted - seen.items, key=lambda each: each.rank)
        return [(self.plugin.remove, each) for each in removals] + [
            (self.plugin.make, each) for each in additions
        ]

    def make_all(self, phase: Phase, times: int = 1) -> None:
        """Make the wanted items in the order of ranks, each the given number of times."""
        seen = self.seen(phase)
        for item in sorted(self.wanted(phase), key=lambda each: each.rank):
            for _ in range(times):
                self.plugin.make(self.cloud, self.assignment, item, seen)
                seen = self.seen(phase)

    def remove_all(self, times: int = 1) -> None:
        """Remove all observed items, each the given number of times."""
        for item in sorted(self.seen(Phase.OVER).items, key=lambda each: -each.rank):
            for _ in range(times):
                self.plugin.remove(self.cloud, self.assignment, item, self.seen(Phase.OVER))


class RequestContract(HarnessedEnv):
    """Tests of requests and of the choice of resources."""

    def test_the_plugin_conforms_to_the_contract(self, env: PluginEnv) -> None:
        assert list_violations(env.harness.make_plugin(env.cloud_env)) == ()

    def test_a_spec_survives_the_store(self, env: PluginEnv) -> None:
        plugin = env.plugin

        for spec in (plugin.parse(env.harness.body), env.spec()):
            assert plugin.decode(json.loads(json.dumps(dict(plugin.encode(spec))))) == spec

    def test_what_clients_see_is_json_and_hides_no_key_that_all_reservations_have(
        self, env: PluginEnv
    ) -> None:
        rendered = dict(env.plugin.render(env.spec()))

        assert json.loads(json.dumps(rendered)) == rendered
        assert rendered.keys().isdisjoint(COMMON_KEYS)

    def test_clients_see_what_they_asked_for(self, env: PluginEnv) -> None:
        lease_id = env.create("asked", 1, 2)

        shown = env.shown(lease_id)

        assert env.harness.body.keys() <= shown.keys()
        assert shown["resource_type"] == env.plugin.resource_type

    @pytest.mark.parametrize("is_active", [False, True])
    def test_what_clients_see_can_be_sent_back_to_change_nothing(
        self, env: PluginEnv, is_active: bool
    ) -> None:
        spec = env.spec()

        assert env.plugin.revise(spec, env.plugin.render(spec), is_active=is_active) == spec

    def test_an_empty_request_is_refused_and_an_empty_change_changes_nothing(self, env: PluginEnv) -> None:
        spec = env.plugin.parse(env.harness.body)

        with pytest.raises(BadRequest):
            env.plugin.parse({})
        assert env.plugin.revise(spec, {}, is_active=False) == spec
        assert env.plugin.revise(spec, env.harness.changes, is_active=False) != spec

    def test_unknown_keys_are_ignored(self, env: PluginEnv) -> None:
        body = {**env.harness.body, "no such key": [1]}

        assert env.plugin.parse(body) == env.plugin.parse(env.harness.body)

    def test_what_makes_no_sense_is_refused_by_the_name_of_its_key_and_changes_nothing(
        self, env: PluginEnv
    ) -> None:
        before = env.everything()

        for key, problem in env.harness.refused:
            with pytest.raises((BadRequest, NotFound)) as refusal:
                env.manager.service.create_lease(LESSEE, env.body("refused", 1, 2, problem))
            assert key in refusal.value.message, refusal.value.message
        assert env.everything() == before
        assert env.harness.refused, "a plugin refuses something"

    def test_whatever_clients_send_is_accepted_or_refused_and_nothing_else(self, env: PluginEnv) -> None:
        spec = env.plugin.parse(env.harness.body)

        for key in env.harness.body:
            for junk in _JUNK:
                with suppress(BadRequest, NotFound):
                    env.plugin.parse({**env.harness.body, key: junk})
                with suppress(BadRequest, NotFound, Conflict):
                    env.plugin.revise(spec, {key: junk}, is_active=True)

    def test_errors_are_those_that_every_process_of_the_service_knows(self, env: PluginEnv) -> None:
        env.create("all", 1, 2, env.harness.everything)

        with pytest.raises(Conflict) as refusal:
            env.manager.service.create_lease(LESSEE, env.body("more", 1, 2))

        # An API process does not load the plugin. It answers 500 for an error without a status.
        kind = type(refusal.value)
        assert kind in STATUSES or kind.__module__.removesuffix(".errors") in list_folders()

    def test_what_is_chosen_is_known_and_not_excluded(self, env: PluginEnv) -> None:
        chosen = env.choose(env.spec())
        known = {each.id for each in env.resources()}

        assert chosen
        assert chosen.keys() <= known
        with suppress(Conflict, BadRequest):
            excluded = frozenset(chosen)
            assert env.choose(env.spec(), excluded=excluded).keys() <= known - excluded

    def test_what_is_held_is_kept(self, env: PluginEnv) -> None:
        spec = env.spec()
        chosen = env.choose(spec)

        for is_active in (False, True):
            assert env.choose(spec, held=chosen, is_active=is_active) == chosen

    def test_windows_back_to_back_do_not_overlap_and_others_are_refused(self, env: PluginEnv) -> None:
        everything = env.harness.everything
        env.create("a", 1, 3, everything)
        env.create("b", 3, 5, everything)
        before = env.everything()

        for start, end in ((2, 4), (1, 3), (0, 1.5), (4.5, 6), (0, 9)):
            with pytest.raises(Conflict):
                env.manager.service.create_lease(LESSEE, env.body("between", start, end))

        assert env.everything() == before
        env.create("c", 0, 1, everything)
        env.create("d", 5, 6, everything)
        env.check_nothing_twice()

    def test_cleaning_time_is_owed_between_two_uses(self, env: PluginEnv) -> None:
        env.reset(cleaning_time=timedelta(minutes=30))
        everything = env.harness.everything
        env.create("a", 1, 2, everything)

        with pytest.raises(Conflict):
            env.manager.service.create_lease(LESSEE, env.body("b", 2, 3, everything))

        env.create("b", 2.5, 3, everything)
        env.check_nothing_twice()


class StepContract(HarnessedEnv):
    """Tests of the items of a reservation, one step at a time."""

    def test_ahead_of_its_time_only_what_the_request_has_made_is_wanted_and_after_it_nothing(
        self, steps: StepEnv
    ) -> None:
        assert steps.wanted(Phase.AHEAD) == steps.seen(Phase.AHEAD).items
        assert steps.wanted(Phase.AHEAD) == steps.seen(Phase.OVER).items
        assert steps.wanted(Phase.OVER) == frozenset()

    def test_what_becomes_known_outside_is_part_of_the_stored_spec(self, steps: StepEnv) -> None:
        steps.make_all(Phase.RUNNING)
        notes = dict(steps.seen(Phase.RUNNING).notes)

        spec = steps.plugin.decode({**steps.plugin.encode(steps.spec), **notes})

        stored = steps.plugin.encode(spec)
        assert {key: stored[key] for key in notes} == notes

    def test_what_is_prepared_is_a_part_of_what_is_wanted_later(self, steps: StepEnv) -> None:
        assert steps.wanted(Phase.PREPARING) <= steps.wanted(Phase.RUNNING)

    def test_every_scope_is_a_resource_of_the_reservation_or_all_of_it(self, steps: StepEnv) -> None:
        scopes = {each.scope for each in steps.wanted(Phase.RUNNING)}

        assert scopes <= {"", *(each.id for each in steps.assignment.resources)}

    def test_observed_items_can_be_wanted_unless_they_are_only_cleaned_up(self, steps: StepEnv) -> None:
        ranks = {each.rank for each in steps.wanted(Phase.RUNNING)}
        if isinstance(steps.plugin, CleansUp):
            ranks |= steps.plugin.clean_up_ranks
        steps.make_all(Phase.RUNNING)

        assert {each.rank for phase in Phase for each in steps.seen(phase).items} <= ranks

    def test_observing_changes_nothing(self, steps: StepEnv) -> None:
        steps.make_all(Phase.RUNNING)
        before = steps.env.snapshot()

        assert steps.seen(Phase.RUNNING).items == steps.seen(Phase.RUNNING).items
        assert steps.env.snapshot() == before != steps.env.empty

    @pytest.mark.parametrize("phase", [Phase.PREPARING, Phase.RUNNING])
    @pytest.mark.parametrize("times", [1, 2])
    def test_making_what_is_wanted_makes_it_seen(self, steps: StepEnv, phase: Phase, times: int) -> None:
        steps.make_all(phase, times)

        assert steps.seen(phase).items == steps.wanted(phase)

    @pytest.mark.parametrize("times", [1, 2])
    def test_removing_what_is_seen_leaves_nothing(self, steps: StepEnv, times: int) -> None:
        steps.make_all(Phase.RUNNING)

        steps.remove_all(times)

        assert steps.seen(Phase.OVER).items == frozenset()

    def test_results_of_a_removal_name_objects_in_one_line(self, steps: StepEnv) -> None:
        steps.make_all(Phase.RUNNING)
        seen = steps.seen(Phase.OVER)

        outcomes = [
            steps.plugin.remove(steps.cloud, steps.assignment, item, seen)
            for item in sorted(seen.items, key=lambda each: -each.rank)
        ]

        for each in outcomes:
            for result in getattr(each, "results", ()):
                assert isinstance(result, Result)
                assert result.name == " ".join(result.name.split()) != ""

    def test_removing_what_is_gone_does_no_harm(self, steps: StepEnv) -> None:
        steps.make_all(Phase.RUNNING)
        steps.remove_all()

        outcomes = [
            steps.plugin.remove(steps.cloud, steps.assignment, item, steps.seen(Phase.OVER))
            for item in steps.wanted(Phase.RUNNING)
        ]

        assert not any(isinstance(each, Refused) for each in outcomes)
        assert steps.seen(Phase.OVER).items == frozenset()
