"""Changes of leases that are starting, ending or being deleted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from app.world import LESSEE, World, lease_of, refusal

from blazar.enforcement.base import Filter
from blazar.ports.clock import Clock
from blazar.ports.enforcement import LeaseUsage

PATIENCE = timedelta(seconds=7)

pytestmark = pytest.mark.usefixtures("hosts")


@dataclass
class WaitingClock:
    """A world's clock that calls *meanwhile* each time a request waits."""

    clock: Clock
    meanwhile: Callable[[], None]

    def now(self) -> datetime:
        return self.clock.now()

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        self.meanwhile()
        return self.clock.wait(event, timeout)


def let_wait(world: World, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Let changes wait for a transition, and call *meanwhile* during each wait."""
    leases = replace(world.settings.leases, update_wait=PATIENCE)
    settings = replace(world.settings, leases=leases)
    world.restart(replace(world.context, settings=settings, clock=WaitingClock(world.clock, meanwhile)))


def starting(world: World) -> str:
    """Return the path of a lease that stays STARTING because the cloud failed temporarily."""
    lease = world.create("now", 60)
    with world.failing("compute.add_host"):
        world.work()
    assert world.status(lease) == "STARTING"
    return f"/leases/{lease['id']}"


def test_a_change_of_a_starting_lease_waits_for_the_start(world: World) -> None:
    path = starting(world)
    # The reconciler writes to the same database during the wait, so the request must hold no transaction.
    let_wait(world, world.work)

    changed = lease_of(world.put(path, {"end_date": world.date(90), "name": "x"}, who=LESSEE))

    assert (changed["status"], changed["name"]) == ("ACTIVE", "x")
    assert changed["end_date"] == world.shown(90)


class Beginning(Filter):
    """Filter that starts the lease when a change of it is checked for the first time."""

    def __init__(self, begin: Callable[[], None]) -> None:
        self._begin = [begin]

    def check_update(self, current: LeaseUsage, usage: LeaseUsage, key: str) -> None:
        while self._begin:
            self._begin.pop()()


def test_a_lease_that_begins_to_start_during_its_change_is_waited_for(world: World) -> None:
    lease = world.create("now", 60)
    let_wait(world, world.work)

    def begin() -> None:
        with world.failing("compute.add_host"):
            world.work()
        assert world.status(lease) == "STARTING"

    world.restart(replace(world.context, filters={"beginning": Beginning(begin)}))

    changed = lease_of(world.put(f"/leases/{lease['id']}", {"end_date": world.date(90)}))

    assert (changed["status"], changed["end_date"]) == ("ACTIVE", world.shown(90))


@pytest.mark.parametrize(("is_ending", "waited"), [(False, PATIENCE), (True, timedelta(0))])
def test_a_start_that_takes_too_long_is_refused_with_the_time_of_the_next_try(
    world: World, is_ending: bool, waited: timedelta
) -> None:
    path = starting(world)
    let_wait(world)
    if is_ending:
        world.context.ending.set()
    before, began = world.snapshot(), world.clock.now()

    answer = world.put(path, {"end_date": world.date(90)})

    assert "STARTING" in refusal(answer, 409)
    assert answer.headers["Retry-After"] == "5"
    assert world.clock.now() - began == waited
    assert world.snapshot() == before


def test_the_name_can_be_changed_in_every_status(world: World) -> None:
    let_wait(world)
    path = starting(world)
    seen: list[str] = []

    def rename() -> None:
        began = world.clock.now()
        renamed = lease_of(world.put(path, {"name": f"n{len(seen)}"}, who=LESSEE))
        assert (renamed["name"], world.clock.now()) == (f"n{len(seen)}", began)
        seen.append(renamed["status"])

    rename()
    world.pass_time(2)
    rename()
    with world.failing("compute.remove_host"):
        world.pass_time(60)
        rename()
        world.delete(path)
        rename()
    world.pass_time(65)

    assert seen == ["STARTING", "ACTIVE", "TERMINATING", "DELETING"]
    refusal(world.get(path), 404)


def test_other_changes_of_a_lease_that_ends_are_refused_at_once(world: World) -> None:
    path = starting(world)
    let_wait(world)
    world.pass_time(2)
    with world.failing("compute.remove_host"):
        world.pass_time(60)
        began = world.clock.now()
        assert "has ended" in refusal(world.put(path, {"end_date": world.date(90)}), 400)

        world.delete(path)
        answer = world.put(path, {"end_date": world.date(90)})

    assert "DELETING" in refusal(answer, 409)
    assert "Retry-After" not in answer.headers
    assert world.clock.now() == began
