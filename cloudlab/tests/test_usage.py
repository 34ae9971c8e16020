"""Usage of reserved hosts, as seen on the real Nova."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from cloudlab import blazar
from cloudlab import plan as plans
from cloudlab.tests.actors import Actor, Json, in_minutes, reservation_of
from cloudlab.tests.end_to_end_lab import EndToEndLab
from cloudlab.tests.notices import consumer
from cloudlab.tests.test_faults import MANAGERS
from cloudlab.waiting import wait_until

API = {"OpenStack-API-Version": "reservation 1.1"}


def usage(actor: Actor, since: datetime) -> list[Json]:
    """Return what an actor sees of the usage by projects since an instant."""
    dates = {"from": since, "to": since + timedelta(minutes=60)}
    query = {"by": "project", **{key: f"{each:%Y-%m-%d %H:%M}" for key, each in dates.items()}}
    answer: Json = actor.reservations.get("/usage", params=query, headers=API).json()
    groups: list[Json] = answer["usage"]["groups"]
    return groups


@pytest.fixture
def ending_no_shows(lab: EndToEndLab, other: Actor) -> Iterator[None]:
    """Let the managers end leases of hosts that are not used for a minute, but not those of ``other``."""
    plan = plans.read(lab.openstack.folder)
    assert plan is not None
    services = [lab.openstack.service(name) for name in MANAGERS]

    def restart() -> None:
        # As in a crash: a regular end waits for the work in progress, and nothing depends on it here.
        for each in services:
            each.kill()
        for each in services:
            each.start()
        for each in services:
            each.wait_until_answers()

    options = {
        "no_show_grace_minutes": "physical:host=1",
        "no_show_warning_minutes": "1",
        "no_show_exempt_projects": other.project_id,
    }
    blazar.configure(plan, options)
    restart()
    yield
    blazar.configure(plan)
    restart()


@pytest.mark.long
@pytest.mark.usefixtures("ending_no_shows")
def test_used_and_idle_hosts_are_counted_and_a_lease_that_is_never_used_ends(
    lab: EndToEndLab, lessee: Actor, other: Actor
) -> None:
    # The next full minute: what earlier tests used does not count.
    since = in_minutes(1)

    def hours(figure: str) -> float:
        return sum(
            float(each["hours"][figure])
            for group in usage(lessee, since)
            for each in group["amounts"]
            if (each["unit"], each["resource_class"]) == ("hosts", None)
        )

    with consumer(lab.openstack) as notices:
        lease = lessee.start(2)
        server = lessee.boot(reservation=reservation_of(lease))
        assert lessee.wait_for_server(server) == "ACTIVE"
        unused, exempt = lessee.start(), other.start()

        wait_until(lambda: hours("in_use") > 0 and hours("idle") > 0, "both are seen", seconds=200)
        lessee.wait_for_lease(unused, "TERMINATED", seconds=240)
        notices.wait_for("lease.event.end_lease", unused["id"])
        assert "lease.no_show" in notices.of(unused["id"])
        assert "lease.no_show" not in notices.of(exempt["id"])

    assert (lessee.status(lease), other.status(exempt)) == ("ACTIVE", "ACTIVE")
    assert lessee.project_id not in {each["value"] for each in usage(other, since)}
    lessee.end(lease)
