"""Refusals of changes of a lease at API 1.1: why, and which change would be possible instead."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from app.floatingips import Pool
from app.http_env import LESSEE, NEWER, STRANGER, HttpEnv, Json, Who, good, host_reservation, quiet_settings
from app.slots import instances
from app.test_quotas import PROJECT, Table
from app.test_refusals import by_kind

from blazar.settings import Settings


def refused(env: HttpEnv, lease: Json, status: int = 409, **keys: Any) -> Json:
    """Return the whole body of a refused change, also by a dry run; check that nothing has changed."""
    before = env.snapshot()
    path = f"/leases/{lease['id']}"
    answers = [env.put(path + query, keys, who=LESSEE, headers=NEWER) for query in ("", "?dry_run=true")]
    assert [each.status_code for each in answers] == [status, status], answers[0].text
    assert answers[0].json == answers[1].json
    assert env.snapshot() == before
    return dict(answers[0].json)


def take(env: HttpEnv, lease: Json, alternative: Json) -> Json:
    """Send an alternative and return the lease."""
    (body,) = alternative["bodies"]
    return dict(good(env.put(f"/leases/{lease['id']}", body, who=LESSEE, headers=NEWER))["lease"])


def is_granted(env: HttpEnv, lease: Json, body: Json) -> bool:
    """Return whether a change would be granted."""
    path = f"/leases/{lease['id']}?dry_run=true"
    return bool(env.put(path, body, who=LESSEE, headers=NEWER).status_code == 200)


def amount(lease: Json, least: int, most: int | None = None, place: int = 0) -> list[Json]:
    return [{"id": lease["reservations"][place]["id"], "min": least, "max": most or least}]


@pytest.mark.parametrize("is_running", [False, True])
def test_an_extension_is_offered_as_far_as_possible(env: HttpEnv, *, is_running: bool) -> None:
    env.register("h1", "h2", rack="r1")
    lease = env.create("now" if is_running else 50, 100, min=2, max=2)
    env.work()
    env.create(160, 200, who=STRANGER)

    answer = refused(env, lease, end_date=env.date(180), before_end_date=env.date(170))

    (shorter,) = by_kind(answer)["shorter"]
    assert shorter == {
        "kind": "shorter",
        "summary": f"end at {env.date(160)} instead of {env.date(180)}",
        "bodies": [{"end_date": env.date(160), "before_end_date": env.date(150)}],
    }
    assert ("later" in by_kind(answer)) is not is_running
    assert answer["reasons"][0]["binding"] == "free"
    assert take(env, lease, shorter)["end_date"] == env.shown(160)


def test_hosts_of_a_running_lease_must_stay_free_for_it(env: HttpEnv) -> None:
    env.register("h1")
    lease = env.create("now", 100)
    env.work()
    env.create(130, 200, who=STRANGER)
    env.register("h2")

    answer = refused(env, lease, end_date=env.date(150))

    assert answer["reasons"] == [
        {
            "resource_type": "physical:host",
            "needed": 1,
            "binding": "kept",
            "summary": "physical:host: enough are free, but not the ones that the active reservation has and"
            " must keep",
            "steps": [
                {"stage": "registered", "left": 2},
                {"stage": "healthy", "left": 2},
                {"stage": "free", "left": 1},
                {"stage": "kept", "left": None},
            ],
        }
    ]
    assert [each["kind"] for each in answer["alternatives"]] == ["shorter"]
    assert take(env, lease, answer["alternatives"][0])["end_date"] == env.shown(130)


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("is_running", [False, True])
def test_the_largest_growth_is_offered(env: HttpEnv, *, is_running: bool) -> None:
    lease = env.create("now" if is_running else 50, 100)
    env.work()
    env.create(70, 200, who=STRANGER)

    answer = refused(env, lease, name="more", reservations=amount(lease, 4))

    (fewer,) = by_kind(answer)["fewer"]
    assert fewer["summary"] == "physical:host: 3 instead of 4"
    assert fewer["bodies"] == [{"name": "more", "reservations": amount(lease, 3)}]
    assert "shorter" not in by_kind(answer)
    take(env, lease, fewer)
    assert len(env.booked(lease)) == 3


def test_a_growth_that_would_change_nothing_is_not_offered(env: HttpEnv) -> None:
    env.register("h1", "h2")
    lease = env.create("now", 100, min=2, max=2)
    env.work()

    assert refused(env, lease, reservations=amount(lease, 3))["alternatives"] == []


def test_an_extension_with_fewer_hosts_names_a_reservation_that_the_request_did_not(env: HttpEnv) -> None:
    env.register("h1", "h2", "h3")
    lease = env.create(50, 100, min=3, max=3)
    env.create(120, 200, who=STRANGER)

    answer = refused(env, lease, end_date=env.date(150))

    (fewer,) = by_kind(answer)["fewer"]
    assert fewer["bodies"] == [{"end_date": env.date(150), "reservations": amount(lease, 2)}]
    take(env, lease, fewer)


def test_a_moved_lease_ignores_its_own_bookings(env: HttpEnv) -> None:
    env.register("h1")
    lease = env.create(100, 200)
    env.create(250, 300, who=STRANGER)

    answer = refused(env, lease, start_date=env.date(160), end_date=env.date(260))

    found = by_kind(answer)
    assert answer["reasons"][0]["binding"] == "free"
    assert found["earlier"][0]["bodies"] == [{"start_date": env.date(150), "end_date": env.date(250)}]
    assert found["later"][0]["bodies"] == [{"start_date": env.date(300), "end_date": env.date(400)}]
    assert found["shorter"][0]["bodies"] == [{"start_date": env.date(160), "end_date": env.date(250)}]
    for each in (found["later"][0], found["earlier"][0]):
        take(env, lease, each)


def test_the_present_time_of_a_lease_is_not_an_alternative(env: HttpEnv) -> None:
    env.register("h1")
    lease = env.create(100, 200)
    env.create("now", 100, who=STRANGER)
    env.create(200, 300, who=STRANGER)

    answer = refused(env, lease, start_date=env.date(150), end_date=env.date(250))

    assert "earlier" not in by_kind(answer)
    assert by_kind(answer)["later"][0]["bodies"][0]["start_date"] == env.date(300)


@pytest.mark.usefixtures("hosts")
def test_each_reservation_has_a_reason_and_new_ones_can_be_fewer(env: HttpEnv, pool: Pool) -> None:
    pool.register(1, 2)
    body = {**env.wish(50, 100), "reservations": [host_reservation(), pool.asked(1)]}
    lease = good(env.post("/leases", body, who=LESSEE), 201)["lease"]

    added = [instances(amount=1, affinity=False), host_reservation(min=9, max=9)]
    answer = refused(env, lease, reservations=[*added, *amount(lease, 2)])

    assert [(each["resource_type"], each["binding"]) for each in answer["reasons"]] == [
        ("physical:host", None),
        ("virtual:floatingip", None),
        ("virtual:instance", None),
        ("physical:host", "registered"),
    ]
    (fewer,) = by_kind(answer)["fewer"]
    assert [each.get("min") for each in fewer["bodies"][0]["reservations"]] == [None, 1, 2]
    assert answer["alternatives"][0]["kind"] == "fewer"
    for each in answer["alternatives"]:
        assert is_granted(env, lease, each["bodies"][0])


@pytest.mark.usefixtures("hosts")
def test_alternatives_are_within_the_quota(env: HttpEnv) -> None:
    table = Table()
    env.restart(replace(env.context, limits=table))
    table.of[PROJECT] = {"host_hours_ahead": 4}
    lease = env.create(60, 120, min=2, max=2)

    answer = refused(env, lease, 403, end_date=env.date(300))

    assert answer["reasons"][0]["binding"] == "quota"
    found = by_kind(answer)
    assert found["shorter"][0]["bodies"] == [{"end_date": env.date(180)}]
    assert found["fewer"][0]["bodies"] == [{"end_date": env.date(300), "reservations": amount(lease, 1)}]
    take(env, lease, found["shorter"][0])


@pytest.mark.usefixtures("hosts")
def test_api_1_0_is_refused_as_before(env: HttpEnv) -> None:
    lease = env.create(100, 200)

    answer = env.put(f"/leases/{lease['id']}", {"reservations": amount(lease, 9)}, who=LESSEE)

    assert answer.status_code == 400
    assert sorted(answer.json) == ["error_code", "error_message", "error_name"]


def busy_site(env: HttpEnv, chance: random.Random) -> None:
    for number in range(5):
        env.register(f"n{number}", rack=chance.choice(["r1", "r2"]))
    for _ in range(10):
        start, count = chance.randrange(1, 300), chance.randint(1, 2)
        body = env.wish(start, start + chance.randrange(1, 90), min=1, max=count)
        env.post("/leases", body, who=STRANGER, headers=NEWER)


def random_change(env: HttpEnv, chance: random.Random, lease: Json, minutes: tuple[int, int]) -> Json:
    """Return a change of dates or of the amount, or of both."""
    start, end = minutes
    body: Json = {}
    kind = chance.randrange(4)
    if kind in (0, 3):
        body["end_date"] = env.date(end + chance.randrange(1, 200))
    if kind in (1, 3):
        body["reservations"] = amount(lease, chance.randint(2, 5))
    if kind == 2 and start:
        start += chance.randrange(1, 150)
        body = {"start_date": env.date(start), "end_date": env.date(start + chance.randrange(1, 150))}
    return body


@pytest.mark.parametrize("cleaning", [0, 7])
@pytest.mark.parametrize("seed", range(8))
def test_alternatives_of_random_refusals_are_granted_and_are_the_best(
    env_with: Callable[[Settings], HttpEnv], seed: int, cleaning: int
) -> None:
    chance = random.Random(seed)
    env = env_with(quiet_settings(cleaning_minutes=cleaning))
    busy_site(env, chance)
    refusals = 0
    for _ in range(12):
        start = chance.choice([0, chance.randrange(1, 200)])
        end = start + chance.randrange(5, 100)
        count = chance.randint(1, 2)
        wish = env.wish(start or "now", end, min=count, max=count)
        made = env.post("/leases", wish, who=LESSEE, headers=NEWER)
        if made.status_code != 201:
            continue
        env.work()
        lease = made.json["lease"]
        body = random_change(env, chance, lease, (start, end))
        answer = env.put(f"/leases/{lease['id']}", body, who=LESSEE, headers=NEWER) if body else made
        if answer.status_code != 409:
            continue
        refusals += 1
        check(env, lease, body, answer.json)
        offered = answer.json["alternatives"]
        if offered:
            take(env, lease, chance.choice(offered))
        env.work()
    assert refusals


def check(env: HttpEnv, lease: Json, body: Json, answer: Json) -> None:
    """Check that each alternative is granted, and the furthest end or the largest number; one more is not."""
    assert any(each["binding"] for each in answer["reasons"])
    ends = {env.date(each): each for each in range(1000)}
    for each in answer["alternatives"]:
        (other,) = each["bodies"]
        assert is_granted(env, lease, other), (body, each)
        if each["kind"] == "shorter":
            assert not is_granted(env, lease, {**other, "end_date": env.date(ends[other["end_date"]] + 1)})
        if each["kind"] == "fewer":
            (reservation,) = other["reservations"]
            more = [{**reservation, "min": reservation["min"] + 1, "max": reservation["min"] + 1}]
            assert not is_granted(env, lease, {**other, "reservations": more})


@pytest.mark.usefixtures("hosts")
def test_a_stranger_learns_nothing_about_a_lease(env: HttpEnv) -> None:
    lease = env.create(100, 200)
    who: Who = STRANGER

    answer = env.put(f"/leases/{lease['id']}", {"reservations": amount(lease, 9)}, who=who, headers=NEWER)

    assert answer.status_code == 403
    assert "reasons" not in answer.json
