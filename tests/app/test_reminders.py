"""Reminders of starts and ends, expired offers, and the conditions of operators."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import ClassVar

import pytest
import sqlalchemy as sa
from app.conftest import EnvWith
from app.http_env import ADMIN, LESSEE, NEWER, STRANGER, Json, good, refusal
from app.subscribing import Noticing, make_noticing, noticing_settings
from clocks import EPOCH
from samples import make_lease

from blazar.db import tables
from blazar.domain.lease import LeaseId
from blazar.domain.notices import Notice, NoticeType
from blazar.domain.subscriptions import ChannelKind, Scope, Subscription
from blazar.ports.notices import Delivery, DeliveryFailed
from blazar.reconcile.notices import NoticeSender
from blazar.reconcile.periodic.notices import due_reminders
from blazar.reconcile.periodic.tasks import CHECK_NOTICES

LONG, SHORT = 40, 10
"""The lead times of the site, in minutes."""
UNIT = 60
ENDS_SOON = ["lease.ends_soon"]
AWAY = DeliveryFailed("no answer", is_silent=True)


def make(env_with: EnvWith, **keys: object) -> Noticing:
    noticing = make_noticing(env_with(noticing_settings(**keys)))
    check(noticing)
    return noticing


@pytest.fixture
def noticing(env_with: EnvWith) -> Noticing:
    return make(env_with, leads=(timedelta(minutes=LONG), timedelta(minutes=SHORT)))


def check(noticing: Noticing) -> None:
    """Run the periodic task now, and then every minute."""
    with noticing.env.context.store.begin() as transaction:
        transaction.work.schedule([CHECK_NOTICES], noticing.env.clock.now())
        transaction.commit()
    noticing.env.work()


def at(minutes: float) -> datetime:
    return EPOCH + timedelta(minutes=minutes)


def minutes(deliveries: list[Delivery]) -> list[object]:
    return [each.data["lead_minutes"] for each in deliveries]


class TestReminders:
    def test_they_come_at_each_lead_time(self, noticing: Noticing) -> None:
        noticing.subscribe(events=["lease.starts_soon", "lease.ends_soon"])
        noticing.env.create(2 * UNIT, 5 * UNIT)

        noticing.env.pass_time(5 * UNIT + 10)

        told = [(each.type, each.data["lead_minutes"], each.at) for each in noticing.webhooks.received]
        assert told == [
            ("lease.starts_soon", LONG, at(2 * UNIT - LONG)),
            ("lease.starts_soon", SHORT, at(2 * UNIT - SHORT)),
            ("lease.ends_soon", LONG, at(5 * UNIT - LONG)),
            ("lease.ends_soon", SHORT, at(5 * UNIT - SHORT)),
        ]
        assert noticing.webhooks.received[2].data["date"] == noticing.env.shown(5 * UNIT)

    def test_a_subscription_has_lead_times_of_its_own(self, noticing: Noticing) -> None:
        lease = noticing.env.create("now", 100)
        other = noticing.env.create(1, 100)
        noticing.subscribe(events=ENDS_SOON, lead_minutes=[30, 10], lease_id=lease["id"])
        noticing.subscribe(events=ENDS_SOON, lead_minutes=[], lease_id=other["id"])

        noticing.env.pass_time(120)

        assert minutes(noticing.webhooks.received) == [30, 10]
        assert {each.lease_id for each in noticing.webhooks.received} == {lease["id"]}

    def test_the_last_one_makes_earlier_ones_superfluous(self, noticing: Noticing) -> None:
        noticing.env.create("now", 10 * UNIT)
        noticing.env.pass_time(10 * UNIT - 5)

        noticing.subscribe(events=ENDS_SOON)
        noticing.env.pass_time(10 * UNIT + 10)

        assert minutes(noticing.webhooks.received) == [SHORT]

    def test_a_lead_time_longer_than_the_lease_is_left_out(self, noticing: Noticing) -> None:
        noticing.subscribe(events=["lease.starts_soon", "lease.ends_soon"])

        noticing.env.create(5, 14)
        noticing.env.pass_time(60)

        assert noticing.webhooks.received == []

    def test_after_a_change_of_the_end_they_come_for_the_new_end(self, noticing: Noticing) -> None:
        noticing.subscribe(events=ENDS_SOON)
        lease = noticing.env.create("now", 5 * UNIT)
        noticing.env.pass_time(4 * UNIT + 30)
        noticing.env.change(lease, end_date=noticing.env.date(9 * UNIT))

        noticing.env.pass_time(9 * UNIT + 10)

        assert minutes(noticing.webhooks.received) == [LONG, LONG, SHORT]
        dates = [each.data["date"] for each in noticing.webhooks.received]
        assert dates == [noticing.env.shown(5 * UNIT), *[noticing.env.shown(9 * UNIT)] * 2]

    def test_one_that_was_not_delivered_before_the_end_was_changed_is_dropped(
        self, noticing: Noticing
    ) -> None:
        noticing.subscribe(events=ENDS_SOON)
        lease = noticing.env.create("now", 5 * UNIT)
        noticing.webhooks.failures = [AWAY]
        noticing.env.pass_time(5 * UNIT - LONG)
        assert len(noticing.webhooks.attempts) == 1

        noticing.env.change(lease, end_date=noticing.env.date(20 * UNIT))
        noticing.env.pass_time(5 * UNIT - LONG + 10)

        assert noticing.webhooks.received == []
        with noticing.env.engine.connect() as connection:
            assert connection.scalar(sa.select(sa.func.count()).select_from(tables.deliveries)) == 0

    def test_one_that_comes_after_the_end_is_dropped(self, noticing: Noticing) -> None:
        noticing.subscribe(events=ENDS_SOON)
        noticing.env.create("now", 90)
        noticing.webhooks.always = lambda delivery: AWAY
        noticing.env.pass_time(90)

        noticing.webhooks.always = lambda delivery: None
        noticing.env.pass_time(3 * 60)

        assert noticing.webhooks.received == []

    def test_none_comes_of_a_lease_that_was_deleted(self, noticing: Noticing) -> None:
        noticing.subscribe(events=["lease.starts_soon"])
        lease = noticing.env.create(2 * UNIT, 5 * UNIT)
        good(noticing.env.delete(f"/leases/{lease['id']}", who=LESSEE), 204)

        noticing.env.pass_time(3 * UNIT)

        assert noticing.webhooks.received == []

    def test_a_restart_repeats_nothing_and_misses_nothing(self, noticing: Noticing) -> None:
        noticing.subscribe(events=ENDS_SOON)
        noticing.env.create("now", 5 * UNIT)
        noticing.env.pass_time(4 * UNIT + 30)
        noticing.env.forget_indexes()
        check(noticing)
        noticing.env.forget_indexes()

        noticing.env.pass_time(5 * UNIT)

        assert minutes(noticing.webhooks.received) == [LONG, SHORT]

    def test_a_manager_that_is_killed_before_it_stores_them_repeats_the_check(
        self, noticing: Noticing
    ) -> None:
        noticing.subscribe(events=ENDS_SOON)
        noticing.env.create("now", 5 * UNIT)
        noticing.env.clock.advance(timedelta(minutes=4 * UNIT + 30))
        sender = NoticeSender(noticing.env.context, {ChannelKind.WEBHOOK: noticing.webhooks})
        sender.send_due()
        assert noticing.webhooks.received == []

        check(noticing)
        check(noticing)

        assert minutes(noticing.webhooks.received) == [LONG]


class TestOffers:
    def offer(self, noticing: Noticing, **keys: object) -> Json:
        body = {**noticing.env.wish(1000, 1060), "ttl_seconds": 60, **keys}
        found: Json = good(noticing.env.post("/offers", body, who=LESSEE, headers=NEWER), 201)["offer"]
        return found

    def test_an_expired_offer_is_told_once(self, noticing: Noticing) -> None:
        made, foreign = noticing.subscribe(events=["offer.expired"]), noticing.subscribe(who=STRANGER)
        offer = self.offer(noticing)

        noticing.env.pass_time(30)
        noticing.subscribe(events=["offer.expired"])
        for _ in range(6):
            noticing.wait(hours=12)

        (delivery,) = noticing.webhooks.received
        told = delivery.data["offer"]
        assert isinstance(told, dict)
        assert (told["id"], told["start_date"]) == (offer["id"], noticing.env.shown(1000))
        assert noticing.webhooks.of(made) == ["offer.expired"]
        assert noticing.webhooks.of(foreign) == []

    def test_one_that_nobody_asked_for_is_not(self, noticing: Noticing) -> None:
        noticing.subscribe(events=["offer.expired"])
        silent = self.offer(noticing, expiry_notice=False)
        lease = noticing.env.create(10, 60)
        change = {"end_date": noticing.env.date(90), "ttl_seconds": 60, "expiry_notice": False}
        path = f"/leases/{lease['id']}/offers"
        changed = good(noticing.env.post(path, change, who=LESSEE, headers=NEWER), 201)["offer"]

        noticing.env.pass_time(5)

        assert (silent["expiry_notice"], changed["expiry_notice"]) == (False, False)
        assert self.offer(noticing)["expiry_notice"] is True
        assert noticing.webhooks.received == []

    def test_whether_it_is_told_is_true_or_false(self, noticing: Noticing) -> None:
        body = {**noticing.env.wish(1000, 1060), "expiry_notice": "no"}

        assert "expiry_notice" in refusal(noticing.env.post("/offers", body, who=LESSEE, headers=NEWER), 400)

    def test_one_that_was_committed_is_not(self, noticing: Noticing) -> None:
        noticing.subscribe(events=["offer.expired"])
        offer = self.offer(noticing)
        good(noticing.env.post("/leases", {"offer_id": offer["id"]}, who=LESSEE, headers=NEWER), 201)

        noticing.env.pass_time(30)

        assert noticing.webhooks.received == []


class TestConditions:
    def test_low_resources_are_told_once_until_there_are_enough(self, noticing: Noticing) -> None:
        noticing.subscribe(
            who=ADMIN, scope="site", events=["resources.low"], resource_type="physical:host", below=2
        )
        noticing.env.pass_time(3)
        assert noticing.webhooks.received == []

        noticing.env.create(5, 20)
        noticing.env.pass_time(10)
        (low,) = noticing.webhooks.received
        assert low.data == {"region": None, "resource_type": "physical:host", "free": 1, "below": 2}

        noticing.env.pass_time(30)
        noticing.env.create(40, 60)
        noticing.env.pass_time(50)
        assert noticing.webhooks.types == ["resources.low"] * 2

    def test_a_lease_that_waits_is_told_once(self, noticing: Noticing) -> None:
        noticing.subscribe(who=ADMIN, scope="site", events=["lease.waits"], waits_minutes=10)
        lease = noticing.env.create(5, 200)

        with noticing.env.failing("compute.add_host"):
            noticing.env.pass_time(14)
            early = list(noticing.webhooks.received)
            noticing.env.pass_time(40)

        assert early == []
        (waits,) = noticing.webhooks.received
        assert waits.lease_id == lease["id"]
        assert waits.data["lease"]["id"] == lease["id"]  # type: ignore[index]
        assert waits.data["reasons"]

    def test_lessees_are_told_of_neither(self, noticing: Noticing) -> None:
        made = noticing.subscribe()

        assert not {"resources.low", "lease.waits"} & set(made["events"])


class TestDefaults:
    TYPES = frozenset({NoticeType.ENDED, NoticeType.ENDS_SOON})

    def test_owners_get_the_configured_notices_by_mail(self, env_with: EnvWith) -> None:
        noticing = make(env_with, default_types=self.TYPES)
        noticing.env.create("now", 90)
        noticing.env.create(100, 110, who=STRANGER)

        noticing.env.pass_time(120)

        told = [(each.subscription.user_id, each.type) for each in noticing.mail.received]
        assert told == [("user", "lease.ends_soon"), ("user", "lease.ended"), ("stranger", "lease.ended")]
        (made,) = noticing.all()
        assert (made["default"], made["kind"], made["scope"]) == (True, "mail", "own")
        assert made["events"] == ["lease.ends_soon", "lease.ended"]

    def test_leases_from_before_the_configuration_are_included(self, env_with: EnvWith) -> None:
        noticing = make(env_with, channels=frozenset())
        noticing.env.create("now", 90)
        later = make_again(noticing, default_types=self.TYPES)

        later.env.pass_time(100)

        assert later.mail.types == ["lease.ends_soon", "lease.ended"]

    def test_those_made_under_an_earlier_configuration_can_be_changed(self, env_with: EnvWith) -> None:
        noticing = make(env_with, default_types=self.TYPES)
        noticing.env.create("now", 90)
        noticing.env.work()
        (made,) = noticing.all()
        later = make_again(noticing, default_types=frozenset({NoticeType.STARTED}))

        changed = later.change(made, language="de")

        assert (changed["language"], changed["events"]) == ("de", ["lease.started"])

    def test_owners_can_disable_and_change_them_but_not_delete(self, env_with: EnvWith) -> None:
        noticing = make(env_with, default_types=self.TYPES)
        noticing.env.create("now", 90)
        noticing.env.work()
        (made,) = noticing.all()

        answer = noticing.ask("DELETE", None, f"/{made['id']}")
        noticing.change(made, events=["lease.started"])
        noticing.env.create(100, 110)
        noticing.env.pass_time(120)
        assert answer.status_code == 409
        assert noticing.mail.types == ["lease.started"]

        noticing.change(made, enabled=False)
        noticing.env.create(130, 140)
        noticing.env.pass_time(150)
        assert noticing.mail.types == ["lease.started"]
        assert len(noticing.all()) == 1


def make_again(noticing: Noticing, **keys: object) -> Noticing:
    """Return the service after a restart with other settings of notices."""
    env = noticing.env
    env.settings = noticing_settings(**keys)
    env.restart(replace(env.context, settings=env.settings))
    check(noticing)
    return noticing


def test_old_records_are_deleted(noticing: Noticing) -> None:
    noticing.subscribe(events=ENDS_SOON)
    lease = noticing.env.create("now", 2 * UNIT)
    of_lease = noticing.subscribe(lease_id=lease["id"])
    noticing.env.pass_time(2 * UNIT + 10)
    good(noticing.env.delete(f"/leases/{lease['id']}", who=LESSEE), 204)

    for _ in range(6):
        noticing.wait(hours=12)

    assert of_lease["id"] not in [each["id"] for each in noticing.all()]
    with noticing.env.engine.connect() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(tables.told)) == 0


class Compared(Subscription):
    """A subscription that counts the leases with which it is compared."""

    count: ClassVar[int] = 0

    def covers(self, notice: Notice) -> bool:
        Compared.count += 1
        return super().covers(notice)


def test_a_long_lead_time_of_one_lessee_does_not_compare_all_leases_with_all(noticing: Noticing) -> None:
    projects = [str(number) for number in range(20)]
    lease = make_lease(end=999, reservations=0, created_at=EPOCH - timedelta(days=60))
    leases = [
        replace(lease, id=LeaseId(f"{project}-{day}"), project_id=project, start=EPOCH + timedelta(days=day))
        for project in projects
        for day in range(1, 31)
    ]
    short, long = (timedelta(days=1, hours=1),), (timedelta(days=31),)
    subscribed = [
        Compared(
            id=f"s{project}",
            scope=Scope.PROJECT,
            project_id=project,
            user_id="user",
            kind=ChannelKind.WEBHOOK,
            types=frozenset({NoticeType.STARTS_SOON}),
            leads=long if project == "0" else short,
            created_at=EPOCH,
        )
        for project in projects
    ]
    Compared.count = 0

    due = list(due_reminders(noticing.env.context, NoticeType.STARTS_SOON, leases, subscribed))

    assert Compared.count == 30 + 19
    assert len(due) == 30 + 19
