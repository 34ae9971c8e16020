"""Calendars of leases, as programs read them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from app.feeds import create_feed, event_of, events_of, read, text_of
from app.http_env import LESSEE, STRANGER, HttpEnv, Who, good
from clocks import EPOCH
from statements import counted

from blazar.domain.feeds import Feed, FeedKind

pytestmark = pytest.mark.usefixtures("hosts")
COLLEAGUE = Who(user="colleague")
DAY = 24 * 60


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


class TestContents:
    def test_a_project_sees_its_leases_and_no_others(self, env: HttpEnv) -> None:
        own = [env.create(10, 60), env.create(70, 90, who=COLLEAGUE)]
        env.create(10, 60, who=STRANGER)

        uids = {str(each["uid"]) for each in events_of(env, create_feed(env))}

        assert uids == {f"{each['id']}@blazar" for each in own}

    def test_a_user_sees_his_own_leases_in_the_project(self, env: HttpEnv) -> None:
        own = env.create(10, 60)
        env.create(10, 60, who=COLLEAGUE)
        env.create(10, 60, who=Who(project="elsewhere"))

        assert event_of(env, create_feed(env, "user"))["uid"] == f"{own['id']}@blazar"

    def test_a_lease_has_a_feed_of_its_own(self, env: HttpEnv) -> None:
        lease = env.create(10, 60)
        env.create(10, 60)

        assert (
            event_of(env, create_feed(env, "lease", lease_id=lease["id"]))["uid"] == f"{lease['id']}@blazar"
        )

    def test_an_event_says_what_the_lease_is(self, env: HttpEnv) -> None:
        lease = env.create(70, 200, resource_properties='["=", "$rack", "r1"]', max=2)

        event = event_of(env, create_feed(env))

        assert event["summary"] == "night"
        assert (event.start, event.end) == (EPOCH + minutes(70), EPOCH + minutes(200))
        assert (event["status"], event["transp"], event["sequence"]) == ("CONFIRMED", "TRANSPARENT", 0)
        assert event["description"].splitlines() == [
            "Status: PENDING",
            'physical:host: min=1, max=2, resource_properties=["=", "$rack", "r1"], before_end=default',
            f"Notice before the end: {env.date(140)} UTC",
            f"End: {env.date(200)} UTC. The reserved resources are then released.",
            f"Lease: {lease['id']}",
        ]

    def test_a_request_adds_no_line(self, env: HttpEnv) -> None:
        hostile = "\r\nEND:VEVENT\u2028BEGIN:VEVENT\x0bUID:evil"
        env.create(70, 200, resource_properties=json.dumps(["!=", "$rack", hostile], ensure_ascii=False))

        event = event_of(env, create_feed(env, name=hostile))

        assert len(event["description"].splitlines()) == 5
        assert "\\r\\nEND:VEVENT BEGIN:VEVENT\\u000bUID:evil" in event["description"]

    def test_a_change_raises_the_sequence_number_and_the_tag(self, env: HttpEnv) -> None:
        lease, made = env.create(10, 60), create_feed(env)
        before, tag = event_of(env, made), read(env, made).headers["ETag"]
        env.clock.advance(minutes(1))

        env.change(lease, name="day", end_date=env.date(90))
        after = event_of(env, made)

        assert after["uid"] == before["uid"]
        assert after["sequence"] > before["sequence"]
        assert after["last-modified"].dt == after["dtstamp"].dt > before["dtstamp"].dt
        assert (after["summary"], after.end) == ("day", EPOCH + minutes(90))
        assert read(env, made).headers["ETag"] != tag

    def test_a_lease_that_failed_is_tentative(self, env: HttpEnv) -> None:
        lease, made = env.create(10, 60), create_feed(env)
        with env.failing("compute.create_aggregate", status=403):
            env.pass_time(11)
        assert env.status(lease) == "ERROR"

        event = event_of(env, made)

        assert event["status"] == "TENTATIVE"
        assert "physical:host: " in event["description"]
        assert "(in error)" in event["description"]

    def test_a_deleted_lease_is_cancelled_for_some_weeks(self, env: HttpEnv) -> None:
        lease, made = env.create(DAY, 2 * DAY), create_feed(env)
        other = create_feed(env, who=STRANGER)
        before, tag = event_of(env, made), read(env, made).headers["ETag"]

        good(env.delete(f"/leases/{lease['id']}", who=LESSEE), 204)
        after = event_of(env, made)

        assert (after["uid"], after["status"]) == (before["uid"], "CANCELLED")
        assert (after["summary"], after.start, after.end) == ("night", before.start, before.end)
        assert after["sequence"] > before["sequence"]
        assert read(env, made).headers["ETag"] != tag
        assert events_of(env, other) == []
        assert event_of(env, create_feed(env, "lease", lease_id=env.create()["id"]))["status"] == "CONFIRMED"
        env.clock.advance(timedelta(days=30))
        assert [each["status"] for each in events_of(env, made)] == ["CONFIRMED"]

    def test_a_lease_that_was_deleted_twice_is_cancelled_once(self, env: HttpEnv) -> None:
        lease, made = env.create(DAY, 2 * DAY), create_feed(env)
        good(env.delete(f"/leases/{lease['id']}", who=LESSEE), 204)
        first = event_of(env, made)["sequence"]
        with env.context.store.begin() as transaction:
            feed = Feed(
                id="any",
                token_digest="",
                kind=FeedKind.PROJECT,
                name="",
                user_id=None,
                project_id=str(LESSEE.project),
                created_at=EPOCH,
            )
            [deleted] = transaction.feeds.list_deleted(feed, EPOCH, 2)
            transaction.feeds.insert_deleted(replace(deleted, revision=deleted.revision + 5))
            transaction.commit()

        assert event_of(env, made)["sequence"] == first + 5

    def test_a_lease_that_is_being_deleted_is_cancelled_already(self, env: HttpEnv) -> None:
        lease, made = env.create("now", 60), create_feed(env)
        env.work()

        good(env.delete(f"/leases/{lease['id']}", who=LESSEE), 204)
        assert env.status(lease) == "DELETING"
        sequence = event_of(env, made)["sequence"]
        assert event_of(env, made)["status"] == "CANCELLED"
        env.work()

        assert event_of(env, made)["status"] == "CANCELLED"
        assert event_of(env, made)["sequence"] > sequence

    def test_a_lease_that_took_place_is_not_cancelled_afterwards(self, env: HttpEnv) -> None:
        lease, made = env.create("now", 60), create_feed(env)
        env.pass_time(61)
        assert event_of(env, made)["status"] == "CONFIRMED"

        good(env.delete(f"/leases/{lease['id']}", who=LESSEE), 204)
        env.work()

        assert events_of(env, made) == []

    def test_old_leases_are_not_shown(self, env: HttpEnv) -> None:
        env.create("now", 60)
        made = create_feed(env)
        env.pass_time(61)
        env.clock.set(EPOCH + minutes(60) + timedelta(days=90) - timedelta(seconds=1))
        assert len(events_of(env, made)) == 1

        env.clock.advance(timedelta(seconds=1))

        assert events_of(env, made) == []

    def test_a_feed_without_leases_is_a_calendar_nevertheless(self, env: HttpEnv) -> None:
        text = text_of(env, create_feed(env, name="ours, and more"))

        assert text.startswith("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//OpenStack//Blazar//EN\r\n")
        assert "\r\nX-WR-CALNAME:ours\\, and more\r\n" in text
        assert "\r\nBEGIN:VTIMEZONE\r\nTZID:UTC\r\n" in text


class TestAlarms:
    def test_programs_remind_at_the_notice_before_the_end(self, env: HttpEnv) -> None:
        env.create(10, 200)

        [alarm] = event_of(env, create_feed(env)).alarms.times

        assert alarm.trigger == EPOCH + minutes(140)

    def test_a_feed_may_add_an_alarm(self, env: HttpEnv) -> None:
        env.create(10, 200)

        alarms = event_of(env, create_feed(env, alarm_minutes=15)).alarms.times

        assert {each.trigger for each in alarms} == {EPOCH + minutes(140), EPOCH + minutes(185)}

    def test_a_feed_may_have_no_alarms(self, env: HttpEnv) -> None:
        env.create(10, 200)

        assert not event_of(env, create_feed(env, alarm_minutes=0)).alarms.times

    def test_nothing_reminds_before_the_start_or_of_what_is_over(self, env: HttpEnv) -> None:
        env.create("now", 30)
        made = create_feed(env, alarm_minutes=31)
        [alarm] = event_of(env, made).alarms.times
        assert alarm.trigger == EPOCH

        env.pass_time(31)

        assert not event_of(env, made).alarms.times


class TestTags:
    def test_an_unchanged_calendar_is_not_sent_again(self, env: HttpEnv) -> None:
        env.create(10, 60)
        made = create_feed(env)
        first = read(env, made)

        second = read(env, made, first.headers["ETag"])

        assert (second.status_code, second.text) == (304, "")
        assert second.headers["ETag"] == first.headers["ETag"]
        assert second.headers["Cache-Control"] == "private, no-cache"
        assert read(env, made).text == first.text

    def test_leases_are_not_read_for_that(self, env: HttpEnv) -> None:
        for _ in range(3):
            env.create(10, 60)
        made = create_feed(env)
        tag = read(env, made).headers["ETag"]

        with counted(env.engine) as statements:
            read(env, made, tag)

        # The feed, the revisions of present and of past leases, and the deleted leases.
        assert statements.count("SELECT") == 4
        assert statements.count("INSERT", "UPDATE", "DELETE") == 0

    def test_only_changed_leases_are_rendered_again(self, env: HttpEnv) -> None:
        changed = env.create(10, 60)
        env.create(10, 60, who=COLLEAGUE)
        made, other = create_feed(env), create_feed(env, alarm_minutes=5)
        first = text_of(env, made)
        assert text_of(env, other) != first

        with counted(env.engine) as statements:
            assert text_of(env, made) == first
        assert statements.count("SELECT") == 4
        env.change(changed, name="day")
        second = text_of(env, made)

        assert (first.count("SUMMARY:night\r\n"), first.count("SUMMARY:day\r\n")) == (2, 0)
        assert (second.count("SUMMARY:night\r\n"), second.count("SUMMARY:day\r\n")) == (1, 1)
        assert second.count("BEGIN:VEVENT") == second.count("END:VEVENT") == 2

    def test_feeds_have_different_tags(self, env: HttpEnv) -> None:
        assert read(env, create_feed(env)).headers["ETag"] != read(env, create_feed(env)).headers["ETag"]

    def test_another_manager_gives_the_same_tag(self, env: HttpEnv) -> None:
        env.create(10, 60)
        made = create_feed(env)
        tag = read(env, made).headers["ETag"]

        env.forget_indexes()

        assert read(env, made, tag).status_code == 304
