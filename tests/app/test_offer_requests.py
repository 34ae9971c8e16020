"""Requests about offers: repeated ones, rights, bad input, and what remains of old offers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from app.http_env import ADMIN, LESSEE, READER, STRANGER, HttpEnv, Json, Who, good, refusal
from app.offers import V11, ask, commit, delete, is_possible, listed, offer, show, wish

from blazar.reconcile.periodic.tasks import DELETE_OFFERS

pytestmark = pytest.mark.usefixtures("hosts")


class TestRepeating:
    def test_a_repeated_request_gets_the_same_offer(self, env: HttpEnv) -> None:
        first = ask(env, wish(env), key="k")

        again = ask(env, wish(env), key="k")

        assert again.json == first.json
        assert again.headers["idempotency-replayed"] == "true"
        assert len(listed(env)) == 1
        refusal(ask(env, wish(env, min=2, max=2), key="k"), 409)

    def test_a_repeated_commit_gets_the_same_lease(self, env: HttpEnv) -> None:
        made = offer(env)
        first = commit(env, made, key="k")

        again = commit(env, made, key="k")

        assert (first.status_code, again.json) == (201, first.json)
        assert again.headers["idempotency-replayed"] == "true"


class TestRights:
    @pytest.mark.parametrize("who", [STRANGER, ADMIN])
    def test_an_offer_of_another_project_is_not_found(self, env: HttpEnv, who: Who) -> None:
        made = offer(env)
        before = env.snapshot()

        answers = [show(env, made, who), delete(env, made, who), commit(env, made, who)]

        assert [each.status_code for each in answers] == [404] * 3
        assert listed(env, who) == []
        assert env.snapshot() == before

    def test_a_reader_sees_offers_but_makes_none(self, env: HttpEnv) -> None:
        made = offer(env)

        assert listed(env, READER) == [made["id"]]
        assert good(show(env, made, READER))["offer"] == made
        refusal(ask(env, wish(env), READER), 403)
        refusal(delete(env, made, READER), 403)
        refusal(commit(env, made, READER), 403)

    def test_a_caller_without_a_project_is_refused(self, env: HttpEnv) -> None:
        made, unscoped = offer(env), Who(project=None)
        answers = [
            ask(env, wish(env), unscoped),
            env.get("/offers", who=unscoped, headers=V11),
            show(env, made, unscoped),
            delete(env, made, unscoped),
            commit(env, made, unscoped),
        ]

        assert [each.status_code for each in answers] == [403] * 5

    def test_an_offer_names_no_host(self, env: HttpEnv) -> None:
        made = offer(env, min=4, max=4)

        assert not any(name in str(made) for name in ("h1", "h2", "h3", "h4"))

    def test_version_1_0_knows_no_offers(self, env: HttpEnv) -> None:
        made = offer(env)
        before = env.snapshot()

        assert env.get("/offers", who=LESSEE).status_code == 404
        assert env.post("/offers", wish(env), who=LESSEE).status_code == 404
        answer = env.post("/leases", {"name": "night", "offer_id": made["id"]}, who=LESSEE)
        assert refusal(answer, 400) == "Missing parameter start_date, end_date"
        assert env.snapshot() == before


class TestBadInput:
    @pytest.mark.parametrize(
        ("keys", "name"),
        [
            ({"ttl_seconds": 0}, "ttl_seconds"),
            ({"ttl_seconds": 901}, "ttl_seconds"),
            ({"ttl_seconds": -5}, "ttl_seconds"),
            ({"ttl_seconds": "soon"}, "ttl_seconds"),
            ({"ttl_seconds": 1.5}, "ttl_seconds"),
            ({"ttl_seconds": True}, "ttl_seconds"),
            ({"ttl_seconds": "9" * 12}, "ttl_seconds"),
            ({"reservations": []}, "reservations"),
            ({"reservations": {}}, "reservations"),
            ({"start_date": None}, "start_date"),
            ({"end_date": "2031-01-01 00:00"}, "end_date"),
            ({"offer_id": "x"}, "offer_id"),
            ({"name": "n" * 81}, "name"),
        ],
    )
    def test_a_bad_request_names_its_key_and_changes_nothing(
        self, env: HttpEnv, keys: Json, name: str
    ) -> None:
        before = env.snapshot()

        assert name in refusal(ask(env, {**wish(env), **keys}), 400).lower()

        assert env.snapshot() == before

    @pytest.mark.parametrize("key", ["start_date", "end_date", "before_end_date", "reservations"])
    def test_a_commit_has_no_other_keys(self, env: HttpEnv, key: str) -> None:
        made = offer(env)
        before = env.snapshot()

        value: Any = [] if key == "reservations" else env.date(30)
        assert key in refusal(commit(env, made, **{key: value}), 400)

        assert env.snapshot() == before

    @pytest.mark.parametrize("offer_id", [None, 5, [], "x" * 256])
    def test_an_offer_id_is_text(self, env: HttpEnv, offer_id: object) -> None:
        answer = env.post("/leases", {"name": "night", "offer_id": offer_id}, who=LESSEE, headers=V11)

        assert "offer_id" in refusal(answer, 400)

    def test_a_project_has_a_limited_number_of_open_offers(self, env: HttpEnv) -> None:
        first = [offer(env, 10 * at, 10 * at + 5) for at in range(1, 11)]
        before = env.snapshot()

        assert "max_offers_per_project" in refusal(ask(env, wish(env, 200, 210)), 409)

        assert env.snapshot() == before
        offer(env, 200, 210, who=STRANGER)
        good(delete(env, first[0]), 204)
        offer(env, 200, 210)


class TestDeletion:
    def run(self, env: HttpEnv) -> None:
        with env.context.store.begin() as transaction:
            transaction.work.schedule([DELETE_OFFERS], env.clock.now())
            transaction.commit()
        env.work()

    def test_expired_offers_are_known_for_a_day(self, env: HttpEnv) -> None:
        made, taken = offer(env, 30, 60, ttl_seconds=30), offer(env, 30, 60, ttl_seconds=30)
        good(commit(env, taken), 201)
        env.clock.advance(timedelta(minutes=1))
        self.run(env)
        refusal(commit(env, made), 410)
        refusal(commit(env, taken), 409)
        with env.context.store.read() as transaction:
            left = transaction.offers.find(made["id"])
        assert left is not None
        assert left.allocations == ()

        env.clock.advance(timedelta(days=1))
        self.run(env)

        refusal(commit(env, made), 404)
        refusal(commit(env, taken), 404)

    def test_open_offers_stay(self, env: HttpEnv) -> None:
        made = offer(env)

        self.run(env)

        assert not is_possible(env, min=4, max=4)
        good(commit(env, made), 201)
