"""Resources that are only for certain projects: others neither get nor see them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from app.conftest import EnvWith
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
from app.rules import use_rules
from app.slots import instances
from app.test_catalogue import fail

HOUR = 60
FOR_STRANGERS = (
    f"kind: only_for, only_for_projects: [{STRANGER.project}], applies_to: {{resources: owner=physics}}"
)
COLLEAGUE = Who(user="colleague", project=STRANGER.project)


@pytest.fixture
def own(env: HttpEnv, hosts: list[str]) -> list[str]:
    """Return the ids of two hosts that are only for the project of strangers."""
    return add_own(env)


def add_own(env: HttpEnv) -> list[str]:
    ids = env.register("x1", "x2", owner="physics", rack="r9", secret="yes", slots=12)
    use_rules(env, FOR_STRANGERS)
    return ids


def asked(env: HttpEnv, body: Json, who: Who = LESSEE, path: str = "/leases") -> Any:
    return env.post(path, body, who=who, headers=NEWER)


def test_only_its_projects_get_it(env: HttpEnv, own: list[str]) -> None:
    mine = env.create(HOUR, 2 * HOUR, min=1, max=9)
    theirs = env.create(HOUR, 2 * HOUR, min=1, max=9, who=STRANGER)

    assert len(env.booked(mine)) == 4
    assert env.booked(theirs) == set(own)
    assert asked(env, env.wish(3 * HOUR, 4 * HOUR, min=5, max=5)).status_code == 409
    assert len(env.booked(env.create(3 * HOUR, 4 * HOUR, min=6, max=6, who=COLLEAGUE))) == 6


def test_instances_get_it_neither(env: HttpEnv, own: list[str]) -> None:
    body = {**env.wish(HOUR, 2 * HOUR), "reservations": [instances(amount=5, affinity=False)]}

    assert asked(env, body).status_code == 409
    assert asked(env, body, STRANGER).status_code == 201


def test_the_first_rule_decides(env: HttpEnv, hosts: list[str]) -> None:
    use_rules(
        env,
        "kind: only_for, unlimited: true, applies_to: {resources: slots=8}",
        f"kind: only_for, only_for_projects: [{STRANGER.project}]",
    )

    assert len(env.booked(env.create(HOUR, 2 * HOUR, min=1, max=9))) == 2
    assert len(env.booked(env.create(3 * HOUR, 4 * HOUR, min=1, max=9, who=STRANGER))) == 4


def questions(env: HttpEnv, who: Who) -> Iterator[tuple[str, object]]:
    """Yield what a caller can ask, and the answers, without what differs at every request."""
    env.set_policy({"blazar:oshosts:get_resource_properties": "@"})
    gets = {
        "catalogue": {},
        "availability": {"resource_type": "physical:host", "group_by": "rack"},
        "timeline": {"resource_type": "physical:host", "group_by": "rack"},
        "os-hosts/properties": {"detail": "True"},
    }
    for path, params in gets.items():
        answer = env.get(f"/{path}", params=params, who=who, headers=NEWER)
        yield path, {key: each for key, each in answer.json.items() if key != "etag"}
    rows = env.get(
        "/timeline", params={"resource_type": "physical:host", "resources": "true"}, who=who, headers=NEWER
    )
    yield "rows", len(rows.json["resources"])
    for params in ({"filter": "secret=yes"}, {"group_by": "owner"}, {"filter": "rack=r9"}):
        query = {"resource_type": "physical:host", **params}
        for path in ("/availability", "/timeline"):
            answer = env.get(path, params=query, who=who, headers=NEWER)
            yield f"{path} {params}", (answer.status_code, answer.text)
    reservations = [
        host_reservation(min=5, max=5),
        host_reservation(min=1, max=5, resource_properties="secret=yes"),
        host_reservation(min=1, max=1, resource_properties="rack=r9"),
        host_reservation(min=1, max=1, hypervisor_properties="hypervisor_hostname=x1"),
        host_reservation(min=5, max=5, spread="rack"),
        host_reservation(min=1, max=1, same="owner"),
        host_reservation(min=3, max=3, same="rack"),
        host_reservation(min=2, max=2, resource_properties="rack=r1|r9"),
        instances(amount=500),
        instances(amount=5, affinity=False),
    ]
    for each in reservations:
        body = {**env.wish(HOUR, 2 * HOUR), "reservations": [each]}
        answer = asked(env, body, who, "/leases?dry_run=true")
        yield f"lease {each}", (answer.status_code, answer.json)
        body = {"reservations": [each], "duration_minutes": 60}
        answer = asked(env, body, who, "/availability/search")
        yield f"search {each}", (answer.status_code, answer.json)


@pytest.mark.parametrize("who", [LESSEE, ADMIN], ids=["lessee", "operator"])
def test_for_others_it_is_as_if_it_did_not_exist(env_with: EnvWith, who: Who) -> None:
    answers = []
    for has_own in (False, True):
        env = env_with(quiet_settings(cleaning_minutes=5))
        env.register("h1", "h2", rack="r1", slots=8)
        env.register("h3", "h4", rack="r2", slots=10)
        if has_own:
            add_own(env)
            env.create(HOUR, 2 * HOUR, resource_properties='["==", "$secret", "yes"]', who=STRANGER)
        answers.append(dict(questions(env, who)))

    without, hidden = answers
    for question, answer in without.items():
        assert hidden[question] == answer, question


def test_its_projects_see_it(env: HttpEnv, own: list[str]) -> None:
    found = dict(questions(env, STRANGER))

    assert '"r9"' in str(found["availability"]).replace("'", '"')
    assert found["rows"] == 6
    assert "secret" in str(found["os-hosts/properties"])
    listed = good(env.get("/os-hosts/properties", params={"all": "True"}, who=ADMIN))["resource_properties"]
    assert "secret" in {each["property"] for each in listed}


def test_tags_of_free_amounts_differ_between_projects(env: HttpEnv, own: list[str]) -> None:
    tags = {
        env.get("/availability", params={"resource_type": "physical:host"}, who=who, headers=NEWER).headers[
            "ETag"
        ]
        for who in (LESSEE, STRANGER)
    }

    assert len(tags) == 2


def test_a_lease_keeps_it_until_its_end_but_not_longer(env: HttpEnv, hosts: list[str]) -> None:
    env.register("x1", "x2", owner="physics")
    lease = env.create("now", 2 * HOUR, min=6, max=6)
    ahead = env.create(10 * HOUR, 12 * HOUR, min=2, max=2, resource_properties='["==", "$owner", "physics"]')
    env.work()
    use_rules(env, FOR_STRANGERS)

    env.change(lease, end_date=env.date(HOUR))
    env.change(ahead, start_date=env.date(11 * HOUR))
    assert len(env.booked(lease)) == 6
    later = {"end_date": env.date(3 * HOUR)}
    assert env.put(f"/leases/{lease['id']}", later, who=LESSEE, headers=NEWER).status_code == 409
    later = {"end_date": env.date(13 * HOUR)}
    assert env.put(f"/leases/{ahead['id']}", later, who=LESSEE, headers=NEWER).status_code in (400, 409)


@pytest.mark.parametrize("start", ["now", 5 * HOUR])
def test_healing_does_not_take_it_for_others(env: HttpEnv, own: list[str], start: str | int) -> None:
    lease = env.create(start, 9 * HOUR, min=4, max=4)
    theirs = env.create(start, 9 * HOUR, min=1, max=1, who=STRANGER)
    env.work()
    (free,) = set(own) - env.booked(theirs)
    for each in (*sorted(env.booked(lease))[:1], *env.booked(theirs)):
        fail(env, each)
        with env.context.store.begin() as transaction:
            transaction.work.schedule([lease["id"], theirs["id"]], env.clock.now())
            transaction.commit()
        env.work()
    env.pass_time(5 * HOUR + 1)

    assert free not in env.booked(lease)
    assert env.booked(theirs) == {free}
    assert env.lease(lease["id"])["reservations"][0]["missing_resources"] is True


@pytest.mark.usefixtures("own")
def test_an_offer_is_not_completed_with_it(env: HttpEnv, hosts: list[str]) -> None:
    body = env.wish(HOUR, 2 * HOUR, min=4, max=4)
    offer = good(asked(env, body, LESSEE, "/offers"), 201)["offer"]
    fail(env, hosts[0])

    answer = asked(env, {"name": "n", "offer_id": offer["id"]})

    assert answer.status_code == 409
    assert "Not enough hosts" in answer.json["error_message"]


def test_a_rule_that_is_only_logged_hides_nothing(
    env: HttpEnv, own: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    use_rules(env, f"{FOR_STRANGERS}, mode: log")

    with caplog.at_level(logging.INFO, "blazar.app.usage_rules"):
        lease = env.create(HOUR, 2 * HOUR, min=6, max=6)
        env.create(3 * HOUR, 4 * HOUR, min=6, max=6, who=STRANGER)

    (message,) = caplog.messages
    assert message.startswith("usage rule would refuse: rule=rule-1 kind=only_for")
    assert f"lease_id={lease['id']}" in message
    assert '"rack": "r9"' in env.get("/os-hosts", who=ADMIN).text


def test_the_message_of_a_refusal_tells_nothing(env: HttpEnv, own: list[str]) -> None:
    text = refusal(
        env.post("/leases", env.wish(HOUR, 2 * HOUR, resource_properties='["==", "$secret", "yes"]')), 400
    )

    assert text.startswith("hypervisor_properties, resource_properties: no host has a property named secret")


def test_maintenance_moves_nobody_to_it(env: HttpEnv, own: list[str]) -> None:
    mine = env.create(HOUR, 2 * HOUR, min=4, max=4)
    theirs = env.create(HOUR, 2 * HOUR, who=STRANGER)
    body = {"resources": ["h1", "x1"]}

    plan = good(env.post("/maintenance", body, headers=NEWER), 201)["maintenance"]

    assert [each["lease_id"] for each in plan["unmovable"]] == [mine["id"]]
    moved = [each["lease_id"] for each in plan["moves"]]
    assert moved == ([theirs["id"]] if env.booked(theirs) == {own[1]} else [])
    assert env.booked(mine).isdisjoint(own)
