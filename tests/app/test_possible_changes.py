"""Searches for changes of a lease: how far it can be extended, grow, and be moved."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from app.floatingips import Pool
from app.http_env import LESSEE, NEWER, STRANGER, HttpEnv, Json, Who, good, host_reservation, refusal
from app.slots import instances
from app.test_change_refusals import amount, busy_site, is_granted
from app.test_quotas import PROJECT, Table

from blazar.app.leases.change_trials import ChangeTrials

PATH = "/availability/search"


def ask(env: HttpEnv, lease: Json, who: Who = LESSEE, **keys: Any) -> Any:
    return env.post(PATH, {"lease_id": lease["id"], **keys}, who=who, headers=NEWER)


def changes(env: HttpEnv, lease: Json, **keys: Any) -> Json:
    """Return the possible changes in the next ten hours; the search has no effect."""
    before = env.snapshot()
    found = good(ask(env, lease, **{"latest_end": env.date(600), **keys}))
    assert env.snapshot() == before
    return found


@pytest.mark.usefixtures("hosts")
def test_a_lease_can_be_extended_grow_and_be_moved(env: HttpEnv) -> None:
    lease = env.create(100, 200, min=2, max=2)
    env.create(150, 300, who=STRANGER)
    env.create(250, 300, min=2, max=2, who=STRANGER)

    assert changes(env, lease) == {
        "id": lease["id"],
        "latest_end_date": env.date(250),
        "reservations": [
            {
                "id": lease["reservations"][0]["id"],
                "resource_type": "physical:host",
                "amount": 2,
                "largest_amount": 3,
            }
        ],
        "slots": [
            {
                "start_date": env.date(start),
                "end_date": env.date(start + 100),
                "latest_start_date": env.date(latest),
                "reservations": [{"resource_type": "physical:host", "amount": 2}],
            }
            for start, latest in ((0, 150), (300, 500))
        ],
    }
    assert len(changes(env, lease, limit=1)["slots"]) == 1
    assert changes(env, lease, latest_end=env.date(230))["latest_end_date"] == env.date(230)
    assert changes(env, lease, latest_end=env.date(200))["latest_end_date"] is None


def test_a_running_lease_cannot_be_moved(env: HttpEnv, pool: Pool) -> None:
    env.register("h1", "h2")
    pool.register(1, 2, 3)
    asked = [host_reservation(), pool.asked(1)]
    lease = good(env.post("/leases", {**env.wish(end=100), "reservations": asked}, who=LESSEE), 201)["lease"]
    env.work()
    env.create(150, 300, min=2, max=2, who=STRANGER)

    found = changes(env, lease)

    assert found["slots"] == []
    assert found["latest_end_date"] == env.date(150)
    assert [(each["amount"], each["largest_amount"]) for each in found["reservations"]] == [(1, 2), (1, 3)]


def test_instances_grow_on_the_hosts_that_are_free(env: HttpEnv) -> None:
    env.register("h1", "h2")
    body = {**env.wish(100, 200), "reservations": [instances(amount=2, affinity=None)]}
    lease = good(env.post("/leases", body, who=LESSEE), 201)["lease"]

    (reservation,) = changes(env, lease)["reservations"]

    largest = reservation["largest_amount"]
    assert largest > 2
    for count, granted in ((largest, True), (largest + 1, False)):
        keys = [{"id": reservation["id"], "amount": count}]
        assert is_granted(env, lease, {"reservations": keys}) is granted


@pytest.mark.usefixtures("hosts")
def test_the_quota_counts(env: HttpEnv) -> None:
    table = Table()
    env.restart(replace(env.context, limits=table))
    table.of[PROJECT] = {"host_hours_ahead": 4}
    lease = env.create(60, 120, min=2, max=2)

    found = changes(env, lease)

    assert found["latest_end_date"] == env.date(180)
    assert found["reservations"][0]["largest_amount"] == 4


@pytest.mark.usefixtures("hosts")
def test_only_those_who_may_change_the_lease_may_ask(env: HttpEnv) -> None:
    lease = env.create(100, 200)
    path = f"/leases/{lease['id']}"

    assert ask(env, lease, who=STRANGER).json == env.get(path, who=STRANGER, headers=NEWER).json
    assert "blazar:leases:get" in refusal(ask(env, lease, who=STRANGER), 403)
    unknown = {"id": "5b0c8f4e-61d7-4f0a-9c55-2d3a7be01f10"}
    assert unknown["id"] in refusal(ask(env, unknown), 404)
    refusal(ask(env, unknown, who=STRANGER), 404)


@pytest.mark.usefixtures("hosts")
def test_invalid_questions(env: HttpEnv) -> None:
    lease = env.create("now", 10)

    assert "duration_minutes" in refusal(ask(env, lease, duration_minutes=60), 400)
    assert "reservations" in refusal(ask(env, lease, reservations=[host_reservation()]), 400)
    assert "limit" in refusal(ask(env, lease, limit=0), 400)
    assert "lease_id" in refusal(env.post(PATH, {"lease_id": 5}, who=LESSEE, headers=NEWER), 400)
    assert "reservations" in refusal(env.post(PATH, {}, who=LESSEE, headers=NEWER), 400)
    env.pass_time(20)
    assert "has ended" in refusal(ask(env, lease), 400)


@pytest.mark.parametrize("seed", range(6))
def test_answers_of_random_sites_are_granted_and_are_the_best(env: HttpEnv, seed: int) -> None:
    chance = random.Random(seed)
    busy_site(env, chance)
    for _ in range(6):
        start = chance.choice([0, chance.randrange(1, 200)])
        end, count = start + chance.randrange(5, 100), chance.randint(1, 2)
        wish = env.wish(start or "now", end, min=count, max=count)
        made = env.post("/leases", wish, who=LESSEE, headers=NEWER)
        env.work()
        if made.status_code == 201:
            check(env, made.json["lease"], end)


def check(env: HttpEnv, lease: Json, end: int) -> None:
    found = changes(env, lease)
    ends = {env.date(each): each for each in range(601)}
    latest = ends[found["latest_end_date"] or env.date(end)]
    assert latest == end or is_granted(env, lease, {"end_date": env.date(latest)})
    assert latest == 600 or not is_granted(env, lease, {"end_date": env.date(latest + 1)})
    largest = found["reservations"][0]["largest_amount"]
    assert is_granted(env, lease, {"reservations": amount(lease, largest)})
    assert not is_granted(env, lease, {"reservations": amount(lease, largest + 1)})
    for each in found["slots"]:
        assert is_granted(env, lease, {key: each[key] for key in ("start_date", "end_date")})


@pytest.mark.usefixtures("hosts")
def test_the_search_for_a_larger_amount_ends_if_any_amount_is_possible(
    env: HttpEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = env.create(100, 200)
    monkeypatch.setattr(ChangeTrials, "is_granted", lambda *_: True)

    assert changes(env, lease)["reservations"][0]["largest_amount"] > 1_000_000
