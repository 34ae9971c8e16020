"""Time until other managers continue the work of one that was killed or stopped."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from faults.client import Client
from faults.runs import HOSTS, FaultedInstallation

from blazar.db import tables
from cloudlab.service import Service
from cloudlab.waiting import wait_until

LATENCY_MS = 500
"""The latency of the cloud, such that each start takes seconds and is in progress at the fault."""
_SECONDS_TO_BEGIN = 30
_SECONDS_TO_END = 120


def takeover_seconds(faulted: FaultedInstallation) -> float:
    """Return the seconds after a kill until the manager holds no more claims."""
    with _at_work(faulted) as (busiest, owner):
        began = time.monotonic()
        busiest.kill()
        _wait_until_given_up(faulted, owner)
        return time.monotonic() - began


def graceful_stop_seconds(faulted: FaultedInstallation) -> float:
    """Return the seconds that a manager takes to stop; it must hold no claims afterwards."""
    with _at_work(faulted) as (busiest, owner):
        began = time.monotonic()
        busiest.stop()
        seconds = time.monotonic() - began
        assert owner not in _owners(faulted), "the stopped manager still holds claims"
        return seconds


@contextmanager
def _at_work(faulted: FaultedInstallation) -> Iterator[tuple[Service, str]]:
    """Yield the manager with the most claims on starting leases, and its name in the claims."""
    faulted.control.set_latency_ms(LATENCY_MS)
    with closing(Client(faulted.gateway, "user")) as client:
        for number in range(HOSTS):
            client.ask("POST", "/leases", _lease(number))
        wait_until(lambda: bool(_owners(faulted)), "work is claimed", seconds=_SECONDS_TO_BEGIN)
        ((owner, _),) = _owners(faulted).most_common(1)
        yield next(each for each in faulted.installation.managers if str(each.pid) in owner.split(":")), owner
        faulted.control.set_latency_ms(0)
        for each in faulted.installation.managers:
            each.start()
            each.wait_until_answers()

        def are_active() -> bool:
            return {each["status"] for each in client.get("/leases", "leases")} == {"ACTIVE"}

        wait_until(are_active, "all leases have started", seconds=_SECONDS_TO_END)
    faulted.clear()


def _wait_until_given_up(faulted: FaultedInstallation, owner: str) -> None:
    wait_until(
        lambda: owner not in _owners(faulted),
        "a dead manager's work is taken over",
        seconds=_SECONDS_TO_END,
        every_seconds=0.05,
    )


def _owners(faulted: FaultedInstallation) -> Counter[str]:
    """Return the number of claims of each manager, by its name in the claims."""
    owner = tables.work.c.owner
    with faulted.aftermath.engine.connect() as connection:
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


MEASURES: Mapping[str, tuple[Callable[[FaultedInstallation], float], float]] = {
    "takeover": (takeover_seconds, 15),
    "graceful stop": (graceful_stop_seconds, 10),
}
"""The measures by name, each with its maximum in seconds."""
