"""Requests with an idempotency key: repeating one creates no second lease."""

from __future__ import annotations

from datetime import timedelta

import pytest
from app.http_env import ADMIN, LESSEE, READER, STRANGER, Answer, HttpEnv, Who, good, refusal

from blazar.reconcile.periodic.tasks import DELETE_ANSWERS

pytestmark = pytest.mark.usefixtures("hosts")
DAY = 24 * 60


def post(env: HttpEnv, body: object, key: str = "k", who: Who = LESSEE, version: str = "1.1") -> Answer:
    headers = {"OpenStack-API-Version": f"reservation {version}", "Idempotency-Key": key}
    return env.post("/leases", body, who=who, headers=headers)


def count(env: HttpEnv) -> int:
    return len(good(env.get("/leases"))["leases"])


def run_deletion(env: HttpEnv) -> None:
    with env.context.store.begin() as transaction:
        transaction.work.schedule([DELETE_ANSWERS], env.clock.now())
        transaction.commit()
    env.work()


def test_a_repeated_request_gets_the_same_answer_and_changes_nothing(env: HttpEnv) -> None:
    body = env.wish()
    first = post(env, body)
    before = env.snapshot()

    again = post(env, dict(reversed(body.items())))

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json == first.json
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert env.snapshot() == before


def test_the_answer_is_the_first_one_even_if_the_lease_was_changed_or_deleted(env: HttpEnv) -> None:
    body = env.wish()
    first = post(env, body)
    lease = first.json["lease"]
    env.change(lease, name="renamed")

    assert post(env, body).json == first.json

    good(env.delete(f"/leases/{lease['id']}", who=LESSEE), 204)
    env.work()
    again = post(env, body)

    assert (again.status_code, again.json) == (201, first.json)
    assert count(env) == 0


def test_another_body_with_the_same_key_is_refused(env: HttpEnv) -> None:
    post(env, env.wish())
    before = env.snapshot()

    answer = post(env, env.wish(max=2))

    assert "Idempotency-Key" in refusal(answer, 409)
    assert env.snapshot() == before


def test_a_key_belongs_to_a_user_in_a_project(env: HttpEnv) -> None:
    others = [STRANGER, ADMIN, Who(user=LESSEE.user, project="second"), Who(user="colleague")]
    assert READER.project == LESSEE.project

    answers = [post(env, env.wish(10 * at, 10 * at + 5), who=who) for at, who in enumerate([LESSEE, *others])]

    assert {each.status_code for each in answers} == {201}
    assert count(env) == 5
    assert all("idempotency-replayed" not in each.headers for each in answers)


def test_a_refused_request_is_not_stored_and_may_succeed_later(env: HttpEnv) -> None:
    env.create("now", 60, min=4, max=4, who=STRANGER)
    body = env.wish(30, 50)
    before = env.snapshot()
    refusal(post(env, body), 409)
    assert env.snapshot() == before
    for each in good(env.get("/leases"))["leases"]:
        good(env.delete(f"/leases/{each['id']}"), 204)

    answer = post(env, body)

    assert answer.status_code == 201
    assert "idempotency-replayed" not in answer.headers


def test_version_1_0_creates_a_lease_for_every_request(env: HttpEnv) -> None:
    for _ in range(2):
        assert post(env, env.wish(), version="1.0").status_code == 201

    assert count(env) == 2


def test_answers_are_kept_for_a_day(env: HttpEnv) -> None:
    body = env.wish(end=3 * DAY)
    post(env, body)

    env.clock.advance(timedelta(days=1))
    run_deletion(env)
    within = post(env, body)
    env.clock.advance(timedelta(microseconds=1))
    run_deletion(env)
    later = post(env, body)

    assert within.headers["idempotency-replayed"] == "true"
    assert later.status_code == 201
    assert "idempotency-replayed" not in later.headers
    assert count(env) == 2
