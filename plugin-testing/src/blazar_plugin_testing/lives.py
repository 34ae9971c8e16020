"""Complete lives of leases on the real reconciler, in which each call and each commit fails once."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import ClassVar

import pytest

from blazar.domain.errors import BlazarError, Conflict
from blazar.domain.health import Diagnosis, Health
from blazar.domain.lease import LeaseStatus
from blazar.plugins.capabilities import HasLeftovers
from blazar.reconcile.sweep import sweep
from blazar_plugin_testing.contract import HarnessedEnv, RequestContract, StepContract
from blazar_plugin_testing.faults import CLOUD_FAULTS, COMMIT_FAULTS
from blazar_plugin_testing.offered import CapabilityContract
from blazar_plugin_testing.plugin_env import PluginEnv
from blazar_plugin_testing.service_env import LESSEE, NothingToStrike

FAILED = Diagnosis(health=Health.FAILED, problem="a test says so")
_SWEEP_INTERVAL = timedelta(minutes=10)


def starts_and_ends(env: PluginEnv) -> None:
    """A lease starts and ends."""
    with env.trial():
        env.create("a", 1, 3)
        env.at(0.5)
        env.at(1.1)
        assert env.snapshot() != env.empty
        env.at(3.1)


def back_to_back(env: PluginEnv) -> None:
    """One lease holds all resources, and then another does."""
    env.create("a", 1, 2, env.harness.everything)
    env.create("b", 2, 3, env.harness.everything)
    env.at(1.9)
    with env.trial():
        env.at(2.1)
    env.at(3.1)


def changed_before_its_start(env: PluginEnv) -> None:
    """A reservation is changed before its start."""
    lease = env.create("a", 1, 2)
    with env.trial():
        env.change(lease, env.harness.changes)
        env.at(1.1)
    env.at(2.1)


def extended_while_active(env: PluginEnv) -> None:
    """An active lease is extended, and keeps its resources."""
    lease = env.create("a", 1, 2)
    env.at(1.5)
    held = env.held(lease)
    with env.trial():
        env.update(lease, end=4)
        env.at(1.6)
        assert env.held(lease) == held
        env.at(2.5)
        assert env.held(lease) == held
    env.at(4.1)


def ended_early(env: PluginEnv) -> None:
    """An active lease is ended now."""
    lease = env.create("a", 1, 4)
    env.at(1.5)
    with env.trial():
        env.update(lease, end="now")
        env.at(1.6)
        assert env.lease(lease).status is LeaseStatus.TERMINATED


def reduced_while_active(env: PluginEnv) -> None:
    """An active reservation is reduced, if the plugin supports it."""
    lease = env.create("a", 1, 3)
    env.at(1.5)
    with env.trial():
        if env.harness.less is not None:
            env.change(lease, env.harness.less)
        env.at(1.7)
    env.at(3.1)


def deleted_before_its_start(env: PluginEnv) -> None:
    """One lease is deleted long before its start, another shortly before."""
    with env.trial():
        env.delete(env.create("a", 2, 3))
        env.at(0.5)
        lease = env.create("b", 1, 3)
        env.run_until(0.99)
        env.delete(lease)
        env.at(1.1)
        assert env.leases() == ()


def deleted_while_active(env: PluginEnv) -> None:
    """An active lease is deleted."""
    lease = env.create("a", 1, 4)
    env.at(1.5)
    with env.trial():
        env.delete(lease)
        env.at(1.7)
        assert env.leases() == ()


STORIES: Mapping[str, Callable[[PluginEnv], None]] = {
    each.__name__: each
    for each in (
        starts_and_ends,
        back_to_back,
        changed_before_its_start,
        extended_while_active,
        ended_early,
        reduced_while_active,
        deleted_before_its_start,
        deleted_while_active,
    )
}
"""All stories by name; after each, nothing is left in the cloud."""

every_story = pytest.mark.parametrize("story", list(STORIES))
trials = pytest.mark.parametrize(
    ("story", "fault"),
    [("starts_and_ends", fault) for fault in ("fails", "reply-lost")]
    # For most stories, the other faults find nothing that this one does not.
    + [(story, "killed") for story in STORIES if story != "back_to_back"],
)


class LifeContract(HarnessedEnv):
    """Tests of leases from their request to their end, with one fault each."""

    stride: ClassVar[int] = 1
    """Only every so many-th step fails; more than 1 only to save time."""
    first: ClassVar[int] = 1
    """The first step that fails."""

    @every_story
    def test_a_life_leaves_nothing(self, env: PluginEnv, story: str) -> None:
        STORIES[story](env)

        assert env.snapshot() == env.empty

    @every_story
    def test_every_step_can_be_taken_twice(self, env: PluginEnv, story: str) -> None:
        env.reset(takes_steps_twice=True)

        STORIES[story](env)

        assert env.snapshot() == env.empty

    @trials
    def test_every_external_call_may_fail_once(self, env: PluginEnv, story: str, fault: str) -> None:
        each_call(env, STORIES[story], fault, self.stride, self.first)

    @trials
    def test_every_commit_may_go_wrong_once(self, env: PluginEnv, story: str, fault: str) -> None:
        each_commit(env, STORIES[story], fault, self.stride, self.first)

    @pytest.mark.parametrize("calls", range(1, 6))
    def test_a_lease_that_is_deleted_in_the_middle_of_its_start_leaves_nothing(
        self, env: PluginEnv, calls: int
    ) -> None:
        lease = env.create("a", 1, 4)
        env.run_until(0.9)
        env.faults.add(CLOUD_FAULTS["killed"](calls))
        env.run_until(1)
        env.faults.clear()

        env.delete(lease)
        env.at(1.2)

        assert env.leases() == ()
        assert env.snapshot() == env.empty

    def test_nothing_is_promised_twice_whatever_is_asked_for(self, env: PluginEnv) -> None:
        chance = random.Random(2031)  # noqa: S311 - every run is the same
        for number in range(60):
            start = chance.randrange(1, 40) / 4
            end = start + chance.randrange(1, 12) / 4
            keys = chance.choice([{}, {}, env.harness.changes, env.harness.everything])
            with suppress(Conflict):
                env.manager.service.create_lease(LESSEE, env.body(f"lease {number}", start, end, keys))
            leases = env.leases()
            if leases and chance.random() < 0.3:
                lease = chance.choice(leases)
                with suppress(BlazarError):
                    env.manager.service.update_lease(
                        LESSEE, lease.id, {"end_date": env.date(chance.randrange(4, 60) / 4)}
                    )
            if leases and chance.random() < 0.2:
                env.delete(chance.choice(leases).id)
            env.check_nothing_twice()
        assert env.bookings()

        env.at(16)
        assert env.snapshot() == env.empty

    def test_what_belongs_to_others_is_left_alone(self, env: PluginEnv) -> None:
        with env.faults.exempt():
            env.harness.put_strangers(env.cloud_env)
        before = env.snapshot()

        starts_and_ends(env)
        sweep_all(env)

        assert env.snapshot() == before

    def test_what_a_forgotten_reservation_left_is_found_by_its_mark_and_removed(self, env: PluginEnv) -> None:
        lease = env.create("a", 1, 4)
        env.at(1.5)
        assert sweep(env.manager.context, "manager").found == ()
        assert env.lease(lease).status is LeaseStatus.ACTIVE
        env.forget_leases()
        if not isinstance(env.plugin, HasLeftovers):
            assert env.snapshot() == env.empty, "a plugin with objects in the cloud declares HasLeftovers"
            return

        first = sweep(env.manager.context, "manager")
        sweep_all(env)

        assert first.found
        assert first.removed == ()
        assert env.snapshot() == env.empty

    def test_a_reservation_ahead_whose_resource_fails_is_given_another_or_flagged(
        self, env: PluginEnv
    ) -> None:
        lease = env.create("a", 1, 3)
        failed = next(iter(env.held(lease)))

        env.diagnose(failed, FAILED)
        env.run_until(0.5)

        is_flagged = env.lease(lease).reservations[0].missing_resources
        assert is_flagged is (failed in env.held(lease))
        env.run_until(3.1)
        assert env.snapshot() == env.empty

    def test_an_active_reservation_whose_resource_fails_ends_all_the_same(self, env: PluginEnv) -> None:
        lease = env.create("a", 1, 3)
        env.at(1.5)
        failed = next(iter(env.held(lease)))

        env.diagnose(failed, FAILED)
        env.run_until(2)
        env.check_nothing_twice()
        env.run_until(3.1)

        assert env.lease(lease).status is LeaseStatus.TERMINATED
        assert env.snapshot() == env.empty


def each_call(
    env: PluginEnv, story: Callable[[PluginEnv], None], fault: str, stride: int = 1, first: int = 1
) -> None:
    """Run a story once for each of its calls of the cloud, which has a fault of ``CLOUD_FAULTS``.

    With a *stride*, only every so many calls have one, from the *first* one on.
    """

    def arm(nth: int) -> None:
        env.faults.add(CLOUD_FAULTS[fault](nth))

    _each_step(env, story, arm, lambda: bool(env.faults.fired), itertools.count(first, stride))


def each_commit(
    env: PluginEnv, story: Callable[[PluginEnv], None], fault: str, stride: int = 1, first: int = 1
) -> None:
    """Run a story once for each of its commits, which has a fault of ``COMMIT_FAULTS``; as above."""
    _each_step(
        env,
        story,
        lambda nth: env.store.arm(COMMIT_FAULTS[fault], nth),
        lambda: not env.store.is_armed,
        itertools.count(first, stride),
    )


def _each_step(
    env: PluginEnv,
    story: Callable[[PluginEnv], None],
    arm: Callable[[int], None],
    has_struck: Callable[[], bool],
    numbers: Iterable[int],
) -> None:
    """Run a story once for each of these steps, with a fault at that step; nothing is left in the cloud."""
    for nth in numbers:
        env.reset()
        env.arm, env.has_struck = functools.partial(arm, nth), has_struck
        try:
            story(env)
            # A killed request may have made objects that no reservation knows.
            sweep_all(env)
            assert env.snapshot() == env.empty
        except NothingToStrike:
            return
        except BaseException as error:
            error.add_note(f"with a fault at step {nth}: {env.faults.fired}")
            raise


def sweep_all(env: PluginEnv) -> None:
    """Run sweeps until all leftovers are removed; some can be removed only after others."""
    with env.faults.exempt():
        for _ in range(3):
            env.clock.advance(_SWEEP_INTERVAL)
            sweep(env.manager.context, "manager")


class PluginContract(RequestContract, StepContract, CapabilityContract, LifeContract):
    """All contract tests; inherit them, and set ``harness_type``."""
