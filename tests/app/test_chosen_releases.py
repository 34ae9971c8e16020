"""Release of certain hosts and addresses of a reservation."""

from __future__ import annotations

from typing import Any

import pytest
from app.floatingips import Pool, address
from app.http_env import LESSEE, NEWER, STRANGER, Answer, HttpEnv, Json, good, host_reservation, refusal
from app.slots import instances


def put(env: HttpEnv, lease: Json, *released: Any, place: int = 0, query: str = "", **keys: Any) -> Answer:
    items = [{"id": lease["reservations"][place]["id"], "release": list(released)}]
    body = {"reservations": items, **keys}
    return env.put(f"/leases/{lease['id']}{query}", body, who=LESSEE, headers=NEWER)


def held(env: HttpEnv, lease: Json, place: int = 0) -> list[str]:
    """Return the ids of the resources of a reservation, as its lessee reads them."""
    path = f"/leases/{lease['id']}/allocations"
    found = good(env.get(path, who=LESSEE, headers=NEWER))["allocations"]
    key = lease["reservations"][place]["id"]
    return sorted(each["resource_id"] for each in found if each["reservation_id"] == key)


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("is_running", [False, True])
def test_exactly_the_chosen_hosts_are_released(env: HttpEnv, *, is_running: bool) -> None:
    lease = env.create("now" if is_running else 50, 100, min=1, max=3)
    env.work()
    first, *others = held(env, lease)

    preview = good(put(env, lease, first, query="?dry_run=true"))["preview"]
    answer = good(put(env, lease, first))
    env.work()

    assert preview["reservations"][0]["resources"] == others
    (change,) = answer["changes"]
    assert change == {
        "id": lease["reservations"][0]["id"],
        "resource_type": "physical:host",
        "kept": others,
        "added": [],
        "released": [first],
    }
    reservation = answer["lease"]["reservations"][0]
    assert (reservation["min"], reservation["max"]) == (1, 2)
    assert held(env, lease) == others
    assert env.status(lease) == ("ACTIVE" if is_running else "PENDING")
    if is_running:
        assert len(env.members(lease)) == 2
    env.create(60, 90, min=2, max=2, who=STRANGER)


@pytest.mark.parametrize("is_running", [False, True])
def test_a_released_address_is_no_longer_required(env: HttpEnv, pool: Pool, *, is_running: bool) -> None:
    pool.register(1, 2, 3)
    asked = [pool.asked(2, 1, 2)]
    body = {**env.wish("now" if is_running else 50, 100), "reservations": asked}
    lease = good(env.post("/leases", body, who=LESSEE), 201)["lease"]
    env.work()
    path = f"/leases/{lease['id']}/allocations"
    names = {
        each["name"]: each["resource_id"]
        for each in good(env.get(path, who=LESSEE, headers=NEWER))["allocations"]
    }

    answer = good(put(env, lease, names[address(1)]))
    env.work()

    (reservation,) = answer["lease"]["reservations"]
    assert (reservation["amount"], reservation["required_floatingips"]) == (1, [address(2)])
    assert held(env, lease) == [names[address(2)]]


@pytest.mark.usefixtures("hosts")
def test_a_release_can_make_an_extension_possible(env: HttpEnv) -> None:
    lease = env.create("now", 100, min=4, max=4)
    env.work()
    taken = env.create(120, 200, who=STRANGER)
    (blocked,) = env.booked(taken)

    assert (
        env.put(f"/leases/{lease['id']}", {"end_date": env.date(150)}, who=LESSEE, headers=NEWER).status_code
        == 409
    )
    answer = good(put(env, lease, blocked, end_date=env.date(150)))

    assert answer["changes"][0]["released"] == [blocked]
    assert answer["lease"]["end_date"] == env.shown(150)


def test_a_host_with_servers_is_not_released(env: HttpEnv) -> None:
    ids = env.register("h1", "h2")
    lease = env.create("now", 100, min=2, max=2)
    env.work()
    env.cloud.boot_server("s", "project", reservation_id=lease["reservations"][0]["id"], service_host="h1")
    before = env.snapshot()

    for query in ("", "?dry_run=true"):
        message = refusal(put(env, lease, ids[0], query=query), 409)
        assert message.startswith("release: "), message
    assert env.snapshot() == before
    good(put(env, lease, ids[1]))


@pytest.mark.usefixtures("hosts")
def test_invalid_releases_name_the_key(env: HttpEnv) -> None:
    asked = [host_reservation(min=2, max=2), instances(amount=1, affinity=None)]
    lease = good(env.post("/leases", {**env.wish(50, 100), "reservations": asked}, who=LESSEE), 201)["lease"]
    ids = held(env, lease)
    other = env.create(50, 100, who=STRANGER)
    before = env.snapshot()

    for released in (["999"], ["x" * 300], [*env.booked(other)], [ids[0], "unknown"], ids, [], [5]):
        assert refusal(put(env, lease, *released), 400).startswith("release"), released
    item = {"id": lease["reservations"][0]["id"], "release": [ids[0]]}
    for more in ({"max": 3}, {"remove": True}):
        body = {"reservations": [{**item, **more}]}
        answer = env.put(f"/leases/{lease['id']}", body, who=LESSEE, headers=NEWER)
        assert refusal(answer, 400).split(":")[0] in ("release", "remove")
    of_instances = held(env, lease, 1)
    assert "virtual:instance" in refusal(put(env, lease, *of_instances, place=1), 409)
    assert env.snapshot() == before


@pytest.mark.usefixtures("hosts")
def test_api_1_0_ignores_the_key(env: HttpEnv) -> None:
    lease = env.create(50, 100, min=2, max=2)
    body = {"reservations": [{"id": lease["reservations"][0]["id"], "release": held(env, lease)[:1]}]}

    answer = good(env.put(f"/leases/{lease['id']}", body, who=LESSEE))

    assert sorted(answer) == ["lease"]
    assert "changes" not in answer["lease"]
    assert len(held(env, lease)) == 2
