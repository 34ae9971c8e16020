"""A reconciler that is told to stop releases its claims at once."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from reconcile.reconciler_env import ReconcilerEnv

from blazar.db import tables
from blazar.reconcile import loop
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import OutboxSender
from blazar_plugin_testing.clocks import ManualClock

STOPPING = ("the reconciler is stopping",)
SECONDS = 30


class WaitedOnClock(ManualClock):
    """A manual clock whose waits block the thread in real time."""

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        """Wait for *event*, for *timeout* of real time at most; return whether it was set."""
        return event.wait(timeout.total_seconds())


def held_by(env: ReconcilerEnv, name: str) -> int:
    work = tables.work.c
    with env.engine.connect() as connection:
        return connection.scalar(sa.select(sa.func.count()).where(work.owner == name)) or 0


@pytest.mark.parametrize("number", [1, 4])
def test_claims_on_work_not_started_are_free_once_it_has_stopped(
    env: ReconcilerEnv, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    leases = [env.create(f"lease {each}", 1, 2, None) for each in range(number)]
    env.jump(1)
    context = replace(env.manager.context, clock=WaitedOnClock(env.clock.now()))
    context = replace(
        context,
        settings=replace(context.settings, reconciler=replace(context.settings.reconciler, workers=number)),
    )
    sender = OutboxSender(env.store, context.clock, env.sent, {})
    reconciler = Reconciler(context, "ending", sender, threading.Event())
    stopper = threading.Thread(target=reconciler.stop, daemon=True)
    started, begun, held = threading.Event(), threading.Event(), []

    def stop_meanwhile(*_: object) -> int:
        """Stop the reconciler after it has taken claims, before it passes them to workers."""
        assert started.wait(SECONDS)
        held.append(held_by(env, "ending"))
        stopper.start()
        begun.set()
        for _round in range(100 * SECONDS):
            if reconciler.problems() == STOPPING:
                break
            threading.Event().wait(0.01)
        return 0

    monkeypatch.setattr(loop, "mark_due_leases", stop_meanwhile)
    monkeypatch.setattr(Reconciler, "plan_periodic_tasks", lambda _: None)
    reconciler.start()
    started.set()
    assert begun.wait(SECONDS)
    stopper.join(SECONDS)

    assert (stopper.is_alive(), held) == (False, [number])
    assert held_by(env, "ending") == 0
    assert {str(env.lease(each).status) for each in leases} == {"PENDING"}
    env.at(1.5)
    assert {str(env.lease(each).status) for each in leases} == {"ACTIVE"}
