"""Changes of leases that are starting, ending or being deleted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from app.http_env import LESSEE, HttpEnv, good, lease_of, refusal

from blazar.enforcement.base import Filter
from blazar.ports.clock import Clock
from blazar.ports.enforcement import LeaseUsage

PATIENCE = timedelta(seconds=7)

pytestmark = pytest.mark.usefixtures("hosts")


@dataclass
class WaitingClock:
    """An environment's clock that calls *meanwhile* each time a request waits."""

    clock: Clock
    meanwhile: Callable[[], None]

    def now(self) -> datetime:
        return self.clock.now()

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        self.meanwhile()
        return self.clock.wait(event, timeout)


def let_wait(env: HttpEnv, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Let changes wait for a transition, and call *meanwhile* during each wait."""
    leases = replace(env.settings.leases, update_wait=PATIENCE)
    settings = replace(env.settings, leases=leases)
    env.restart(replace(env.context, settings=settings, clock=WaitingClock(env.clock, meanwhile)))


def starting(env: HttpEnv) -> str:
    """Return the path of a lease that stays STARTING because the cloud failed temporarily."""
    lease = env.create("now", 60)
    with env.failing("compute.add_host"):
        env.work()
    assert env.status(lease) == "STARTING"
    return f"/leases/{lease['id']}"


def test_a_change_of_a_starting_lease_waits_for_the_start(env: HttpEnv) -> None:
    path = starting(env)
    # The reconciler writes to the same database during the wait, so the request must hold no transaction.
    let_wait(env, env.work)

    changed = lease_of(env.put(path, {"end_date": env.date(90), "name": "x"}, who=LESSEE))

    assert (changed["status"], changed["name"]) == ("ACTIVE", "x")
    assert changed["end_date"] == env.shown(90)


class Beginning(Filter):
    """Filter that starts the lease when a change of it is checked for the first time."""

    def __init__(self, begin: Callable[[], None]) -> None:
        self._begin = [begin]

    def check_update(self, current: LeaseUsage, usage: LeaseUsage, key: str) -> None:
        while self._begin:
            self._begin.pop()()


def test_a_lease_that_begins_to_start_during_its_change_is_waited_for(env: HttpEnv) -> None:
    lease = env.create("now", 60)
    let_wait(env, env.work)

    def begin() -> None:
        with env.failing("compute.add_host"):
            env.work()
        assert env.status(lease) == "STARTING"

    env.restart(replace(env.context, filters={"beginning": Beginning(begin)}))

    changed = lease_of(env.put(f"/leases/{lease['id']}", {"end_date": env.date(90)}))

    assert (changed["status"], changed["end_date"]) == ("ACTIVE", env.shown(90))


@pytest.mark.parametrize(("is_ending", "waited"), [(False, PATIENCE), (True, timedelta(0))])
def test_a_start_that_takes_too_long_is_refused_with_the_time_of_the_next_try(
    env: HttpEnv, is_ending: bool, waited: timedelta
) -> None:
    path = starting(env)
    let_wait(env)
    if is_ending:
        env.context.ending.set()
    before, began = env.snapshot(), env.clock.now()

    answer = env.put(path, {"end_date": env.date(90)})

    assert "STARTING" in refusal(answer, 409)
    assert answer.headers["Retry-After"] == "5"
    assert env.clock.now() - began == waited
    assert env.snapshot() == before


def test_the_name_can_be_changed_in_every_status(env: HttpEnv) -> None:
    let_wait(env)
    path = starting(env)
    seen: list[str] = []

    def rename() -> None:
        began = env.clock.now()
        renamed = lease_of(env.put(path, {"name": f"n{len(seen)}"}, who=LESSEE))
        assert (renamed["name"], env.clock.now()) == (f"n{len(seen)}", began)
        seen.append(renamed["status"])

    rename()
    env.pass_time(2)
    rename()
    with env.failing("compute.remove_host"):
        env.pass_time(60)
        rename()
        env.delete(path)
        rename()
    env.pass_time(65)

    assert seen == ["STARTING", "ACTIVE", "TERMINATING", "DELETING"]
    refusal(env.get(path), 404)


def test_other_changes_of_a_lease_that_ends_are_refused_at_once(env: HttpEnv) -> None:
    path = starting(env)
    let_wait(env)
    env.pass_time(2)
    with env.failing("compute.remove_host"):
        env.pass_time(60)
        began = env.clock.now()
        assert "has ended" in refusal(env.put(path, {"end_date": env.date(90)}), 400)

        env.delete(path)
        answer = env.put(path, {"end_date": env.date(90)})

    assert "DELETING" in refusal(answer, 409)
    assert "Retry-After" not in answer.headers
    assert env.clock.now() == began


def test_a_lease_that_is_moved_away_from_a_failure_has_no_problem_left(env: HttpEnv) -> None:
    lease = env.create(3, 60)
    with env.failing("compute.create_aggregate"):
        env.pass_time(2)
    newer = {"OpenStack-API-Version": "reservation 1.1"}
    path = f"/leases/{lease['id']}"
    assert "does not respond" in str(good(env.get(path, headers=newer))["lease"]["status_reason"])

    env.change(lease, start_date=env.date(600), end_date=env.date(700))
    env.work()

    shown = good(env.get(path, headers=newer))["lease"]
    assert (shown["status"], shown["status_reason"], shown["retry_at"]) == ("PENDING", None, None)
