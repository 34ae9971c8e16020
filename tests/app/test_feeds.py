"""Feeds: who creates, sees, deletes and reads them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from app.conftest import EnvWith
from app.feeds import ask_feed, create_feed, delete_feed, events_of, list_feeds, read, text_of
from app.http_env import (
    ADMIN,
    LESSEE,
    NEWER,
    READER,
    STRANGER,
    HttpEnv,
    Who,
    good,
    quiet_settings,
    refusal,
    refusal_b,
)
from clocks import EPOCH

from blazar.db.tables import deleted_leases, feeds
from blazar.reconcile.periodic.tasks import DELETE_FEEDS, FORGET_LEASES
from blazar.settings import FeedSettings

pytestmark = pytest.mark.usefixtures("hosts")
COLLEAGUE = Who(user="colleague")
DAY = 24 * 60


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


def run(env: HttpEnv, task: str) -> None:
    """Run a periodic task, if it is enabled."""
    with env.context.store.begin() as transaction:
        transaction.work.schedule([task], env.clock.now())
        transaction.commit()
    env.work()


def count(env: HttpEnv, table: sa.Table[Any]) -> int:
    with env.engine.connect() as connection:
        return connection.scalars(sa.select(sa.func.count()).select_from(table)).one()


class TestManagement:
    def test_the_address_is_shown_once(self, env: HttpEnv) -> None:
        made = create_feed(env, name="ours", alarm_minutes=15)

        assert made["url"].startswith("http://falconframework.org/v1/calendars/")
        assert made["url"].endswith(".ics")
        shown = {key: value for key, value in made.items() if key != "url"}
        assert list_feeds(env) == [shown]
        assert good(env.get(f"/feeds/{made['id']}", who=LESSEE, headers=NEWER))["feed"] == shown
        assert (made["kind"], made["name"], made["alarm_minutes"]) == ("project", "ours", 15)
        assert (made["user_id"], made["project_id"]) == (LESSEE.user, LESSEE.project)
        assert made["last_used_on"] is None

    def test_tokens_are_long_and_differ(self, env: HttpEnv) -> None:
        tokens = {create_feed(env)["url"].rpartition("/")[2].removesuffix(".ics") for _ in range(5)}

        assert len(tokens) == 5
        assert {len(each) for each in tokens} == {43}

    def test_the_token_is_stored_nowhere(self, env: HttpEnv) -> None:
        token = create_feed(env)["url"].rpartition("/")[2].removesuffix(".ics")

        assert token not in str(env.snapshot())

    def test_at_version_1_0_there_are_no_feeds(self, env: HttpEnv) -> None:
        for answer in (env.get("/feeds"), env.post("/feeds", {"kind": "project"}), env.delete("/feeds/1")):
            refusal_b(answer, 404)

    def test_all_of_a_project_see_and_delete_its_feeds(self, env: HttpEnv) -> None:
        made = create_feed(env)

        assert [each["id"] for each in list_feeds(env, COLLEAGUE)] == [made["id"]]
        assert [each["id"] for each in list_feeds(env, READER)] == [made["id"]]
        refusal(delete_feed(env, made, READER), 403)
        good(delete_feed(env, made, COLLEAGUE), 204)
        assert list_feeds(env) == []

    def test_readers_create_none(self, env: HttpEnv) -> None:
        refusal(ask_feed(env, who=READER), 403)

    def test_other_projects_neither_see_nor_delete_them(self, env: HttpEnv) -> None:
        made = create_feed(env)

        assert list_feeds(env, STRANGER) == []
        message = refusal(env.get(f"/feeds/{made['id']}", who=STRANGER, headers=NEWER), 404)
        assert message == refusal(delete_feed(env, made, STRANGER), 404)
        assert message == f"feed_id: there is no feed {made['id']}"
        refusal(env.get("/feeds", who=STRANGER, headers=NEWER, params={"project_id": "project"}), 403)
        assert len(list_feeds(env)) == 1

    def test_operators_see_and_delete_those_of_all_projects(self, env: HttpEnv) -> None:
        made = create_feed(env)
        env.clock.advance(minutes(1))
        other = create_feed(env, who=STRANGER)

        assert [each["id"] for each in list_feeds(env, ADMIN)] == [made["id"], other["id"]]
        assert [each["id"] for each in list_feeds(env, ADMIN, project_id="elsewhere")] == [other["id"]]
        good(env.get(f"/feeds/{made['id']}", who=ADMIN, headers=NEWER))
        good(delete_feed(env, made, ADMIN), 204)

        refusal(read(env, made), 404)

    def test_a_project_has_a_limit(self, env_with: EnvWith) -> None:
        env = env_with(replace(quiet_settings(), feeds=FeedSettings(per_project=2)))
        first = create_feed(env)
        create_feed(env, who=COLLEAGUE)

        assert "has 2 feeds, which is the limit" in refusal(ask_feed(env), 409)
        create_feed(env, who=STRANGER)
        good(delete_feed(env, first), 204)
        create_feed(env)

    def test_there_may_be_no_limit(self, env_with: EnvWith) -> None:
        env = env_with(replace(quiet_settings(), feeds=FeedSettings(per_project=0)))

        assert create_feed(env)["id"] != create_feed(env)["id"]

    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ({}, "kind"),
            ({"kind": "mine"}, "kind: must be one of"),
            ({"kind": "lease"}, "lease_id"),
            ({"kind": "availability"}, "resource_type"),
            ({"kind": "project", "lease_id": "1"}, "lease_id: is not possible with kind project"),
            ({"kind": "user", "amount": 1}, "amount: is not possible with kind user"),
            ({"kind": "project", "alarm_minutes": -1}, "alarm_minutes"),
            ({"kind": "project", "alarm_minutes": True}, "alarm_minutes: must be of type integer"),
            ({"kind": "project", "name": "x" * 81}, "name: must be at most 80 characters long"),
            ({"kind": "project", "nmae": "x"}, "has unknown keys: 'nmae'"),
            ({"kind": "availability", "resource_type": "physical:host", "alarm_minutes": 1}, "alarm_minutes"),
        ],
    )
    def test_a_refused_request_names_the_key_and_stores_nothing(
        self, env: HttpEnv, body: dict[str, object], message: str
    ) -> None:
        assert message in refusal(env.post("/feeds", body, who=LESSEE, headers=NEWER), 400)
        assert list_feeds(env) == []

    def test_null_is_as_good_as_nothing(self, env: HttpEnv) -> None:
        create_feed(env, lease_id=None, filter=None, name=None, alarm_minutes=None)

    def test_a_feed_of_a_lease_of_others_is_refused_as_one_of_no_lease(self, env: HttpEnv) -> None:
        lease = env.create(who=STRANGER)

        other = refusal(ask_feed(env, "lease", lease_id=lease["id"]), 404)
        none = refusal(ask_feed(env, "lease", lease_id="nowhere"), 404)

        assert other.replace(lease["id"], "nowhere") == none
        # An operator could see the lease now, but the feed could not tell later whether that is still so.
        refusal(ask_feed(env, "lease", ADMIN, lease_id=lease["id"]), 404)


class TestExpiry:
    def test_a_feed_expires(self, env_with: EnvWith) -> None:
        env = env_with(replace(quiet_settings(), feeds=FeedSettings(longest_age=timedelta(days=2))))
        made = create_feed(env)
        assert made["expires_at"] == env.shown(2 * DAY + 20 / 60)

        env.clock.advance(timedelta(days=2) - timedelta(microseconds=1))
        assert read(env, made).status_code == 200
        env.clock.advance(timedelta(microseconds=1))

        refusal(read(env, made), 404)
        assert list_feeds(env) == []
        refusal(delete_feed(env, made), 404)

    def test_it_may_live_forever(self, env_with: EnvWith) -> None:
        env = env_with(replace(quiet_settings(), feeds=FeedSettings(longest_age=timedelta(0))))
        made = create_feed(env)
        env.clock.advance(timedelta(days=3650))

        assert made["expires_at"] is None
        assert read(env, made).status_code == 200

    def test_the_day_of_its_last_use_is_shown(self, env: HttpEnv) -> None:
        made = create_feed(env)
        text_of(env, made)
        [shown] = list_feeds(env)
        assert shown["last_used_on"] == f"{EPOCH:%Y-%m-%d}"

        env.clock.advance(timedelta(hours=23))
        before = env.snapshot()
        text_of(env, made)
        assert env.snapshot() == before
        env.clock.advance(timedelta(hours=1))
        text_of(env, made)

        [shown] = list_feeds(env)
        assert shown["last_used_on"] == f"{EPOCH + timedelta(days=1):%Y-%m-%d}"


class TestOldRecords:
    def test_expired_feeds_are_deleted(self, env: HttpEnv) -> None:
        create_feed(env)
        env.clock.advance(timedelta(days=200))
        younger = create_feed(env)
        run(env, DELETE_FEEDS)
        assert count(env, feeds) == 2

        env.clock.advance(timedelta(days=165, microseconds=1))
        run(env, DELETE_FEEDS)

        assert [each["id"] for each in list_feeds(env)] == [younger["id"]]
        assert count(env, feeds) == 1

    def test_feeds_without_an_end_are_kept(self, env_with: EnvWith) -> None:
        env = env_with(replace(quiet_settings(), feeds=FeedSettings(longest_age=timedelta(0))))
        create_feed(env)
        env.clock.advance(timedelta(days=3650))

        run(env, DELETE_FEEDS)

        assert count(env, feeds) == 1

    def test_deleted_leases_are_forgotten(self, env: HttpEnv) -> None:
        lease = env.create(60, 90 * DAY)
        good(env.delete(f"/leases/{lease['id']}", who=LESSEE), 204)
        run(env, FORGET_LEASES)
        assert count(env, deleted_leases) == 1

        env.clock.advance(timedelta(days=30, microseconds=1))
        run(env, FORGET_LEASES)

        assert count(env, deleted_leases) == 0


class TestAccess:
    def test_the_address_is_enough(self, env: HttpEnv) -> None:
        answer = read(env, create_feed(env))

        assert answer.status_code == 200
        assert answer.headers["Content-Type"] == "text/calendar; charset=utf-8"
        assert answer.headers["Cache-Control"] == "private, no-cache"
        assert answer.headers["Content-Disposition"] == 'attachment; filename="blazar.ics"'
        assert answer.headers["X-Content-Type-Options"] == "nosniff"

    def test_nothing_else_is_possible_with_it(self, env: HttpEnv) -> None:
        made = create_feed(env)
        path = made["url"].partition("falconframework.org")[2]

        for method in ("POST", "PUT", "PATCH", "DELETE"):
            assert env.ask(method, path, below="", who=None).status_code == 405
        assert read(env, made).status_code == 200

    def test_wrong_addresses_are_refused_alike(self, env: HttpEnv) -> None:
        made, deleted = create_feed(env), create_feed(env)
        good(delete_feed(env, deleted), 204)
        token = made["url"].rpartition("/")[2]
        wrong = ["x" * 43, token[1:-4], f"{token[:-4]}=", made["id"], "%00", "%F0%9F%98%80", "x" * 5000]

        texts = {refusal(read(env, {"url": f"/v1/calendars/{each}.ics"}), 404) for each in wrong[:4]}
        texts |= {refusal(read(env, {"url": f"/v1/calendars/{each}.ics"}), 404) for each in wrong[5:]}

        assert texts == {refusal(read(env, deleted), 404)}
        refusal_b(read(env, {"url": f"/v1/calendars/{wrong[4]}.ics"}), 404)
        refusal_b(read(env, {"url": f"/v1/calendars/{token[:-4]}"}), 404)

    def test_claimed_identities_change_nothing(self, env: HttpEnv) -> None:
        env.create()
        made = create_feed(env, who=STRANGER)

        assert events_of(env, made) == []
        answer = read(env, made, headers=ADMIN.headers)

        assert "VEVENT" not in answer.text
