"""Complete lives of leases on the real reconciler, in which each call and each commit fails once."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import ClassVar

import pytest

from blazar.domain.errors import BlazarError, Conflict
from blazar.domain.health import Diagnosis, Health
from blazar.domain.lease import LeaseStatus
from blazar.plugins.capabilities import HasLeftovers
from blazar.reconcile.sweep import sweep
from blazar_plugin_testing.contract import HarnessedPlace, RequestContract, StepContract
from blazar_plugin_testing.faults import CLOUD_FAULTS, COMMIT_FAULTS
from blazar_plugin_testing.offered import CapabilityContract
from blazar_plugin_testing.place import Place
from blazar_plugin_testing.site import LESSEE, NothingToStrike

FAILED = Diagnosis(health=Health.FAILED, problem="a test says so")
_SWEEP_INTERVAL = timedelta(minutes=10)


def starts_and_ends(place: Place) -> None:
    """A lease starts and ends."""
    with place.trial():
        place.create("a", 1, 3)
        place.at(0.5)
        place.at(1.1)
        assert place.snapshot() != place.empty
        place.at(3.1)


def back_to_back(place: Place) -> None:
    """One lease holds all resources, and then another does."""
    place.create("a", 1, 2, place.harness.everything)
    place.create("b", 2, 3, place.harness.everything)
    place.at(1.9)
    with place.trial():
        place.at(2.1)
    place.at(3.1)


def changed_before_its_start(place: Place) -> None:
    """A reservation is changed before its start."""
    lease = place.create("a", 1, 2)
    with place.trial():
        place.change(lease, place.harness.changes)
        place.at(1.1)
    place.at(2.1)


def extended_while_active(place: Place) -> None:
    """An active lease is extended, and keeps its resources."""
    lease = place.create("a", 1, 2)
    place.at(1.5)
    held = place.held(lease)
    with place.trial():
        place.update(lease, end=4)
        place.at(1.6)
        assert place.held(lease) == held
        place.at(2.5)
        assert place.held(lease) == held
    place.at(4.1)


def ended_early(place: Place) -> None:
    """An active lease is ended now."""
    lease = place.create("a", 1, 4)
    place.at(1.5)
    with place.trial():
        place.update(lease, end="now")
        place.at(1.6)
        assert place.lease(lease).status is LeaseStatus.TERMINATED


def reduced_while_active(place: Place) -> None:
    """An active reservation is reduced, if the plugin supports it."""
    lease = place.create("a", 1, 3)
    place.at(1.5)
    with place.trial():
        if place.harness.less is not None:
            place.change(lease, place.harness.less)
        place.at(1.7)
    place.at(3.1)


def deleted_before_its_start(place: Place) -> None:
    """One lease is deleted long before its start, another shortly before."""
    with place.trial():
        place.delete(place.create("a", 2, 3))
        place.at(0.5)
        lease = place.create("b", 1, 3)
        place.run_until(0.99)
        place.delete(lease)
        place.at(1.1)
        assert place.leases() == ()


def deleted_while_active(place: Place) -> None:
    """An active lease is deleted."""
    lease = place.create("a", 1, 4)
    place.at(1.5)
    with place.trial():
        place.delete(lease)
        place.at(1.7)
        assert place.leases() == ()


STORIES: Mapping[str, Callable[[Place], None]] = {
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


class LifeContract(HarnessedPlace):
    """Tests of leases from their request to their end, with one fault each."""

    stride: ClassVar[int] = 1
    """Only every so many-th step fails; more than 1 only to save time."""

    @every_story
    def test_a_life_leaves_nothing(self, place: Place, story: str) -> None:
        STORIES[story](place)

        assert place.snapshot() == place.empty

    @every_story
    def test_every_step_can_be_taken_twice(self, place: Place, story: str) -> None:
        place.reset(takes_steps_twice=True)

        STORIES[story](place)

        assert place.snapshot() == place.empty

    @trials
    def test_every_call_of_the_outside_may_go_wrong_once(self, place: Place, story: str, fault: str) -> None:
        def arm(nth: int) -> None:
            place.faults.add(CLOUD_FAULTS[fault](nth))

        each_step(place, STORIES[story], arm, lambda: bool(place.faults.fired), self.stride)

    @trials
    def test_every_commit_may_go_wrong_once(self, place: Place, story: str, fault: str) -> None:
        each_step(
            place,
            STORIES[story],
            lambda nth: place.store.arm(COMMIT_FAULTS[fault], nth),
            lambda: not place.store.is_armed,
            self.stride,
        )

    @pytest.mark.parametrize("calls", range(1, 6))
    def test_a_lease_that_is_deleted_in_the_middle_of_its_start_leaves_nothing(
        self, place: Place, calls: int
    ) -> None:
        lease = place.create("a", 1, 4)
        place.run_until(0.9)
        place.faults.add(CLOUD_FAULTS["killed"](calls))
        place.run_until(1)
        place.faults.clear()

        place.delete(lease)
        place.at(1.2)

        assert place.leases() == ()
        assert place.snapshot() == place.empty

    def test_nothing_is_promised_twice_whatever_is_asked_for(self, place: Place) -> None:
        chance = random.Random(2031)  # noqa: S311 - every run is the same
        for number in range(60):
            start = chance.randrange(1, 40) / 4
            end = start + chance.randrange(1, 12) / 4
            keys = chance.choice([{}, {}, place.harness.changes, place.harness.everything])
            with suppress(Conflict):
                place.manager.service.create_lease(LESSEE, place.body(f"lease {number}", start, end, keys))
            leases = place.leases()
            if leases and chance.random() < 0.3:
                lease = chance.choice(leases)
                with suppress(BlazarError):
                    place.manager.service.update_lease(
                        LESSEE, lease.id, {"end_date": place.date(chance.randrange(4, 60) / 4)}
                    )
            if leases and chance.random() < 0.2:
                place.delete(chance.choice(leases).id)
            place.check_nothing_twice()
        assert place.bookings()

        place.at(16)
        assert place.snapshot() == place.empty

    def test_what_belongs_to_others_is_left_alone(self, place: Place) -> None:
        with place.faults.exempt():
            place.harness.put_strangers(place.outside)
        before = place.snapshot()

        starts_and_ends(place)
        sweep_all(place)

        assert place.snapshot() == before

    def test_what_a_forgotten_reservation_left_is_found_by_its_mark_and_removed(self, place: Place) -> None:
        lease = place.create("a", 1, 4)
        place.at(1.5)
        assert sweep(place.manager.context, "manager").found == ()
        assert place.lease(lease).status is LeaseStatus.ACTIVE
        place.forget_leases()
        if not isinstance(place.plugin, HasLeftovers):
            assert place.snapshot() == place.empty, "a plugin with objects in the cloud declares HasLeftovers"
            return

        first = sweep(place.manager.context, "manager")
        sweep_all(place)

        assert first.found
        assert first.removed == ()
        assert place.snapshot() == place.empty

    def test_a_reservation_ahead_whose_resource_fails_is_given_another_or_flagged(self, place: Place) -> None:
        lease = place.create("a", 1, 3)
        failed = next(iter(place.held(lease)))

        place.diagnose(failed, FAILED)
        place.run_until(0.5)

        is_flagged = place.lease(lease).reservations[0].missing_resources
        assert is_flagged is (failed in place.held(lease))
        place.run_until(3.1)
        assert place.snapshot() == place.empty

    def test_an_active_reservation_whose_resource_fails_ends_all_the_same(self, place: Place) -> None:
        lease = place.create("a", 1, 3)
        place.at(1.5)
        failed = next(iter(place.held(lease)))

        place.diagnose(failed, FAILED)
        place.run_until(2)
        place.check_nothing_twice()
        place.run_until(3.1)

        assert place.lease(lease).status is LeaseStatus.TERMINATED
        assert place.snapshot() == place.empty


def each_step(
    place: Place,
    story: Callable[[Place], None],
    arm: Callable[[int], None],
    has_struck: Callable[[], bool],
    stride: int,
) -> None:
    """Run a story once for each of its steps, with a fault at that step; nothing is left in the cloud."""
    for nth in itertools.count(1, stride):
        place.reset()
        place.arm, place.has_struck = functools.partial(arm, nth), has_struck
        try:
            story(place)
            # A killed request may have made objects that no reservation knows.
            sweep_all(place)
            assert place.snapshot() == place.empty
        except NothingToStrike:
            return
        except BaseException as error:
            error.add_note(f"with a fault at step {nth}: {place.faults.fired}")
            raise


def sweep_all(place: Place) -> None:
    """Run sweeps until all leftovers are removed; some can be removed only after others."""
    with place.faults.exempt():
        for _ in range(3):
            place.clock.advance(_SWEEP_INTERVAL)
            sweep(place.manager.context, "manager")


class PluginContract(RequestContract, StepContract, CapabilityContract, LifeContract):
    """All contract tests; inherit them, and set ``harness_type``."""
