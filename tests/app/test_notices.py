"""Notices of leases: who gets which, in which order, and what happens if that fails."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
import sqlalchemy as sa
from app.conftest import EnvWith
from app.http_env import ADMIN, LESSEE, STRANGER, good, refusal
from app.maintaining import maintain
from app.subscribing import Inbox, Noticing, make_noticing, noticing_settings

from blazar.booking.addresses import LIFETIME, Addresses
from blazar.db import tables
from blazar.domain.subscriptions import ChannelKind
from blazar.ports.notices import Delivery, DeliveryFailed
from blazar.reconcile.notices import NOTICES_AT_ONCE, NoticeSender

AWAY = DeliveryFailed("no answer: ConnectTimeoutError", is_silent=True)
BROKEN = DeliveryFailed("answered with 500")
COLLEAGUE = replace(LESSEE, user="colleague")
LIFE = ["lease.created", "lease.started", "lease.ended"]


@pytest.fixture
def noticing(env_with: EnvWith) -> Noticing:
    return make_noticing(env_with(noticing_settings(check_interval=timedelta(0))))


def count(noticing: Noticing, table: sa.Table) -> int:
    with noticing.env.engine.connect() as connection:
        return connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0


class TestEvents:
    def test_the_life_of_a_lease_is_told_in_order(self, noticing: Noticing) -> None:
        made = noticing.subscribe()

        lease = noticing.env.create(10, 60)
        noticing.env.pass_time(20)
        noticing.env.change(lease, end_date=noticing.env.date(90))
        noticing.env.change(lease, end_date=noticing.env.date(80))
        noticing.env.change(lease, name="day")
        noticing.env.pass_time(100)
        good(noticing.env.delete(f"/leases/{lease['id']}", who=LESSEE), 204)
        noticing.env.work()

        assert noticing.webhooks.of(made) == [
            "lease.created",
            "lease.started",
            "lease.extended",
            "lease.changed",
            "lease.ended",
            "lease.deleted",
        ]
        created, _, extended, *_ = noticing.webhooks.received
        told = created.data["lease"]
        assert isinstance(told, dict)
        assert (told["id"], told["name"], told["status"]) == (lease["id"], "night", "PENDING")
        assert "trust_id" not in told
        assert extended.data["former_end_date"] == noticing.env.shown(60)
        assert noticing.show(made)["succeeded_at"] is not None
        assert (count(noticing, tables.notices), count(noticing, tables.deliveries)) == (0, 0)

    def test_a_lease_that_cannot_start_is_told_with_the_reason(self, noticing: Noticing) -> None:
        noticing.subscribe()
        lease = noticing.env.create(10, 60)

        with noticing.env.failing("compute.add_host", status=403):
            noticing.env.pass_time(20)

        assert noticing.env.status(lease) == "ERROR"
        assert noticing.webhooks.types == ["lease.created", "lease.failed"]
        reasons = noticing.webhooks.received[1].data["reasons"]
        assert isinstance(reasons, list)
        assert [each["reservation_id"] for each in reasons] == [lease["reservations"][0]["id"]]
        assert reasons[0]["text"]

    def test_maintenance_is_told_with_its_dates(self, noticing: Noticing) -> None:
        noticing.subscribe(events=["lease.maintenance"])
        noticing.env.create("now", 60, min=2, max=2)
        noticing.env.work()

        maintain(noticing.env, "h1", reason="new disks")
        noticing.env.work()

        (delivery,) = noticing.webhooks.received
        assert delivery.data["maintenance"]["reason"] == "new disks"  # type: ignore[index]

    def test_each_subscriber_gets_what_it_asked_for(self, noticing: Noticing) -> None:
        first = noticing.env.create(10, 60)
        all_of_project = noticing.subscribe()
        own = noticing.subscribe(who=COLLEAGUE, scope="own")
        ended = noticing.subscribe(events=["lease.ended"])
        of_lease = noticing.subscribe(lease_id=first["id"])
        foreign = noticing.subscribe(who=STRANGER)
        site = noticing.subscribe(who=ADMIN, scope="site", events=["lease.started"])
        disabled = noticing.subscribe()
        noticing.change(disabled, enabled=False)

        noticing.env.create(70, 80, who=COLLEAGUE)
        noticing.env.pass_time(90)

        received = noticing.webhooks.of
        assert sorted(received(all_of_project)) == sorted([*LIFE, *LIFE])
        assert received(own) == LIFE
        assert received(ended) == ["lease.ended"] * 2
        assert received(of_lease) == LIFE
        assert received(foreign) == []
        assert received(site) == ["lease.started"] * 2
        assert received(disabled) == []

    def test_without_channels_nothing_is_stored(self, env_with: EnvWith) -> None:
        noticing = make_noticing(env_with(noticing_settings(channels=frozenset())))

        noticing.env.create(10, 60)

        assert count(noticing, tables.notices) == 0

    def test_many_notices_are_delivered_at_once(self, noticing: Noticing) -> None:
        noticing.subscribe(events=["lease.changed", "lease.extended"])
        lease = noticing.env.create(10, 60)
        for number in range(NOTICES_AT_ONCE + 5):
            noticing.env.change(lease, end_date=noticing.env.date(61 + number))

        noticing.env.reconciler.send_notices()

        assert len(noticing.webhooks.received) == NOTICES_AT_ONCE + 5
        ends = [each.data["lease"]["end_date"] for each in noticing.webhooks.received]  # type: ignore[index]
        assert ends == sorted(ends)


class TestFailures:
    def test_a_delivery_is_repeated_less_and_less_often(self, noticing: Noticing) -> None:
        made = noticing.subscribe(events=["lease.created"])
        noticing.webhooks.always = lambda delivery: BROKEN
        noticing.env.create(1000, 1060)

        for _ in range(100):
            noticing.wait(seconds=5)

        times = [at for at, _ in noticing.webhooks.attempts]
        pauses = [later - sooner for sooner, later in pairwise(times)]
        assert 4 < len(times) < 10
        assert all(each.total_seconds() >= 5 for each in pauses)
        assert pauses[-1] > 4 * pauses[0]
        assert len({key for _, key in noticing.webhooks.attempts}) == 1
        shown, (waiting,) = noticing.show(made), noticing.waiting(made)
        assert (shown["problem"], shown["enabled"]) == ("answered with 500", True)
        assert shown["failing_since"] is not None
        assert (waiting["status"], waiting["problem"]) == ("waiting", "answered with 500")
        assert waiting["id"] == noticing.webhooks.attempts[0][1]

        noticing.webhooks.always = lambda delivery: None
        noticing.wait(minutes=20)
        shown = noticing.show(made)
        assert noticing.webhooks.types == ["lease.created"]
        assert (shown["problem"], shown["failing_since"]) == (None, None)
        assert noticing.waiting(made) == []

    def test_later_notices_of_the_lease_wait_and_those_of_others_do_not(self, noticing: Noticing) -> None:
        noticing.subscribe()
        first = noticing.env.create(10, 60)
        noticing.webhooks.failures = [BROKEN]
        noticing.env.work()
        noticing.env.change(first, end_date=noticing.env.date(70))
        second = noticing.env.create(100, 160)
        noticing.env.work()

        assert [each.lease_id for each in noticing.webhooks.received] == [second["id"]]
        noticing.wait(seconds=10)
        noticing.wait(seconds=10)
        told = [each.type for each in noticing.webhooks.received if each.lease_id == first["id"]]
        assert told[:2] == ["lease.created", "lease.extended"]

    def test_a_receiver_that_does_not_respond_is_left_alone(self, noticing: Noticing) -> None:
        noticing.subscribe()
        other = noticing.subscribe(who=STRANGER)
        noticing.webhooks.always = lambda each: AWAY if each.subscription.project_id == "project" else None

        for number in range(5):
            noticing.env.create(100 + 10 * number, 105 + 10 * number)
            noticing.env.work()
        noticing.env.create(200, 300, who=STRANGER)
        noticing.env.work()

        assert len(noticing.webhooks.attempts) == 2
        assert noticing.webhooks.of(other) == ["lease.created"]

    def test_the_time_that_a_receiver_asks_for_is_honoured_within_bounds(self, noticing: Noticing) -> None:
        noticing.subscribe()
        times = noticing.webhooks.attempts
        noticing.webhooks.failures = [
            DeliveryFailed("answered with 429", retry_after=timedelta(minutes=5)),
            DeliveryFailed("answered with 429", retry_after=timedelta(days=99)),
        ]
        noticing.env.create(1000, 1060)
        noticing.env.work()

        noticing.wait(minutes=4)
        assert len(times) == 1
        noticing.wait(minutes=2)
        assert len(times) == 2
        noticing.wait(minutes=61)
        assert len(times) == 3

    def test_after_a_day_a_notice_is_given_up_and_the_subscription_disabled(self, noticing: Noticing) -> None:
        made = noticing.subscribe()
        noticing.webhooks.always = lambda delivery: AWAY
        lease = noticing.env.create(5000, 5060)
        noticing.env.work()
        noticing.env.change(lease, end_date=noticing.env.date(5070))

        for _ in range(24 * 4 + 8):
            noticing.wait(minutes=15)

        shown = noticing.show(made)
        assert (shown["enabled"], shown["problem"]) == (False, "no answer: ConnectTimeoutError")
        assert [each["status"] for each in noticing.waiting(made)] == ["failed", "failed"]
        attempts = len(noticing.webhooks.attempts)
        assert 20 < attempts < 60
        noticing.env.create(6000, 6060)
        noticing.wait(hours=24)
        assert len(noticing.webhooks.attempts) == attempts

        noticing.webhooks.always = lambda delivery: None
        enabled = noticing.change(made, enabled=True, resend=True)
        noticing.env.work()
        noticing.env.work()
        assert (enabled["enabled"], enabled["problem"]) == (True, None)
        assert noticing.webhooks.types == ["lease.created", "lease.extended"]

    def test_a_receiver_that_works_for_others_stays_enabled(self, noticing: Noticing) -> None:
        made = noticing.subscribe()
        bad = noticing.env.create(5000, 5060)
        noticing.webhooks.always = lambda each: BROKEN if each.lease_id == bad["id"] else None

        for number in range(26):
            noticing.wait(hours=1)
            noticing.env.create(6000 + 10 * number, 6005 + 10 * number)
            noticing.env.work()

        assert noticing.show(made)["enabled"]
        assert [each["status"] for each in noticing.waiting(made)] == ["failed"]

    def test_gone_disables_the_subscription_at_once(self, noticing: Noticing) -> None:
        made = noticing.subscribe()
        noticing.webhooks.failures = [DeliveryFailed("answered with 410", is_gone=True)]
        noticing.env.create(10, 60)
        noticing.env.work()

        shown = noticing.show(made)
        assert (shown["enabled"], shown["problem"]) == (False, "answered with 410")

    def test_a_failure_that_is_final_gives_up_this_notice_only(self, noticing: Noticing) -> None:
        made = noticing.subscribe()
        noticing.webhooks.failures = [DeliveryFailed("550 no such mailbox", is_final=True)]
        lease = noticing.env.create(10, 60)
        noticing.env.work()
        noticing.env.change(lease, end_date=noticing.env.date(70))
        noticing.env.work()

        assert noticing.webhooks.types == ["lease.extended"]
        assert noticing.show(made)["enabled"]
        assert [each["status"] for each in noticing.waiting(made)] == ["failed"]

    def test_a_queue_that_grows_too_long_disables_the_subscription(self, env_with: EnvWith) -> None:
        noticing = make_noticing(env_with(noticing_settings(longest_queue=3)))
        made, other = noticing.subscribe(), noticing.subscribe(events=["lease.created"])
        noticing.webhooks.always = lambda each: AWAY if each.subscription.id == made["id"] else None
        for number in range(5):
            noticing.env.create(100 + 10 * number, 105 + 10 * number)
            noticing.env.work()

        shown = noticing.show(made)
        assert (shown["enabled"], shown["problem"]) == (False, "more than 3 notices could not be delivered")
        assert noticing.webhooks.of(other) == ["lease.created"] * 5

    def test_an_error_of_a_channel_delays_only_its_notice(
        self, noticing: Noticing, failures: list[str]
    ) -> None:
        noticing.subscribe()
        first = noticing.env.create(10, 60)

        def broken(delivery: Delivery) -> DeliveryFailed | None:
            if delivery.lease_id == first["id"]:
                raise RuntimeError("a bug")
            return None

        noticing.webhooks.always = broken
        second = noticing.env.create(100, 160)
        noticing.env.work()
        noticing.env.work()

        assert [each.lease_id for each in noticing.webhooks.received] == [second["id"]]
        assert any("a bug" in each for each in failures)
        failures.clear()


class TestSeveralManagers:
    def test_what_a_killed_manager_was_delivering_is_delivered_by_another(self, noticing: Noticing) -> None:
        class Crash(BaseException):
            pass

        class Deadly(Inbox):
            def deliver(self, delivery: Delivery, now: object) -> None:
                self.received.append(delivery)
                raise Crash

        noticing.subscribe()
        noticing.env.create(1000, 1060)
        deadly = Deadly()
        with pytest.raises(Crash):
            NoticeSender(noticing.env.context, {ChannelKind.WEBHOOK: deadly}).send_due()

        noticing.env.work()
        at_once = list(noticing.webhooks.received)
        noticing.wait(seconds=61)

        assert at_once == []
        (again,) = noticing.webhooks.received
        assert again.message_id == deadly.received[0].message_id
        assert again.attempts == 2

    def test_two_managers_deliver_each_notice_once(self, noticing: Noticing) -> None:
        noticing.subscribe()
        for number in range(5):
            noticing.env.create(100 + 10 * number, 105 + 10 * number)
        inboxes = [Inbox(), Inbox()]
        senders = [NoticeSender(noticing.env.context, {ChannelKind.WEBHOOK: each}) for each in inboxes]

        while sum(each.send_due() for each in senders):
            continue

        keys = [each.message_id for inbox in inboxes for each in inbox.received]
        assert (len(keys), len(set(keys))) == (5, 5)
        assert all(inbox.received for inbox in inboxes)


class TestTestMessages:
    def test_a_test_message_is_delivered(self, noticing: Noticing) -> None:
        made = noticing.subscribe(events=[])

        good(noticing.ask("POST", None, f"/{made['id']}/test"), 204)
        message = refusal(noticing.ask("POST", None, f"/{made['id']}/test"), 409)
        noticing.env.work()

        assert message == "An earlier test message was not delivered yet"
        (delivery,) = noticing.webhooks.received
        assert (delivery.type, delivery.data) == ("subscription.test", {"subscription_id": made["id"]})
        good(noticing.ask("POST", None, f"/{made['id']}/test"), 204)

    def test_a_disabled_subscription_has_none(self, noticing: Noticing) -> None:
        made = noticing.subscribe()
        noticing.change(made, enabled=False)

        assert "disabled" in refusal(noticing.ask("POST", None, f"/{made['id']}/test"), 409)


class TestAddresses:
    def test_the_address_of_a_user_is_that_in_keystone(self, noticing: Noticing) -> None:
        addresses = Addresses(noticing.env.context)
        cloud = noticing.env.cloud
        cloud.add_user("user", "user@example.org")
        cloud.add_user("odd", "user@example.org\nBcc: other@example.org")
        cloud.add_user("disabled", "disabled@example.org", is_enabled=False)
        cloud.add_user("without")

        found = [addresses.find(each) for each in ("user", "odd", "disabled", "without", "unknown", "")]

        assert found == ["user@example.org", None, None, None, None, None]

    def test_it_is_cached_for_some_minutes(self, noticing: Noticing) -> None:
        addresses = Addresses(noticing.env.context)
        noticing.env.cloud.add_user("user", "old@example.org")
        addresses.find("user")
        noticing.env.cloud.add_user("user", "new@example.org")

        cached = addresses.find("user")
        noticing.env.clock.advance(LIFETIME)

        assert (cached, addresses.find("user")) == ("old@example.org", "new@example.org")
        assert noticing.env.cloud.calls["users.find_user"] == 2

    def test_without_keystone_it_is_not_known_now(self, noticing: Noticing) -> None:
        addresses = Addresses(noticing.env.context)

        with noticing.env.failing("users.find_user"), pytest.raises(DeliveryFailed) as failed:
            addresses.find("user")

        assert (failed.value.is_silent, failed.value.is_of_site) == (True, True)
        assert addresses.find("user") is None
