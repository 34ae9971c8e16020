"""Requests wake managers only if polling would be too late."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from app.http_env import HttpEnv

from blazar.app.leases import create_lease, delete_lease, update_lease
from blazar.booking.context import Context
from blazar.domain.errors import LeaseNotFound
from blazar.ports.manager import Caller
from blazar.settings import Settings

CALLER = Caller(user_id="u", project_id="p")


@dataclass(slots=True)
class Counting:
    """Waker that counts how often it was called."""

    count: int = 0

    def wake(self) -> None:
        self.count += 1


def without_waiting(settings: Settings) -> Settings:
    """Return settings under which a delete request is answered before any work is done."""
    return replace(settings, leases=replace(settings.leases, delete_wait=timedelta(0)))


def due_at(context: Context, lease_id: str) -> datetime | None:
    """Return when a lease is due, None if it is not scheduled."""
    later = context.clock.now() + timedelta(days=999)
    with context.store.begin() as transaction:
        # The claim is not committed, so it has no effect.
        due = transaction.work.claim_due("test", later, later, 99)
    return next((each.due_at for each in due if each.key == lease_id), None)


@pytest.mark.parametrize(("minutes_ahead", "wakes"), [(0, 1), (1, 1), (3, 0), (600, 0)])
def test_a_new_lease_wakes_managers_if_something_is_to_be_done_for_it_soon(
    env: HttpEnv, minutes_ahead: int, wakes: int
) -> None:
    waker = Counting()
    context = replace(env.context, waker=waker)
    assert context.settings.leases.prepare_lead == timedelta(minutes=2)
    start = context.clock.now() + timedelta(minutes=minutes_ahead)
    dates = {
        "start_date": start.strftime("%Y-%m-%d %H:%M") if minutes_ahead else "now",
        "end_date": (start + timedelta(hours=1)).strftime("%Y-%m-%d %H:%M"),
    }

    create_lease(context, CALLER, {"name": "l", **dates, "reservations": []})

    assert waker.count == wakes


def test_a_lease_that_is_still_ahead_is_changed_and_deleted_without_a_look(env: HttpEnv) -> None:
    env.register("h1")
    lease_id = str(env.create(120, 240)["id"])
    env.work()
    waker = Counting()
    context = replace(env.context, waker=waker)
    start = context.clock.now() + timedelta(hours=1)

    update_lease(context, CALLER, lease_id, {"start_date": start.strftime("%Y-%m-%d %H:%M")})
    planned = due_at(context, lease_id)
    delete_lease(context, CALLER, lease_id)

    assert planned == start.replace(second=0, microsecond=0) - timedelta(minutes=2)
    assert due_at(context, lease_id) is None
    assert waker.count == 0


def test_a_lease_that_runs_is_changed_and_deleted_with_a_look_at_once(env: HttpEnv) -> None:
    env.register("h1")
    lease_id = str(env.create("now", 120)["id"])
    env.work()
    waker = Counting()
    context = replace(env.context, waker=waker, settings=without_waiting(env.context.settings))
    end = context.clock.now() + timedelta(hours=1)

    update_lease(context, CALLER, lease_id, {"end_date": end.strftime("%Y-%m-%d %H:%M")})
    changed = due_at(context, lease_id)
    env.work()
    delete_lease(context, CALLER, lease_id)
    deleted = due_at(context, lease_id)
    env.work()

    assert (changed, deleted) == (context.clock.now(), context.clock.now())
    assert waker.count == 2
    with pytest.raises(LeaseNotFound):
        delete_lease(context, CALLER, lease_id)
