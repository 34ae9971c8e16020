"""Who asks for a lease wakes up managers only if they would not look in time by themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from service.world import World

from blazar.app.leases import create_lease
from blazar.ports.manager import Caller

CALLER = Caller(user_id="u", project_id="p")


@dataclass(slots=True)
class Counting:
    """Counts how often managers were told that there is work."""

    count: int = 0

    def wake(self) -> None:
        self.count += 1


@pytest.mark.parametrize(("minutes_ahead", "wakes"), [(0, 1), (1, 1), (3, 0), (600, 0)])
def test_a_new_lease_wakes_managers_if_something_is_to_be_done_for_it_soon(
    world: World, minutes_ahead: int, wakes: int
) -> None:
    waker = Counting()
    context = replace(world.context, waker=waker)
    assert context.settings.leases.prepare_lead == timedelta(minutes=2)
    start = context.clock.now() + timedelta(minutes=minutes_ahead)
    dates = {
        "start_date": start.strftime("%Y-%m-%d %H:%M") if minutes_ahead else "now",
        "end_date": (start + timedelta(hours=1)).strftime("%Y-%m-%d %H:%M"),
    }

    create_lease(context, CALLER, {"name": "l", **dates, "reservations": []})

    assert waker.count == wakes
