"""Outages of the site's own services delay notices, and are no failures of their receivers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from app.conftest import EnvWith
from app.subscribing import Noticing, make_noticing, noticing_settings

from blazar.domain.subscriptions import ChannelKind
from blazar.ports.notices import DeliveryFailed

OUTAGE = DeliveryFailed("the mail server does not respond", is_silent=True, is_of_site=True)


@pytest.fixture
def noticing(env_with: EnvWith) -> Noticing:
    return make_noticing(env_with(noticing_settings(check_interval=timedelta(0))))


def test_a_day_without_the_mail_server_disables_no_subscription(noticing: Noticing) -> None:
    made = noticing.subscribe(kind="mail")
    noticing.mail.always = lambda delivery: OUTAGE
    noticing.env.create(5000, 5060)
    noticing.env.work()
    noticing.wait(hours=23)
    assert [each["status"] for each in noticing.waiting(made)] == ["waiting"]

    for _ in range(2 * 4):
        noticing.wait(minutes=15)

    shown = noticing.show(made)
    assert (shown["enabled"], shown["problem"]) == (True, "the mail server does not respond")
    assert shown["failing_since"] is None
    assert [each["status"] for each in noticing.waiting(made)] == ["failed"]

    noticing.mail.always = lambda delivery: None
    later = noticing.env.create(6000, 6060)
    noticing.wait(hours=1)
    assert [each.lease_id for each in noticing.mail.received] == [later["id"]]
    assert noticing.show(made)["problem"] is None


def test_a_day_without_the_mail_server_does_not_count_as_failure_of_the_receiver(noticing: Noticing) -> None:
    made = noticing.subscribe(kind="mail")
    full = DeliveryFailed("the mail server refused the address: 450")
    noticing.mail.failures = [full]
    noticing.mail.always = lambda delivery: OUTAGE
    noticing.env.create(5000, 5060)
    noticing.env.work()
    assert noticing.show(made)["failing_since"] is not None
    for _ in range(25):
        noticing.wait(hours=1)

    noticing.mail.always = lambda delivery: full
    noticing.env.create(6000, 6060)
    noticing.wait(hours=1)
    shown = noticing.show(made)
    assert (shown["enabled"], shown["problem"]) == (True, full.problem)
    assert shown["failing_since"] is not None

    for _ in range(26):
        noticing.wait(hours=1)
    assert not noticing.show(made)["enabled"]


def test_a_channel_that_is_switched_off_for_a_day_disables_no_subscription(noticing: Noticing) -> None:
    made = noticing.subscribe(kind="mail")
    env, channels = noticing.env, noticing.env.channels
    env.channels = {ChannelKind.WEBHOOK: noticing.webhooks}
    env.restart(env.context)
    env.create(5000, 5060)
    for _ in range(25):
        noticing.wait(hours=1)

    env.channels = channels
    env.restart(env.context)
    env.create(6000, 6060)
    noticing.wait(hours=1)

    assert noticing.mail.types == ["lease.created"]
    assert noticing.show(made)["enabled"]
