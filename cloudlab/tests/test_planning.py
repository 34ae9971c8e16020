"""Plans, what-if and the check of the cloud, from the data of the lab."""

from __future__ import annotations

import json
from typing import Any, Final

from cloudlab.tests.actors import Actor, Json
from cloudlab.tests.end_to_end_lab import RESERVABLE, EndToEndLab

SUCCESS: Final = 0
"""The result of a check in oslo.upgradecheck."""


def test_a_plan_has_the_hosts_of_nova_and_the_present_bookings(lab: EndToEndLab, lessee: Actor) -> None:
    lease = lessee.start(2)
    nova_conf = str(lab.openstack.folder.etc("nova") / "nova.conf")

    plan = json.loads(lab.manage("plan", "--nova-conf", nova_conf, "-f", "json"))

    total = plan["total"]
    hosts, reservable = len(lab.openstack.details.hosts), len(RESERVABLE)
    assert (total["total"], total["reservable"], total["general"]) == (hosts, reservable, hosts - reservable)
    assert (total["reserved_now"], total["headroom"]) == (2, 2)
    settings: list[dict[str, Any]] = plan["nova"]["settings"]
    assert {each["state"] for each in settings} == {"right"}
    lessee.end(lease)


def test_what_if_tells_which_leases_lose_hosts_and_changes_nothing(lab: EndToEndLab, lessee: Actor) -> None:
    lease = lessee.start(2)
    held = sorted(lab.operator.booked(lease))
    free = sorted({*RESERVABLE} - {*held})

    def what_if(names: list[str], *more: str) -> Json:
        closed = [part for name in names for part in ("--close", f"hypervisor_hostname={name}")]
        found: Json = json.loads(lab.manage("what-if", *closed, *more, "-f", "json"))
        return found

    harmless = what_if(free, "--add", "1", "--like", free[0])
    harmful = what_if(held)

    assert (sorted(harmless["closed"]), len(harmless["added"])) == (free, 1)
    assert [harmless[each] for each in ("moves", "keeping", "failing")] == [[], [], []]
    assert sorted(harmful["closed"]) == held
    assert lease["id"] in json.dumps([harmful["keeping"], harmful["failing"], harmful["moves"]])
    assert lessee.status(lease) == "ACTIVE"
    assert sorted(lab.operator.booked(lease)) == held
    lessee.end(lease)


def test_the_cloud_is_as_reservations_need_it(lab: EndToEndLab) -> None:
    nova_conf = str(lab.openstack.folder.etc("nova") / "nova.conf")
    # Other tests move hosts to other zones, which the check reports.
    lab.refresh_hosts()

    found = json.loads(lab.check_cloud(nova_conf))

    assert {each["result"] for each in found["checks"]} == {SUCCESS}
