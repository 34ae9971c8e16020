"""Notices of leases whose start takes as long as the lease."""

from __future__ import annotations

from datetime import timedelta

from app.conftest import EnvWith
from app.subscribing import make_noticing, noticing_settings


def test_a_lease_that_ends_before_it_has_started_is_told_as_failed(env_with: EnvWith) -> None:
    noticing = make_noticing(env_with(noticing_settings(check_interval=timedelta(0))))
    noticing.subscribe()
    noticing.env.create(10, 60)

    with noticing.env.failing("compute.add_host", status=503):
        noticing.env.pass_time(20)
        noticing.env.pass_time(100)
    noticing.env.pass_time(1)

    assert noticing.webhooks.types == ["lease.created", "lease.failed", "lease.ended"]
    reasons = noticing.webhooks.received[1].data["reasons"]
    assert isinstance(reasons, list)
    assert reasons[0]["text"]
