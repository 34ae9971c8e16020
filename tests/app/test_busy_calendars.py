"""Calendars of the times at which resources are not free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from app.conftest import EnvWith
from app.feeds import ask_feed, create_feed, event_of, events_of, read, text_of
from app.http_env import ADMIN, LESSEE, NEWER, STRANGER, HttpEnv, Json, Who, good, quiet_settings, refusal
from app.rules import use_rules
from app.test_catalogue import fail
from clocks import EPOCH

from blazar.settings import FeedSettings

HOSTS = {"resource_type": "physical:host"}
DAY = 24 * 60
END = (EPOCH + timedelta(days=91)).replace(hour=0, minute=0)
"""The end of the last day that is shown."""


def at(minutes: float) -> datetime:
    return EPOCH + timedelta(minutes=minutes)


def busy_feed(env: HttpEnv, who: Who = LESSEE, **keys: object) -> Json:
    return create_feed(env, "availability", who, **{**HOSTS, **keys})


def times_of(env: HttpEnv, feed: Json) -> list[tuple[datetime, datetime]]:
    return [(each.start, each.end) for each in events_of(env, feed)]


@pytest.mark.usefixtures("hosts")
class TestTimes:
    def test_a_time_is_busy_if_no_resource_is_free(self, env: HttpEnv) -> None:
        made = busy_feed(env)
        env.create(60, 200, min=3, max=3, who=STRANGER)
        env.create(120, 260, min=1, max=1)

        assert times_of(env, made) == [(at(120), at(200))]

    def test_or_if_fewer_are_free_than_needed(self, env: HttpEnv) -> None:
        env.create(60, 120, min=3, max=3, who=STRANGER)
        env.create(120, 180, min=2, max=2, who=STRANGER)
        env.create(180, 240, min=4, max=4, who=STRANGER)

        assert times_of(env, busy_feed(env, amount=2)) == [(at(60), at(120)), (at(180), at(240))]
        assert times_of(env, busy_feed(env, amount=3)) == [(at(60), at(240))]
        assert times_of(env, busy_feed(env, amount=5)) == [(at(0), END)]

    def test_a_group_or_a_requirement_is_on_its_own(self, env: HttpEnv) -> None:
        env.create(60, 120, min=2, max=2, resource_properties='["=", "$rack", "r1"]', who=STRANGER)

        assert times_of(env, busy_feed(env, group_by="rack", group="r1")) == [(at(60), at(120))]
        assert times_of(env, busy_feed(env, group_by="rack", group="r2")) == []
        assert times_of(env, busy_feed(env, filter="rack=r1")) == [(at(60), at(120))]
        assert times_of(env, busy_feed(env, filter="rack=r2")) == []

    def test_a_group_may_have_a_number_as_its_value(self, env: HttpEnv) -> None:
        env.create(60, 120, min=2, max=2, resource_properties='["=", "$slots", "8"]')

        assert times_of(env, busy_feed(env, group_by="slots", group="8")) == [(at(60), at(120))]

    def test_a_time_that_has_begun_starts_with_the_present_hour(self, env: HttpEnv) -> None:
        env.create("now", 300, min=4, max=4)
        made = busy_feed(env)
        first = event_of(env, made)
        env.pass_time(59)
        assert (first.start, first.end) == (at(0), at(300))
        tag = read(env, made).headers["ETag"]
        assert event_of(env, made) == first

        env.pass_time(61)
        second = event_of(env, made)

        assert (second.start, second.end, second["uid"]) == (at(60), at(300), first["uid"])
        assert read(env, made).headers["ETag"] != tag

    def test_what_lasts_longer_ends_with_the_last_day(self, env_with: EnvWith) -> None:
        env = env_with(replace(quiet_settings(), feeds=FeedSettings(ahead=timedelta(days=3))))
        env.register("h1")
        env.create(60, 10 * DAY)

        [(start, end)] = times_of(env, busy_feed(env))

        assert (start, end) == (at(60), (EPOCH + timedelta(days=4)).replace(hour=0, minute=0))

    def test_failed_resources_are_not_free(self, env: HttpEnv, hosts: list[str]) -> None:
        made = busy_feed(env, group_by="rack", group="r1")
        for host_id in hosts[:2]:
            fail(env, host_id)
        env.forget_indexes()

        assert times_of(env, made) == [(at(0), END)]

    def test_a_unit_may_have_a_size(self, env: HttpEnv) -> None:
        asked: Json = {"resource_type": "virtual:instance", "unit": "vcpus=100000,memory_mb=1,disk_gb=1"}

        made = busy_feed(env, **asked)

        assert times_of(env, made) == [(at(0), END)]
        assert events_of(env, made)[0]["summary"] == "No virtual:instance free"


@pytest.mark.usefixtures("hosts")
class TestSecrets:
    def test_nothing_is_told_of_those_who_have_the_resources(self, env: HttpEnv) -> None:
        lease = env.create(60, 120, min=4, max=4, who=STRANGER)
        made = busy_feed(env, name="racks")
        text = text_of(env, made)
        reservation = lease["reservations"][0]["id"]
        secrets = [
            lease["id"],
            reservation,
            STRANGER.user,
            STRANGER.project,
            "night",
            "h1",
            "rack=",
        ]

        assert not [each for each in secrets if str(each) in text]
        event = event_of(env, made)
        assert (event["summary"], event["status"], event["transp"]) == (
            "No physical:host free",
            "CONFIRMED",
            "OPAQUE",
        )
        assert "description" not in event
        assert event["uid"].startswith(made["id"])

    def test_a_number_in_a_title_is_the_one_that_was_asked_for(self, env: HttpEnv) -> None:
        env.create(60, 120, min=4, max=4, who=STRANGER)

        assert event_of(env, busy_feed(env, amount=2))["summary"] == "Fewer than 2 physical:host free"

    def test_private_properties_do_not_exist_for_feeds_even_of_operators(self, env: HttpEnv) -> None:
        good(env.patch("/os-hosts/properties/rack", {"private": True}))

        for who in (LESSEE, ADMIN):
            refusal(ask_feed(env, "availability", who, **HOSTS, filter="rack=r1"), 400)
            refusal(ask_feed(env, "availability", who, **HOSTS, group_by="rack", group="r1"), 400)

    def test_resources_of_others_do_not_exist_for_a_feed(self, env: HttpEnv) -> None:
        env.register("x1", "x2", owner="physics")
        own = f"only_for_projects: [{STRANGER.project}], applies_to: {{resources: owner=physics}}"
        use_rules(env, f"kind: only_for, {own}")
        env.create(60, 120, min=4, max=4)

        assert times_of(env, busy_feed(env)) == [(at(60), at(120))]
        assert times_of(env, busy_feed(env, STRANGER)) == []

    def test_a_property_that_becomes_private_ends_the_calendar(self, env: HttpEnv) -> None:
        made = busy_feed(env, filter="rack=r1")
        assert read(env, made).status_code == 200

        good(env.patch("/os-hosts/properties/rack", {"private": True}))

        assert "filter: no resource has a property named rack" in refusal(read(env, made), 400)


@pytest.mark.usefixtures("hosts")
class TestRefusals:
    @pytest.mark.parametrize(
        ("keys", "message"),
        [
            ({"resource_type": "virtual:moon"}, "virtual:moon is not supported"),
            ({"group_by": "rack"}, "group"),
            ({"group": "r1"}, "group_by"),
            ({"group_by": "rack", "group": "r9"}, "group: no resource has this value of rack"),
            ({"group_by": "colour", "group": "r1"}, "group_by: no property named colour"),
            ({"filter": "colour=red"}, "filter: no resource has a property named colour"),
            ({"filter": '["="'}, "filter"),
            ({"amount": 0}, "amount"),
            ({"unit": "size=1"}, "unit: reservations of physical:host hold whole resources"),
            ({"resource_type": "virtual:instance"}, "unit: reservations of virtual:instance hold parts"),
        ],
    )
    def test_a_question_without_an_answer(self, env: HttpEnv, keys: Mapping[str, Any], message: str) -> None:
        assert message in refusal(ask_feed(env, "availability", **{**HOSTS, **keys}), 400)
        assert good(env.get("/feeds", who=LESSEE, headers=NEWER)) == {"feeds": []}

    def test_a_group_that_is_gone_is_never_free(self, env: HttpEnv) -> None:
        made = busy_feed(env, group_by="rack", group="r1")
        for host in good(env.get("/os-hosts"))["hosts"]:
            if host["rack"] == "r1":
                good(env.delete(f"/os-hosts/{host['id']}"), 204)

        assert times_of(env, made) == [(at(0), END)]


@pytest.mark.usefixtures("hosts")
class TestTags:
    def test_an_unchanged_calendar_is_not_sent_again(self, env: HttpEnv) -> None:
        env.create(60, 120, min=4, max=4, who=STRANGER)
        made = busy_feed(env)
        tag = read(env, made).headers["ETag"]
        env.clock.advance(timedelta(minutes=10))

        assert read(env, made, tag).status_code == 304

    def test_another_booking_that_changes_nothing_keeps_the_tag(self, env: HttpEnv) -> None:
        made = busy_feed(env)
        tag = read(env, made).headers["ETag"]

        env.create(60, 120, min=3, max=3, who=STRANGER)
        assert read(env, made, tag).status_code == 304
        env.create(60, 120, min=1, max=1, who=STRANGER)

        assert read(env, made, tag).status_code == 200
