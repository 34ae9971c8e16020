"""Managers on a fast clock: leases start and end when that clock says so, and the managers agree about it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import requests
from clocks import ManualClock, SharedClock
from installations import require_installation

from blazar.booking.clock_guard import ClockGuard
from blazar.manager.clocks import FastClock, SystemClock
from blazar.null_ports import NoMeter
from cloudlab.waiting import wait_until
from rig.fast_manager import FastReference
from rig.installation import Installation, running
from rig.wanted import Wanted

SPEED = 60
SECONDS = 30
LIMIT = timedelta(seconds=2)
HOST = {
    "resource_type": "physical:host",
    "min": 1,
    "max": 1,
    "hypervisor_properties": "",
    "resource_properties": "",
}


def shown(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M}"


def answer_of(installation: Installation, method: str, path: str, body: object = None) -> requests.Response:
    headers = {"X-User-Id": "admin", "X-Project-Id": "project", "X-Roles": "admin,member,reader"}
    return requests.request(method, f"{installation.url}{path}", json=body, headers=headers, timeout=SECONDS)


def test_a_lease_of_ten_minutes_is_over_before_half_a_minute() -> None:
    require_installation("mariadb")
    options = {"manager": {"claim_seconds": 10 * SPEED, "clock_difference_limit_seconds": 2 * SPEED}}
    with running(Wanted(options=options)) as real:
        clock = FastClock(epoch=SystemClock().now(), speed=SPEED)
        installation = real.on_clock(clock)
        assert answer_of(installation, "POST", "/os-hosts", {"name": "host-1"}).status_code == 201
        start = clock.now() + timedelta(minutes=10)
        dates = {"start_date": shown(start), "end_date": shown(start + timedelta(minutes=10))}
        made = answer_of(installation, "POST", "/leases", {"name": "l", **dates, "reservations": [HOST]})
        assert made.status_code == 201, made.text
        path = f"/leases/{made.json()['lease']['id']}"

        def lease() -> dict[str, str]:
            found: dict[str, str] = answer_of(installation, "GET", path).json()["lease"]
            return found

        assert lease()["status"] == "PENDING"
        wait_until(lambda: lease()["status"] == "TERMINATED", "the lease is over", seconds=2 * SECONDS)

        assert clock.now() >= datetime.fromisoformat(lease()["end_date"]).replace(tzinfo=UTC)


def test_a_manager_whose_fast_clock_differs_from_that_of_the_others_stops() -> None:
    machine = ManualClock()
    shared = FastClock(epoch=machine.now() - timedelta(hours=1), speed=SPEED)
    for seconds, is_wrong in ((0, False), (1, False), (3, True)):
        own = ManualClock(shared.at(machine.now()) + timedelta(seconds=seconds))
        guard = ClockGuard(own, FastReference(shared, SharedClock(machine)), LIMIT)

        guard.compare(NoMeter())

        assert bool(guard.problems()) is is_wrong
