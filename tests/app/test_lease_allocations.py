"""The resources of a lease, as its owner sees them."""

from __future__ import annotations

import pytest
from app.floatingips import Pool
from app.http_env import (
    ADMIN,
    LESSEE,
    NEWER,
    READER,
    STRANGER,
    HttpEnv,
    Json,
    Who,
    good,
    host_reservation,
    refusal,
)
from app.slots import instances


def held(env: HttpEnv, lease: Json, who: Who = LESSEE) -> list[Json]:
    path = f"/leases/{lease['id']}/allocations"
    found: list[Json] = good(env.get(path, who=who, headers=NEWER))["allocations"]
    return found


@pytest.mark.usefixtures("hosts")
def test_the_owner_sees_number_and_names_of_his_hosts_and_nothing_of_others(env: HttpEnv) -> None:
    lease = env.create("now", 60, min=1, max=500, resource_properties='["==", "$rack", "r1"]')
    env.create(70, 90, who=STRANGER, min=4, max=4)
    other = env.create("now", 60, who=STRANGER, min=2, max=2)

    found = held(env, lease)

    assert [each["name"] for each in found] == ["h1", "h2"]
    assert found[0] == {
        "reservation_id": lease["reservations"][0]["id"],
        "resource_type": "physical:host",
        "resource_id": found[0]["resource_id"],
        "name": "h1",
        "amount": 1,
        "start_date": env.shown(0),
        "end_date": env.shown(60),
    }
    assert held(env, lease, READER) == held(env, lease, ADMIN) == found
    for who, wanted_lease in ((LESSEE, other), (STRANGER, lease)):
        answer = env.get(f"/leases/{wanted_lease['id']}/allocations", who=who, headers=NEWER)
        assert "blazar:leases:get" in refusal(answer, 403)


@pytest.mark.usefixtures("hosts")
def test_slots_and_addresses_are_shown_with_their_reservations(env: HttpEnv, pool: Pool) -> None:
    pool.register(1, 2)
    asked = [
        instances(amount=3, affinity=True),
        host_reservation(resource_properties='["==", "$rack", "r2"]'),
        pool.asked(1),
    ]
    body = {**env.wish(10, 60), "reservations": asked}
    lease = good(env.post("/leases", body, who=LESSEE), 201)["lease"]
    slots, whole, addresses = (each["id"] for each in lease["reservations"])

    found = {each["reservation_id"]: (each["name"], each["amount"]) for each in held(env, lease)}

    assert found.keys() == {slots, whole, addresses}
    assert found[slots][1] == 3
    assert found[whole] == ("h3", 1)
    assert found[addresses][0].startswith("203.0.113.")


@pytest.mark.usefixtures("hosts")
def test_a_lease_that_is_over_holds_nothing_and_an_unknown_one_is_not_found(env: HttpEnv) -> None:
    lease = env.create("now", 5)
    env.pass_time(6)

    assert held(env, lease) == []
    refusal(env.get("/leases/nowhere/allocations", who=LESSEE, headers=NEWER), 404)


@pytest.mark.usefixtures("hosts")
def test_a_site_can_keep_the_hosts_of_a_lease_from_its_owner(env: HttpEnv) -> None:
    lease = env.create("now", 60)
    env.set_policy({"blazar:leases:get_allocations": "rule:admin"})

    answer = env.get(f"/leases/{lease['id']}/allocations", who=LESSEE, headers=NEWER)

    assert "blazar:leases:get_allocations" in refusal(answer, 403)
    assert len(held(env, lease, ADMIN)) == 1


@pytest.mark.usefixtures("hosts")
def test_how_to_use_a_reservation_is_told_while_it_is_active(env: HttpEnv, pool: Pool) -> None:
    pool.register(1)
    asked = [instances(amount=2, affinity=True), host_reservation(), pool.asked(1)]
    body = {**env.wish("now", 60), "reservations": asked}
    lease = good(env.post("/leases", body, who=LESSEE), 201)["lease"]

    before = resources(env, lease)
    env.pass_time(2)
    slots, host, address = resources(env, lease)

    assert [each["use"] for each in before] == [None, None, None]
    group = env.lease(lease["id"])["reservations"][0]["server_group_id"]
    assert slots["use"] == {"flavor_id": slots["reservation_id"], "scheduler_hints": {"group": group}}
    assert host["use"] == {"scheduler_hints": {"reservation": host["reservation_id"]}}
    assert address["use"] == {"floating_ip_tags": [f"reservation:{address['reservation_id']}"]}
    tagged = env.cloud.networks.list_floating_ips(tags=frozenset(address["use"]["floating_ip_tags"]))
    assert [each.address for each in tagged] == [each["name"] for each in address["resources"]]
    (held,) = host["resources"]
    assert held == {
        "id": held["id"],
        "name": held["name"],
        "amount": 1,
        "start_date": env.shown(0),
        "end_date": env.shown(60),
    }
    assert env.members({"reservations": [{"id": host["reservation_id"]}]}) == {held["name"]}
    answer = env.get(f"/leases/{lease['id']}/resources", who=STRANGER, headers=NEWER)
    assert "blazar:leases:get" in refusal(answer, 403)


def resources(env: HttpEnv, lease: Json) -> list[Json]:
    answer = env.get(f"/leases/{lease['id']}/resources", who=LESSEE, headers=NEWER)
    found: list[Json] = good(answer)["resources"]
    return found
