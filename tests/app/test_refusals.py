"""Refusals of new leases at API 1.1: why, what would be possible instead, and dry runs."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from app.floatingips import Pool
from app.http_env import (
    ADMIN,
    LESSEE,
    NEWER,
    STRANGER,
    HttpEnv,
    Json,
    Who,
    good,
    host_reservation,
    quiet_settings,
    refusal,
)
from app.slots import instances
from app.test_quotas import PROJECT, Table

from blazar.app.leases import alternatives
from blazar.booking.search import find_in_window
from blazar.settings import Settings

PATH = "/leases"


def refused(env: HttpEnv, body: Json, status: int = 409) -> Json:
    """Return the whole body of a refusal, and check that nothing has changed."""
    before = env.snapshot()
    answer = env.post(PATH, body, who=LESSEE, headers=NEWER)
    assert answer.status_code == status, answer.text
    assert env.snapshot() == before
    return dict(answer.json)


def lease(env: HttpEnv, start: float | str, end: float, *reservations: Json, **keys: Any) -> Json:
    """Return the body of a request for a lease."""
    return {**env.wish(start, end), "reservations": list(reservations), **keys}


def by_kind(answer: Json) -> dict[str, list[Json]]:
    """Return the alternatives of each kind."""
    found: dict[str, list[Json]] = {}
    for each in answer["alternatives"]:
        found.setdefault(each["kind"], []).append(each)
    return found


def take(env: HttpEnv, alternative: Json) -> list[Json]:
    """Return the leases of an alternative, and delete them again."""
    leases = []
    for body in alternative["bodies"]:
        leases.append(good(env.post(PATH, body, who=LESSEE, headers=NEWER), 201)["lease"])
    for each in leases:
        assert env.delete(f"/leases/{each['id']}", who=LESSEE).status_code == 204
    env.work()
    return leases


def times(env: HttpEnv, alternative: Json) -> list[tuple[int, int]]:
    """Return the starts and ends of an alternative's leases, in minutes from now."""
    minutes = {env.date(each): each for each in range(1000)}
    return [(minutes[each["start_date"]], minutes[each["end_date"]]) for each in alternative["bodies"]]


@pytest.mark.usefixtures("hosts")
def test_the_reasons_are_a_funnel_that_marks_what_refuses(env: HttpEnv) -> None:
    env.register("g1", "g2", "g3", gpu="a100")
    env.create(100, 200, resource_properties='["==", "$gpu", "a100"]', min=2, max=2, who=STRANGER)
    asked = host_reservation(min=3, max=3, resource_properties="gpu=a100")

    answer = refused(env, lease(env, 150, 250, asked))

    assert answer["reasons"] == [
        {
            "resource_type": "physical:host",
            "needed": 3,
            "binding": "free",
            "summary": "physical:host: 3 needed, but only 1 free throughout the period",
            "steps": [
                {"stage": "registered", "left": 7},
                {"stage": "healthy", "left": 7},
                {"stage": "requirement", "left": 3, "condition": "gpu=a100"},
                {"stage": "free", "left": 1},
            ],
        }
    ]
    assert answer["error_message"].startswith("Not enough hosts")


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize(
    ("asked", "binding"),
    [
        ({"min": 5, "max": 5}, "registered"),
        ({"min": 4, "max": 4, "resource_properties": "vcpus>=16"}, "free"),
        ({"min": 1, "max": 1, "resource_properties": "vcpus>=999"}, "requirement"),
    ],
)
def test_the_binding_condition(env: HttpEnv, asked: Json, binding: str) -> None:
    env.create(100, 200, who=STRANGER)

    (reason,) = refused(env, lease(env, 150, 250, host_reservation(**asked)))["reasons"]

    assert reason["binding"] == binding


@pytest.mark.usefixtures("hosts")
def test_more_hosts_at_a_later_time_are_an_alternative_to_more_than_there_are(env: HttpEnv) -> None:
    env.create(100, 200, asked=host_reservation(min=2, max=2), who=STRANGER)

    answer = refused(env, lease(env, 150, 250, host_reservation(min=5, max=5)))

    now, later = by_kind(answer)["fewer"]
    assert now["summary"] == "physical:host: 2 instead of 5"
    assert later["summary"].startswith("physical:host: 4 instead of 5, from ")
    assert times(env, later) == [(200, 300)]
    (taken,) = take(env, later)
    assert len(taken["reservations"]) == 1


