"""API 1.1 on a real cloud: offers, alternatives, chosen releases, and what lessees know of their leases."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cloudlab.tests.actors import Actor, Json, Operator, in_minutes, only, reservation_of
from cloudlab.tests.end_to_end_lab import RESERVABLE, EndToEndLab
from cloudlab.tests.floatingips import ADDRESSES
from cloudlab.tests.slots import fill
from cloudlab.waiting import wait_until

VERSION = "reservation 1.1"
FORMAT = "%Y-%m-%d %H:%M"


def ask(actor: Actor, method: str, path: str, body: Json | None = None, **query: Any) -> Json:
    """Return the answer to a request at API 1.1, and its status as ``status_code``."""
    answer = actor.reservations.request(
        path, method, json=body, params=query, headers={"OpenStack-API-Version": VERSION}, raise_exc=False
    )
    found: Json = answer.json() if answer.content else {}
    return {**found, "status_code": answer.status_code}


def wish(*reservations: Json, minutes: int = 60) -> Json:
    """Return the body of a request for a lease from now."""
    return {
        "name": f"lease-{uuid.uuid4().hex[:8]}",
        "start_date": "now",
        "end_date": in_minutes(minutes).strftime(FORMAT),
        "reservations": list(reservations),
    }


def hosts(count: int, requirement: str = "") -> Json:
    return {
        "resource_type": "physical:host",
        "min": count,
        "max": count,
        "hypervisor_properties": "",
        "resource_properties": requirement,
    }


def instances(amount: int, **keys: Any) -> Json:
    """Return a reservation of instances, of which two fit on a host."""
    sizes = {"vcpus": 1, "memory_mb": 300_000, "disk_gb": 1}
    rest = {"affinity": None, "resource_properties": ""}
    return {"resource_type": "virtual:instance", "amount": amount, **sizes, **rest, **keys}


def started(actor: Actor, answer: Mapping[str, Any]) -> Json:
    """Return the lease of an answer, after its start."""
    assert answer["status_code"] == 201, answer
    lease = dict(answer["lease"])
    actor.wait_for_lease(lease, "ACTIVE")
    return lease


def test_an_offer_is_held_and_becomes_a_lease(operator: Operator, lessee: Actor, other: Actor) -> None:
    held = ask(lessee, "POST", "/offers", wish(hosts(1, only("node-2"))))["offer"]

    refused = ask(other, "POST", "/leases", wish(hosts(1, only("node-2"))))
    lease = started(lessee, ask(lessee, "POST", "/leases", {"offer_id": held["id"], "name": "taken"}))

    assert refused["status_code"] == 409
    assert operator.hosts_of(lease) == {"node-2"}
    server = lessee.boot(reservation=reservation_of(lease))
    assert lessee.wait_for_server(server) == "ACTIVE"
    assert operator.host_of_server(server) == "node-2"
    lessee.end(lease)


def test_a_refusal_names_an_alternative_that_starts(
    lab: EndToEndLab, operator: Operator, lessee: Actor, other: Actor
) -> None:
    first = started(other, ask(other, "POST", "/leases", wish(hosts(3))))

    refused = ask(lessee, "POST", "/leases", wish(instances(4)))

    (reason,) = refused["reasons"]
    assert (refused["status_code"], reason["binding"]) == (409, "free")
    fewer = next(each for each in refused["alternatives"] if each["kind"] == "fewer")
    (body,) = fewer["bodies"]
    assert body["reservations"][0]["amount"] == 2
    lease = started(lessee, ask(lessee, "POST", "/leases", body))
    (free,) = {*RESERVABLE} - operator.hosts_of(first)
    assert lab.slots.slots(reservation_of(lease)) == {free: 2}
    lessee.end(lease)
    other.end(first)


def test_a_chosen_host_is_released_while_the_lease_is_active(operator: Operator, lessee: Actor) -> None:
    lease = started(lessee, ask(lessee, "POST", "/leases", wish(hosts(2))))
    kept, released = sorted(operator.hosts_of(lease))
    change = {"id": reservation_of(lease), "release": [operator.registered()[released]["id"]]}

    answer = ask(lessee, "PUT", f"/leases/{lease['id']}", {"reservations": [change]})

    assert answer["status_code"] == 200, answer
    assert operator.hosts_of(lease) == {kept}
    assert released in operator.freepool()["hosts"]
    lessee.end(lease)


def end_of(lease: Mapping[str, Any], *, later: int = 0) -> datetime:
    """Return the end of a lease, or an instant so many minutes later."""
    return datetime.fromisoformat(lease["end_date"]).replace(tzinfo=UTC) + timedelta(minutes=later)


@pytest.fixture
def busy(lessee: Actor) -> Json:
    """Return an active lease of two hosts."""
    return started(lessee, ask(lessee, "POST", "/leases", wish(hosts(2))))


def test_an_extension_is_held_and_replaces_a_host_that_another_lease_has_then(
    operator: Operator, lessee: Actor, other: Actor, busy: Json
) -> None:
    path, reservation = f"/leases/{busy['id']}", reservation_of(busy)
    blocked, kept = sorted(operator.hosts_of(busy))
    end, longer, longest = (end_of(busy, later=minutes) for minutes in (0, 30, 60))
    other.reserve(start=end, end=longest, resource_properties=only(blocked))

    def extended(on_conflict: str) -> Json:
        changes = [{"id": reservation, "on_conflict": on_conflict}]
        return ask(lessee, "PUT", path, {"end_date": longer.strftime(FORMAT), "reservations": changes})

    assert [extended(each)["status_code"] for each in ("fail", "drop")] == [409, 409]
    answer = extended("replace")
    assert answer["status_code"] == 200, answer
    wait_until(lambda: len(operator.hosts_of(busy)) == 2, "the other host is handed over", seconds=60)
    held = operator.hosts_of(busy)
    (added,) = held - {kept}
    assert blocked in operator.freepool()["hosts"]
    (change,) = answer["changes"]
    ids = {name: each["id"] for name, each in operator.registered().items()}
    assert [change[key] for key in ("kept", "added", "released")] == [
        [ids[kept]],
        [ids[added]],
        [ids[blocked]],
    ]

    offer = ask(lessee, "POST", f"{path}/offers", {"end_date": longest.strftime(FORMAT)})["offer"]
    dates = {"start_date": longer.strftime(FORMAT), "end_date": longest.strftime(FORMAT)}
    refused = ask(other, "POST", "/leases", {**wish(hosts(1, only(added))), **dates})
    answer = ask(lessee, "PUT", path, {"offer_id": offer["id"]})
    assert (refused["status_code"], answer["status_code"]) == (409, 200), (refused, answer)
    assert end_of(answer["lease"]) == longest
    assert operator.hosts_of(busy) == held
    assert lessee.status(busy) == "ACTIVE"

    found = ask(lessee, "GET", f"{path}/resources")["resources"]
    assert {one["name"] for each in found for one in each["resources"]} == held
    server = lessee.boot(reservation=found[0]["use"]["scheduler_hints"]["reservation"])
    assert lessee.wait_for_server(server) == "ACTIVE"
    assert operator.host_of_server(server) in held


def test_an_extension_of_a_lease_ahead_drops_a_host_that_another_lease_has_then(
    operator: Operator, lessee: Actor, other: Actor
) -> None:
    lease = lessee.reserve(2, start=in_minutes(120), end=in_minutes(150))
    blocked, kept = sorted(operator.booked(lease))
    other.reserve(start=end_of(lease), end=end_of(lease, later=60), resource_properties=only(blocked))
    change = {
        "end_date": end_of(lease, later=30).strftime(FORMAT),
        "reservations": [{"id": reservation_of(lease), "on_conflict": "drop"}],
    }

    answer = ask(lessee, "PUT", f"/leases/{lease['id']}", change)

    assert answer["status_code"] == 200, answer
    assert operator.booked(lease) == {kept}
    assert end_of(answer["lease"]) == end_of(lease, later=30)


def test_the_calendar_shows_the_own_leases_and_that_others_and_maintenance_exist(
    operator: Operator, lessee: Actor, other: Actor, busy: Json
) -> None:
    held = operator.hosts_of(busy)
    other.reserve(start=end_of(busy), end=end_of(busy, later=60), resource_properties=only(min(held)))
    closed = min({*RESERVABLE} - held)
    maintenance = operator.blazar.maintenance.create([closed], reason="new disks")

    def states(actor: Actor, at: datetime) -> Mapping[str, int]:
        (group,) = ask(actor, "GET", "/timeline", **query)["groups"]
        shown = at.strftime(FORMAT)
        (found,) = [each for each in group["intervals"] if each["start_date"] <= shown < each["end_date"]]
        return {key: number for key, number in found.items() if number and not key.endswith("_date")}

    query: dict[str, Any] = {"resource_type": "physical:host", "to": end_of(busy, later=120).strftime(FORMAT)}
    try:
        now, later = in_minutes(1), end_of(busy)
        assert states(lessee, now) == {"mine": 2, "maintenance": 1, "free": 1}
        assert states(other, now) == {"taken": 2, "maintenance": 1, "free": 1}
        assert states(lessee, later) == {"taken": 1, "maintenance": 1, "free": 2}
        assert states(other, later) == {"mine": 1, "maintenance": 1, "free": 2}

        rows = ask(other, "GET", "/timeline", **query, resources="true")["resources"]
        states_of_each = sorted([one["state"] for one in each["intervals"]] for each in rows)
        assert states_of_each == [[], ["maintenance"], ["taken"], ["taken", "mine"]]
        names = [*RESERVABLE, busy["id"], busy["name"], lessee.project_id, maintenance["id"], "new disks"]
        assert [each for each in names if each in json.dumps(rows)] == []
        seen = ask(operator, "GET", "/timeline", **query, resources="true")["resources"]
        assert {each["id"] for each in seen} == {each["id"] for each in operator.registered().values()}
    finally:
        operator.blazar.maintenance.delete(maintenance["id"])


@pytest.mark.usefixtures("pool")
def test_a_lessee_is_told_how_to_use_a_lease_of_several_types(operator: Operator, lessee: Actor) -> None:
    addressed = {
        "resource_type": "virtual:floatingip",
        "network_id": lessee.openstack.details.network_id,
        "amount": 1,
        "required_floatingips": [],
    }
    lease = started(
        lessee, ask(lessee, "POST", "/leases", wish(hosts(1, only("node-1")), instances(2), addressed))
    )

    found = ask(lessee, "GET", f"/leases/{lease['id']}/resources")["resources"]

    use = {each["resource_type"]: each["use"] for each in found}
    server = lessee.boot(reservation=use["physical:host"]["scheduler_hints"]["reservation"])
    assert lessee.wait_for_server(server) == "ACTIVE"
    assert operator.host_of_server(server) == "node-1"
    assert len(fill(lessee, operator, use["virtual:instance"]["flavor_id"], 2)) == 2
    tags = ",".join(use["virtual:floatingip"]["floating_ip_tags"])
    network = lessee.openstack.api("network", "lessee")
    listed = network.get("/v2.0/floatingips", params={"tags": tags}).json()["floatingips"]
    assert [each["floating_ip_address"] in ADDRESSES for each in listed] == [True]
    events = ask(lessee, "GET", f"/leases/{lease['id']}/history")["history"]
    assert events
    lessee.end(lease)


def test_free_amounts_follow_the_leases_of_the_cloud(lessee: Actor, other: Actor) -> None:
    unit = {"resource_type": "virtual:instance", "unit": "vcpus=1,memory_mb=300000,disk_gb=1"}

    def free(**query: str) -> int:
        (group,) = ask(other, "GET", "/availability", None, **query)["groups"]
        return int(group["steps"][0]["free"])

    before = free(resource_type="physical:host"), free(**unit)
    lease = started(lessee, ask(lessee, "POST", "/leases", wish(hosts(1), instances(1))))

    assert before == (4, 8)
    assert (free(resource_type="physical:host"), free(**unit)) == (2, 5)
    lessee.end(lease)
    assert (free(resource_type="physical:host"), free(**unit)) == before


def test_requirements_know_the_region(operator: Operator, lessee: Actor) -> None:
    region = str(ask(lessee, "GET", "/catalogue")["catalogue"]["region"])

    lease = started(lessee, ask(lessee, "POST", "/leases", wish(hosts(1, f"region={region}"))))
    elsewhere = ask(lessee, "POST", "/leases", wish(hosts(1, "region=elsewhere")))

    assert len(operator.hosts_of(lease)) == 1
    assert elsewhere["status_code"] == 409
    lessee.end(lease)


def test_a_flexible_search_finds_what_can_be_reserved(
    operator: Operator, lessee: Actor, other: Actor
) -> None:
    busy = started(other, ask(other, "POST", "/leases", wish(hosts(3), minutes=120)))
    wanted = {key: value for key, value in hosts(1).items() if key not in ("min", "max")}
    question: Json = {
        "reservations": [{**wanted, "count": {"least": 1, "most": 4}}],
        "duration_minutes": 30,
        "order": "most",
        "limit": 1,
    }

    (slot,) = ask(lessee, "POST", "/availability/search", question)["slots"]
    answer = ask(lessee, "POST", "/leases", {"name": "found", **slot["request"]})

    assert slot["reservations"][0]["amount"] == 4
    assert answer["status_code"] == 201, answer
    assert operator.booked(answer["lease"]) == set(RESERVABLE)
    lessee.end(answer["lease"])
    other.end(busy)


@pytest.mark.long
def test_an_expired_offer_frees_its_hosts(operator: Operator, lessee: Actor, other: Actor) -> None:
    offer = ask(lessee, "POST", "/offers", {**wish(hosts(4)), "ttl_seconds": 10})["offer"]
    assert ask(other, "POST", "/leases", wish(hosts(1)))["status_code"] == 409

    wait_until(
        lambda: ask(lessee, "GET", f"/offers/{offer['id']}").get("offer", {}).get("status") == "EXPIRED",
        "the offer expires",
        seconds=30,
    )

    late = ask(lessee, "POST", "/leases", {"offer_id": offer["id"], "name": "late"})
    answers: list[Json] = []

    def is_granted() -> bool:
        answers.append(ask(other, "POST", "/leases", wish(hosts(4))))
        return bool(answers[-1]["status_code"] == 201)

    # Its hosts are free within a second after it has expired.
    wait_until(is_granted, "the hosts of the offer are free", seconds=5)
    assert late["status_code"] == 410
    lease = started(other, answers[-1])
    assert operator.hosts_of(lease) == set(RESERVABLE)
    other.end(lease)


@pytest.mark.usefixtures("places")
def test_hosts_are_grouped_by_aggregates(lab: EndToEndLab, operator: Operator, lessee: Actor) -> None:
    assert operator.registered()["node-1"]["place"] == "place-1"

    query: dict[str, Any] = {"resource_type": "physical:host", "group_by": "place"}
    totals = {each["value"]: each["total"] for each in ask(lessee, "GET", "/availability", **query)["groups"]}
    lease = started(lessee, ask(lessee, "POST", "/leases", wish({**hosts(2), "same": "place"})))

    assert (totals["place-1"], totals["place-2"]) == (2, 2)
    assert operator.hosts_of(lease) in ({"node-1", "node-2"}, {"node-3", "node-10"})
    assert lab.refresh_hosts().endswith("0 have changed\n")
    lessee.end(lease)
