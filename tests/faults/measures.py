"""How soon others do what a manager was at that was killed, or told to end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from faults.client import Client
from faults.runs import HOSTS, Ground

from blazar.db import tables
from cloudlab.service import Service
from cloudlab.waiting import wait_until

LATENCY_MS = 500
"""So that each start takes seconds, and is under way when its manager is struck."""
_SECONDS_TO_BEGIN = 30
_SECONDS_TO_END = 120


def takeover_seconds(here: Ground) -> float:
    """Return how long it takes until nothing is left to a killed manager of what it was at."""
    with _at_work(here) as (busiest, owner):
        began = time.monotonic()
        busiest.kill()
        _wait_until_given_up(here, owner)
        return time.monotonic() - began


def graceful_stop_seconds(here: Ground) -> float:
    """Return how long a manager takes to end that is told to, by when nothing is left to it."""
    with _at_work(here) as (busiest, owner):
        began = time.monotonic()
        busiest.stop()
        seconds = time.monotonic() - began
        assert owner not in _owners(here), "what it was at is not handed back"
        return seconds


@contextmanager
def _at_work(here: Ground) -> Iterator[tuple[Service, str]]:
    """Yield the manager that is at most of the leases that start, and the name that it signs with."""
    here.control.set_latency_ms(LATENCY_MS)
    with closing(Client(here.stack.url, "user")) as client:
        for number in range(HOSTS):
            client.ask("POST", "/leases", _lease(number))
        wait_until(lambda: bool(_owners(here)), "work is claimed", seconds=_SECONDS_TO_BEGIN)
        ((owner, _),) = _owners(here).most_common(1)
        yield next(each for each in here.stack.managers if str(each.pid) in owner.split(":")), owner
        here.control.set_latency_ms(0)
        for each in here.stack.managers:
            each.start()
            each.wait_until_answers()

        def are_active() -> bool:
            return {each["status"] for each in client.get("/leases", "leases")} == {"ACTIVE"}

        wait_until(are_active, "all leases have started", seconds=_SECONDS_TO_END)
    here.clear()


def _wait_until_given_up(here: Ground, owner: str) -> None:
    wait_until(
        lambda: owner not in _owners(here),
        "a dead manager's work is taken over",
        seconds=_SECONDS_TO_END,
        every_seconds=0.05,
    )


def _owners(here: Ground) -> Counter[str]:
    """Return how many leases each manager is at, by the name that it signs with."""
    owner = tables.work.c.owner
    with here.aftermath.engine.connect() as connection:
        return Counter(connection.scalars(sa.select(owner).where(owner.is_not(None))))


def _lease(number: int) -> dict[str, object]:
    end = datetime.now(UTC) + timedelta(hours=1)  # noqa: TID251 - that of the processes, too
    host = {"resource_type": "physical:host", "min": 1, "max": 1}
    return {
        "name": f"measured-{number}",
        "start_date": "now",
        "end_date": f"{end:%Y-%m-%d %H:%M}",
        "reservations": [{**host, "hypervisor_properties": "", "resource_properties": ""}],
    }


MEASURES: Mapping[str, tuple[Callable[[Ground], float], float]] = {
    "takeover": (takeover_seconds, 15),
    "graceful stop": (graceful_stop_seconds, 10),
}
"""By name; beside it, what is promised, in seconds."""