@pytest.mark.usefixtures("hosts")
def test_every_kind_of_alternative_is_granted(env: HttpEnv) -> None:
    env.register("g1", "g2", gpu="a100")
    env.register("g3", "g4", gpu="h100")
    a100 = host_reservation(min=2, max=2, resource_properties="gpu=a100")
    h100 = host_reservation(min=1, max=1, resource_properties='["==", "$gpu", "h100"]')
    env.create(160, 200, resource_properties='["==", "$gpu", "a100"]', who=STRANGER)
    env.create(100, 110, asked=h100, who=STRANGER)

    answer = refused(env, lease(env, 120, 180, a100, before_end_date=env.date(170)))

    found = by_kind(answer)
    assert {kind: [times(env, each) for each in some] for kind, some in found.items()} == {
        "later": [[(200, 260)]],
        "earlier": [[(100, 160)]],
        "shorter": [[(120, 160)]],
        "fewer": [[(120, 180)]],
        "other_value": [[(120, 180)]],
        "without_condition": [[(120, 180)]],
    }
    assert found["fewer"][0]["summary"] == "physical:host: 1 instead of 2"
    assert found["other_value"][0]["summary"] == "gpu=h100 instead of a100"
    assert found["later"][0]["bodies"][0]["before_end_date"] == env.date(250)
    for each in answer["alternatives"]:
        take(env, each)


@pytest.mark.parametrize("cleaning", [0, 15])
def test_a_lease_is_split_where_other_hosts_are_free_later(
    env_with: Callable[[Settings], HttpEnv], cleaning: int
) -> None:
    env = env_with(quiet_settings(cleaning_minutes=cleaning))
    env.register("h1", rack="r1")
    env.register("h2", rack="r2")
    env.create(170, 300, resource_properties='["==", "$rack", "r1"]', who=STRANGER)
    env.create(100, 135, resource_properties='["==", "$rack", "r2"]', who=STRANGER)

    answer = refused(env, lease(env, 100, 200, host_reservation()))

    (split,) = by_kind(answer)["split"]
    middle = 170 - cleaning
    assert times(env, split) == [(100, middle), (middle, 200)]
    take(env, split)


def test_without_room_there_is_no_alternative(env: HttpEnv) -> None:
    env.register("h1")

    answer = refused(env, lease(env, 100, 200, host_reservation(min=2, max=2)))

    assert by_kind(answer) == {"fewer": [{**by_kind(answer)["fewer"][0]}]}
    assert refused(env, lease(env, 100, 200, host_reservation(resource_properties="vcpus>=999")))


@pytest.mark.usefixtures("hosts")
def test_reservations_of_one_request_must_fit_together(env: HttpEnv, pool: Pool) -> None:
    pool.register(1, 2)
    asked = [host_reservation(min=3, max=3), instances(amount=5, affinity=False), pool.asked(1)]

    answer = refused(env, lease(env, 100, 200, *asked))
    assert [each["binding"] for each in answer["reasons"]] == [None, "registered", None]

    answer = refused(
        env, lease(env, 100, 200, *asked[:1], instances(amount=2, affinity=False), pool.asked(1))
    )
    assert [each["binding"] for each in answer["reasons"]] == ["together"] * 3
    for each in answer["alternatives"]:
        take(env, each)
    assert "fewer" in by_kind(answer)


def test_cleaning_time_has_its_own_step(env_with: Callable[[Settings], HttpEnv]) -> None:
    env = env_with(quiet_settings(cleaning_minutes=15))
    env.register("h1", "h2")
    env.create("now", 100, min=2, max=2, who=STRANGER)

    answer = refused(env, lease(env, 105, 160, host_reservation(min=2, max=2)))

    assert answer["reasons"][0]["binding"] == "cleaned"
    assert times(env, by_kind(answer)["later"][0]) == [(115, 170)]
    take(env, by_kind(answer)["later"][0])


