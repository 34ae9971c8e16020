"""Reservations with the same value of a property, or spread over its values, over HTTP."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from app.http_env import (
    ADMIN,
    LESSEE,
    NEWER,
    STRANGER,
    HttpEnv,
    Json,
    good,
    host_reservation,
    refusal,
)
from app.slots import instances
from app.test_refusals import by_kind, refused, take

from blazar.booking.health import record_health
from blazar.domain.grouped_times import GroupedTimes
from blazar.domain.health import Diagnosis, Health
from blazar.domain.start_times import Profile
from blazar.plugins.hosts.store import HOST_STORE

RACKS = {"r1": ("a1", "a2", "a3"), "r2": ("b1", "b2"), "r3": ("c1",)}


@pytest.fixture
def env(env: HttpEnv) -> HttpEnv:
    """Return the service with six hosts in three racks, and one without a rack."""
    for rack, names in RACKS.items():
        env.register(*names, rack=rack)
    env.register("d1")
    return env


def create(env: HttpEnv, *reservations: Json, start: float = 100, end: float = 200, **keys: Any) -> Json:
    body = {**env.wish(start, end), "reservations": list(reservations), **keys}
    return dict(good(env.post("/leases", body, who=LESSEE, headers=NEWER), 201)["lease"])


def shown(env: HttpEnv, lease: Json) -> Json:
    return dict(good(env.get(f"/leases/{lease['id']}", who=LESSEE, headers=NEWER))["lease"])


def names(env: HttpEnv, lease: Json) -> list[str]:
    path = f"/leases/{lease['id']}/allocations"
    return sorted(each["name"] for each in good(env.get(path, who=LESSEE, headers=NEWER))["allocations"])


def racks(env: HttpEnv, lease: Json) -> list[str]:
    rack_of = {name: rack for rack, some in RACKS.items() for name in some}
    return [rack_of[each] for each in names(env, lease)]


def change(env: HttpEnv, lease: Json, **keys: Any) -> Any:
    body = {"reservations": [{"id": lease["reservations"][0]["id"], **keys}]}
    return env.put(f"/leases/{lease['id']}", body, who=LESSEE, headers=NEWER)


def hosts(count: int, **keys: Any) -> Json:
    return {**host_reservation(min=count, max=count), **keys}


def test_all_hosts_are_in_one_rack(env: HttpEnv) -> None:
    lease = create(env, hosts(2, same="rack"))

    assert names(env, lease) == ["b1", "b2"]
    assert shown(env, lease)["reservations"][0]["same"] == "rack"
    assert "same" not in good(env.get(f"/leases/{lease['id']}", who=LESSEE))["lease"]["reservations"][0]


def test_hosts_are_spread_over_racks(env: HttpEnv) -> None:
    lease = create(env, hosts(4, spread="$rack"))

    assert sorted(racks(env, lease)) == ["r1", "r1", "r2", "r3"] or sorted(racks(env, lease)) == [
        "r1",
        "r2",
        "r2",
        "r3",
    ]
    assert shown(env, lease)["reservations"][0]["spread"] == "rack"


def test_instances_are_spread_over_racks(env: HttpEnv) -> None:
    lease = create(env, instances(amount=3, spread="rack"))

    assert sorted(racks(env, lease)) == ["r1", "r2", "r3"]


def test_two_reservations_may_be_in_different_racks(env: HttpEnv) -> None:
    lease = create(env, hosts(2, same="rack"), hosts(3, same="rack"))

    assert sorted(racks(env, lease)) == ["r1", "r1", "r1", "r2", "r2"]


def test_an_older_client_gets_what_it_asked_for(env: HttpEnv) -> None:
    body = {**env.wish(100, 200), "reservations": [hosts(7, same="rack")]}

    lease = good(env.post("/leases", body, who=LESSEE), 201)["lease"]

    assert len(names(env, lease)) == 7


def test_a_refusal_names_the_property_and_offers_the_lease_without_it(env: HttpEnv) -> None:
    body = {**env.wish(100, 200), "reservations": [hosts(4, same="rack")]}

    answer = refused(env, body)

    (reason,) = answer["reasons"]
    assert reason["binding"] == "same"
    assert reason["steps"][-1] == {"stage": "same", "left": 3, "condition": "rack"}
    assert reason["summary"] == "physical:host: 4 needed, but only 3 of 7 free ones with the same rack"
    found = by_kind(answer)
    assert found["fewer"][0]["summary"] == "physical:host: 3 instead of 4"
    assert found["without_condition"][0]["summary"] == "without same=rack"
    for each in answer["alternatives"]:
        take(env, each)


def test_a_search_finds_the_first_time_at_which_one_rack_is_free(env: HttpEnv) -> None:
    taken = env.create(100, 150, resource_properties='["==", "$rack", "r1"]', min=2, max=2, who=STRANGER)
    body = {
        "reservations": [hosts(3, same="rack")],
        "duration_minutes": 30,
        "earliest_start": env.date(100),
        "latest_end": env.date(600),
    }

    slots = good(env.post("/availability/search", body, who=LESSEE, headers=NEWER))["slots"]

    assert slots[0]["start_date"] == env.date(150)
    assert taken


@pytest.mark.parametrize("key", ["same", "spread"])
def test_a_search_counts_the_values_without_the_lock_of_the_index(
    env: HttpEnv, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = env.context.indexes["host"]
    searched = []
    count = GroupedTimes.profile

    def count_while_others_search(self: GroupedTimes) -> Profile:
        other = threading.Thread(target=index.refresh, daemon=True)
        other.start()
        other.join(30)
        searched.append(not other.is_alive())
        return count(self)

    monkeypatch.setattr(GroupedTimes, "profile", count_while_others_search)
    body = {"reservations": [hosts(1, **{key: "hypervisor_hostname"})], "duration_minutes": 30}

    answer = good(env.post("/availability/search", body, who=LESSEE, headers=NEWER))

    assert (len(answer["slots"]), answer["complete"]) == (1, True)
    assert searched == [True]


def test_a_failed_host_is_replaced_in_its_rack_or_all_of_them_move(env: HttpEnv) -> None:
    lease = create(env, hosts(2, same="rack"))
    assert names(env, lease) == ["b1", "b2"]

    with env.context.store.read() as transaction:
        broken = transaction.of(HOST_STORE).find_by_hostname("b1")
    assert broken is not None
    record_health(env.context, "monitor", broken.id, "b1", Diagnosis(health=Health.FAILED, problem="down"))
    env.pass_time(60)  # before that, the failure may pass without healing

    assert racks(env, lease) == ["r1", "r1"]


def test_an_active_lease_grows_only_in_its_rack(env: HttpEnv) -> None:
    lease = create(env, hosts(2, same="rack", resource_properties="rack=r1|r2"))
    assert racks(env, lease) == ["r2", "r2"]
    env.pass_time(101)

    grown = change(env, lease, min=3, max=3)

    assert grown.status_code == 409
    assert racks(env, lease) == ["r2", "r2"]
    assert refusal(change(env, lease, same="vcpus"), 409) == (
        "same: cannot be set while the reservation is active; it can only be removed"
    )
    good(change(env, lease, same=None, min=3, max=3))
    assert len(names(env, lease)) == 3
    assert shown(env, lease)["reservations"][0]["same"] is None


def test_a_lease_that_has_not_started_moves_to_one_rack_if_asked(env: HttpEnv) -> None:
    lease = create(env, hosts(3, spread="rack"))
    assert sorted(racks(env, lease)) == ["r1", "r2", "r3"]

    good(change(env, lease, same="rack", spread=None))

    assert racks(env, lease) == ["r1", "r1", "r1"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"same": "shelf"}, "same: no resource has a property named shelf"),
        ({"same": 3}, "same: must be the name of a property, or null"),
        ({"spread": ""}, "spread: must be the name of a property, or null"),
        ({"spread": "x" * 256}, "spread: must be the name of a property, or null"),
        ({"same": "rack", "spread": "$rack"}, "spread: must not be the property of same"),
    ],
)
def test_bad_input(env: HttpEnv, keys: Json, message: str) -> None:
    before = env.snapshot()
    body = {**env.wish(100, 200), "reservations": [hosts(1, **keys)]}

    assert refusal(env.post("/leases", body, who=LESSEE, headers=NEWER), 400) == message
    assert env.snapshot() == before


def test_a_private_property_cannot_be_found_out(env: HttpEnv) -> None:
    good(env.patch("/os-hosts/properties/rack", {"private": True}, who=ADMIN))
    body = {**env.wish(100, 200), "reservations": [hosts(1, same="rack")]}

    answer = env.post("/leases", body, who=LESSEE, headers=NEWER)

    assert refusal(answer, 400) == "same: no resource has a property named rack"
    good(env.post("/leases", body, who=ADMIN, headers=NEWER), 201)


def test_an_affinity_cannot_be_spread(env: HttpEnv) -> None:
    body = {**env.wish(100, 200), "reservations": [instances(affinity=True, spread="rack")]}

    answer = env.post("/leases", body, who=LESSEE, headers=NEWER)

    assert refusal(answer, 400) == "spread: cannot be combined with affinity, which asks for one host"


def test_an_offer_keeps_it(env: HttpEnv) -> None:
    body = {**env.wish(100, 200), "reservations": [hosts(2, same="rack")]}
    offer = good(env.post("/offers", body, who=LESSEE, headers=NEWER), 201)["offer"]

    made = env.post("/leases", {"offer_id": offer["id"], "name": "taken"}, who=LESSEE, headers=NEWER)

    lease = good(made, 201)["lease"]
    assert racks(env, lease) == ["r2", "r2"]
    assert shown(env, lease)["reservations"][0]["same"] == "rack"
