"""A reconciler that is told to stop hands back at once what it has claimed."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from reconcile.lab import Lab

from blazar.db import tables
from blazar.plugins.testing.clocks import ManualClock
from blazar.reconcile import loop
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import OutboxSender

STOPPING = ("the reconciler is stopping",)
SECONDS = 30


class WaitedOnClock(ManualClock):
    """One by which threads really wait."""

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        """Return whether *event* was set in time."""
        return event.wait(timeout.total_seconds())


def held_by(lab: Lab, name: str) -> int:
    work = tables.work.c
    with lab.engine.connect() as connection:
        return connection.scalar(sa.select(sa.func.count()).where(work.owner == name)) or 0


@pytest.mark.parametrize("number", [1, 4])
def test_what_was_claimed_and_not_begun_is_anybodys_when_it_has_stopped(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    leases = [lab.create(f"lease {each}", 1, 2, None) for each in range(number)]
    lab.jump(1)
    context = replace(lab.manager.context, clock=WaitedOnClock(lab.clock.now()))
    context = replace(
        context,
        settings=replace(context.settings, reconciler=replace(context.settings.reconciler, workers=number)),
    )
    sender = OutboxSender(lab.store, context.clock, lab.sent, {})
    reconciler = Reconciler(context, "ending", sender, threading.Event())
    stopper = threading.Thread(target=reconciler.stop, daemon=True)
    started, begun, held = threading.Event(), threading.Event(), []

    def stop_meanwhile(*_: object) -> int:
        """Have it stop between claiming and giving out."""
        assert started.wait(SECONDS)
        held.append(held_by(lab, "ending"))
        stopper.start()
        begun.set()
        for _round in range(100 * SECONDS):
            if reconciler.problems() == STOPPING:
                break
            threading.Event().wait(0.01)
        return 0

    monkeypatch.setattr(loop, "begin_waiting", stop_meanwhile)
    monkeypatch.setattr(Reconciler, "plan_chores", lambda _: None)
    reconciler.start()
    started.set()
    assert begun.wait(SECONDS)
    stopper.join(SECONDS)

    assert (stopper.is_alive(), held) == (False, [number])
    assert held_by(lab, "ending") == 0
    assert {str(lab.lease(each).status) for each in leases} == {"PENDING"}
    lab.at(1.5)
    assert {str(lab.lease(each).status) for each in leases} == {"ACTIVE"}