@pytest.mark.usefixtures("hosts")
def test_a_quota_has_a_step_and_alternatives_within_it(env: HttpEnv) -> None:
    table = Table()
    env.restart(replace(env.context, limits=table))
    table.of[PROJECT] = {"reserved_hosts": 2}
    env.create(100, 200)

    answer = refused(env, lease(env, 150, 250, host_reservation(min=2, max=2)), 403)

    assert answer["reasons"][0]["binding"] == "quota"
    found = by_kind(answer)
    assert times(env, found["later"][0]) == [(200, 300)]
    assert found["fewer"][0]["bodies"][0]["reservations"][0]["min"] == 1
    for each in answer["alternatives"]:
        take(env, each)


@pytest.mark.usefixtures("hosts")
def test_api_1_0_is_refused_as_before(env: HttpEnv) -> None:
    body = lease(env, 100, 200, host_reservation(min=5, max=5))

    answer = env.post(PATH, body, who=LESSEE)

    assert sorted(answer.json) == ["error_code", "error_message", "error_name"]
    assert (
        env.post(f"{PATH}?dry_run=true", lease(env, 100, 200, host_reservation()), who=LESSEE).status_code
        == 201
    )


@pytest.mark.usefixtures("hosts")
def test_private_values_and_host_names_are_not_offered(env: HttpEnv) -> None:
    env.register("g1", gpu="a100", owner="secret-team")
    env.register("g2", gpu="h100", owner="secret-team")
    env.patch("/os-hosts/properties/owner", {"private": True}, who=ADMIN)
    env.create(100, 200, resource_properties='["==", "$gpu", "a100"]', who=STRANGER)
    by_name = host_reservation(resource_properties="hypervisor_hostname=g1")

    texts = [
        env.post(PATH, lease(env, 150, 250, asked), who=LESSEE, headers=NEWER).text
        for asked in (by_name, host_reservation(resource_properties="gpu=a100"))
    ]

    assert "h100" in texts[1]
    for secret in ("secret-team", "owner", "g2", "stranger", "elsewhere", '"h1"'):
        assert not [text for text in texts if secret in text], secret


def test_a_dry_run_tells_what_would_be_reserved_and_changes_nothing(env: HttpEnv, pool: Pool) -> None:
    env.register("h1", "h2")
    pool.register(1)
    body = lease(env, 100, 200, host_reservation(min=1, max=5), pool.asked(1))
    before = env.snapshot()

    answer = env.post(f"{PATH}?dry_run=true", body, who=LESSEE, headers=NEWER)

    assert env.snapshot() == before
    preview = good(answer)["preview"]
    assert (preview["start_date"], preview["end_date"]) == (env.date(100), env.date(200))
    assert [(each["resource_type"], each["amount"]) for each in preview["reservations"]] == [
        ("physical:host", 2),
        ("virtual:floatingip", 1),
    ]
    created = good(env.post(PATH, body, who=LESSEE, headers=NEWER), 201)["lease"]
    assert set(preview["reservations"][0]["resources"]) == env.booked(created)
    again = env.post(f"{PATH}?dry_run=true", body, who=LESSEE, headers=NEWER)
    assert again.status_code == 409
    assert again.json["reasons"][0]["binding"] == "free"


def test_a_dry_run_makes_no_server_group(env: HttpEnv) -> None:
    env.register("h1", "h2")
    before = env.snapshot()

    body = lease(env, 100, 200, instances(affinity=False))
    good(env.post(f"{PATH}?dry_run=1", body, who=LESSEE, headers=NEWER))

    assert env.snapshot() == before


def test_a_dry_run_is_not_guessed(env: HttpEnv) -> None:
    env.register("h1")
    before = env.snapshot()

    for value in ("maybe", "", "2"):
        answer = env.post(f"{PATH}?dry_run={value}", lease(env, 1, 2, host_reservation()), headers=NEWER)
        assert "dry_run" in refusal(answer, 400)

    assert env.snapshot() == before


