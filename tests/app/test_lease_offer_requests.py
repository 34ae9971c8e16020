"""Requests for offers for leases: limits, repeated ones, rights and bad input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from app.http_env import ADMIN, LESSEE, STRANGER, HttpEnv, Json, good, refusal
from app.offers import V11, ask_for, delete, hold, listed, show, take, taken
from app.test_enforcement import Recorder, with_filters
from app.test_offers import SECOND
from app.test_quotas import Table

pytestmark = pytest.mark.usefixtures("hosts")


class TestLimits:
    @pytest.fixture
    def table(self, env: HttpEnv) -> Table:
        table = Table()
        env.restart(replace(env.context, limits=table))
        return table

    def test_the_additional_time_counts_against_the_quota(self, env: HttpEnv, table: Table) -> None:
        table.limits |= {"leases": 1, "reserved_hosts": 2, "host_hours_ahead": 4}
        lease = env.create("now", 60, min=2, max=2)
        made = hold(env, lease, end_date=env.date(120))
        before = env.snapshot()

        assert "host_hours_ahead" in refusal(ask_for(env, lease, {"end_date": env.date(180)}), 403)

        assert env.snapshot() == before
        taken(env, lease, made)
        refusal(ask_for(env, lease, {"end_date": env.date(180)}), 403)

    def test_more_hosts_count_against_the_quota_until_the_offer_expires(
        self, env: HttpEnv, table: Table
    ) -> None:
        table.limits |= {"reserved_hosts": 2}
        lease = env.create("now", 60)
        hold(env, lease, reservation={"min": 2, "max": 2}, ttl_seconds=30)

        message = refusal(env.post("/leases", env.wish(), who=LESSEE), 403)

        assert "reserved_hosts" in message
        env.clock.advance(31 * SECOND)
        env.create()

    def test_they_count_among_the_offers_of_the_project(self, env: HttpEnv) -> None:
        lease = env.create(10, 60)
        made = [hold(env, lease, end_date=env.date(61 + each)) for each in range(10)]

        message = refusal(ask_for(env, lease, {"end_date": env.date(90)}), 409)

        assert "max_offers_per_project" in message
        assert sorted(listed(env)) == sorted(each["id"] for each in made)

    def test_the_filters_are_asked_as_for_a_change(self, env: HttpEnv) -> None:
        lease = env.create(10, 60)
        journal: list[str] = []
        rule = Recorder(journal, "a")
        with_filters(env, rule)

        made = hold(env, lease, end_date=env.date(90))
        assert journal == ["a update"]
        taken(env, lease, made)

        assert journal == ["a update"] * 2
        with_filters(env, Recorder(journal, "b", refuses=True))
        before = env.snapshot()
        refusal(ask_for(env, lease, {"end_date": env.date(120)}), 403)
        assert env.snapshot() == before


class TestRequests:
    def test_a_repeated_request_gets_the_same_offer(self, env: HttpEnv) -> None:
        lease, other = env.create(10, 60), env.create(10, 60)
        body = {"end_date": env.date(90)}
        first = ask_for(env, lease, body, key="k")

        again = ask_for(env, lease, body, key="k")

        assert again.json == first.json
        assert again.headers["idempotency-replayed"] == "true"
        assert len(listed(env)) == 1
        refusal(ask_for(env, lease, {"end_date": env.date(91)}, key="k"), 409)
        refusal(ask_for(env, other, body, key="k"), 409)

    def test_leases_and_offers_of_other_projects_are_not_found(self, env: HttpEnv) -> None:
        lease, other = env.create(10, 60), env.create(10, 60, who=STRANGER)
        mine = env.create(10, 60)
        made = hold(env, lease, end_date=env.date(90))
        before = env.snapshot()
        missing = {**lease, "id": "0" * 36}

        answers = [
            ask_for(env, missing, {"end_date": env.date(90)}),
            take(env, other, made, STRANGER),
            take(env, mine, made),
            take(env, missing, made),
            show(env, made, STRANGER),
            delete(env, made, STRANGER),
        ]

        assert [each.status_code for each in answers] == [404] * 6
        assert listed(env, STRANGER) == []
        assert env.snapshot() == before

    def test_whoever_may_not_change_a_lease_makes_no_offer_for_it(self, env: HttpEnv) -> None:
        lease = env.create(10, 60)
        body = {"end_date": env.date(90)}
        refused = env.put(f"/leases/{lease['id']}", body, who=STRANGER, headers=V11).status_code
        before = env.snapshot()

        assert ask_for(env, lease, body, STRANGER).status_code == refused

        assert env.snapshot() == before

    def test_an_operator_makes_an_offer_that_belongs_to_the_project_of_the_lease(self, env: HttpEnv) -> None:
        lease = env.create(10, 60)

        made = hold(env, lease, ADMIN, end_date=env.date(90))

        assert made["project_id"] == LESSEE.project
        assert listed(env) == [made["id"]]
        taken(env, lease, made)

    @pytest.mark.parametrize("rule", ["blazar:leases:put", "blazar:leases:post_offers"])
    def test_policy_rules_forbid_offers(self, env: HttpEnv, rule: str) -> None:
        lease = env.create(10, 60)
        env.set_policy({rule: "!"})

        refusal(ask_for(env, lease, {"end_date": env.date(90)}), 403)

    @pytest.mark.parametrize(
        ("keys", "name"),
        [
            ({}, "date"),
            ({"name": "x"}, "date"),
            ({"ttl_seconds": 0}, "ttl_seconds"),
            ({"ttl_seconds": 901}, "ttl_seconds"),
            ({"ttl_seconds": "soon"}, "ttl_seconds"),
            ({"ends": 1}, "ends"),
            ({"offer_id": "x"}, "offer_id"),
            ({"reservations": [{"id": "x"}]}, "reservations"),
            ({"end_date": "2001-01-01 00:00"}, "end_date"),
            ({"end_date": "now"}, "end"),
            ({"end_date": 7}, "end_date"),
        ],
    )
    def test_a_bad_request_names_its_key_and_changes_nothing(
        self, env: HttpEnv, keys: Json, name: str
    ) -> None:
        lease = env.create(10, 60)
        before = env.snapshot()
        body = keys if "ttl_seconds" not in keys else {"end_date": env.date(90), **keys}

        assert name in refusal(ask_for(env, lease, body), 400).lower()

        assert env.snapshot() == before

    @pytest.mark.parametrize("key", ["name", "end_date", "reservations", "events"])
    def test_a_commit_has_no_other_keys(self, env: HttpEnv, key: str) -> None:
        lease = env.create(10, 60)
        made = hold(env, lease, end_date=env.date(90))
        value: Any = [] if key in ("reservations", "events") else env.date(30)

        assert key in refusal(take(env, lease, made, **{key: value}), 400)

    def test_a_commit_is_no_dry_run(self, env: HttpEnv) -> None:
        lease = env.create(10, 60)
        made = hold(env, lease, end_date=env.date(90))

        answer = env.put(
            f"/leases/{lease['id']}",
            {"offer_id": made["id"]},
            who=LESSEE,
            headers=V11,
            params={"dry_run": "true"},
        )

        assert "offer_id" in refusal(answer, 400)

    def test_an_offer_for_a_lease_becomes_no_new_lease(self, env: HttpEnv) -> None:
        lease = env.create(10, 60)
        made = hold(env, lease, end_date=env.date(90))

        answer = env.post("/leases", {"name": "a", "offer_id": made["id"]}, who=LESSEE, headers=V11)

        assert lease["id"] in refusal(answer, 400)

    def test_version_1_0_ignores_offers(self, env: HttpEnv) -> None:
        lease = env.create(10, 60)
        made = hold(env, lease, end_date=env.date(90))

        assert env.post(f"/leases/{lease['id']}/offers", {}, who=LESSEE).status_code == 404
        answer = env.put(f"/leases/{lease['id']}", {"offer_id": made["id"]}, who=LESSEE)

        assert good(answer)["lease"]["end_date"] == env.shown(60)