@pytest.mark.parametrize("seed", range(12))
def test_alternatives_of_random_refusals_are_granted(env: HttpEnv, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(5):
        env.register(f"n{number}", gpu=chance.choice(["a100", "h100"]), rack=chance.choice(["r1", "r2"]))
    for _ in range(12):
        start = chance.randrange(1, 300)
        asked = random_host(chance, 2)
        env.post(PATH, lease(env, start, start + chance.randrange(1, 90), asked), who=STRANGER, headers=NEWER)
    refusals = 0
    for _ in range(6):
        start = chance.randrange(1, 300)
        body = lease(env, start, start + chance.randrange(1, 120), random_host(chance, 4))
        answer = env.post(PATH, body, who=LESSEE, headers=NEWER)
        if answer.status_code != 409:
            continue
        refusals += 1
        assert answer.json["reasons"][0]["binding"]
        for each in answer.json["alternatives"]:
            take(env, each)
    assert refusals


def random_host(chance: random.Random, most: int) -> Json:
    count = chance.randint(1, most)
    text = chance.choice(["", "gpu=a100", "gpu=h100,rack=r1", "rack=r2"])
    return host_reservation(min=count, max=count + chance.randint(0, 2), resource_properties=text)


@pytest.mark.usefixtures("hosts")
def test_a_dry_run_of_a_change_tells_what_the_lease_would_be(env: HttpEnv) -> None:
    lease_id = env.create(100, 200, min=1, max=1)["id"]
    env.create(250, 300, min=3, max=3, who=STRANGER)
    path = f"/leases/{lease_id}"
    before = env.snapshot()

    def ask(who: Who = LESSEE, **keys: Any) -> Any:
        return env.put(f"{path}?dry_run=true", keys, who=who, headers=NEWER)

    longer = good(ask(end_date=env.date(240)))["preview"]
    more = [{"id": env.lease(lease_id)["reservations"][0]["id"], "min": 2, "max": 2}]
    larger = good(ask(reservations=more))["preview"]
    same = good(ask(name="other"))["preview"]

    assert (longer["end_date"], longer["reservations"][0]["amount"]) == (env.date(240), 1)
    assert (larger["end_date"], larger["reservations"][0]["amount"]) == (env.date(200), 2)
    assert same["reservations"][0]["resources"] == longer["reservations"][0]["resources"]
    assert [each["at_end"][-1]["time"] for each in (*same["reservations"], *longer["reservations"])] == [
        env.date(200),
        env.date(240),
    ]
    assert ask(end_date=env.date(260), reservations=more).status_code == 409
    assert "end_date" in refusal(ask(end_date="yesterday"), 400)
    assert ask(who=STRANGER, end_date=env.date(240)).status_code == 403
    assert env.snapshot() == before
    good(env.put(path, {"reservations": more}, who=LESSEE, headers=NEWER))
    assert {*larger["reservations"][0]["resources"]} == env.booked({"id": lease_id})


@pytest.mark.usefixtures("hosts")
def test_a_dry_run_of_a_change_checks_the_quota(env: HttpEnv) -> None:
    table = Table()
    env.restart(replace(env.context, limits=table))
    table.of[PROJECT] = {"reserved_hosts": 1}
    created = env.create(100, 200)
    more = [{"id": created["reservations"][0]["id"], "min": 2, "max": 2}]
    before = env.snapshot()

    answer = env.put(
        f"/leases/{created['id']}?dry_run=true", {"reservations": more}, who=LESSEE, headers=NEWER
    )

    assert "reserved_hosts" in refusal(answer, 403)
    assert env.snapshot() == before


def test_a_requirement_with_many_conditions_does_not_cost_more(
    env: HttpEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    env.register("h1", **{f"p{number}": "a" for number in range(60)})
    searches = []

    def find(*arguments: Any) -> Any:
        searches.append(arguments)
        return find_in_window(*arguments)

    monkeypatch.setattr(alternatives, "find_in_window", find)
    asked = host_reservation(resource_properties=",".join(f"p{number}=b" for number in range(60)))

    assert by_kind(refused(env, lease(env, 100, 200, asked))) == {}
    assert 12 <= len(searches) < 30
