"""Notifications of ordinary leases, as received by a consumer on RabbitMQ."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from cloudlab.tests.actors import Actor, Json, in_minutes, soon
from cloudlab.tests.end_to_end_lab import EndToEndLab
from cloudlab.tests.notices import Notices, consumer

MINUTE = 60

PAYLOAD = {
    "lease_id",
    "name",
    "user_id",
    "project_id",
    "trust_id",
    "start_date",
    "end_date",
    "status",
    "degraded",
    "created_at",
    "updated_at",
    "reservations",
    "events",
}
ENVELOPE = {"message_id", "publisher_id", "event_type", "priority", "payload", "timestamp", "_unique_id"}
"""Keys of a message without a context, which could contain a token."""


@pytest.fixture
def notices(lab: EndToEndLab) -> Iterator[Notices]:
    with consumer(lab.openstack) as notices:
        yield notices


def told(notices: Notices, lease: Json) -> list[tuple[str, str]]:
    """Return event type and status of each notification of a lease, after checking its payload."""
    messages = notices.messages(lease["id"])
    for each in messages:
        check(each, lease)
    return [(each["event_type"], each["payload"]["status"]) for each in messages]


def check(message: dict[str, Any], lease: Json) -> None:
    payload = message["payload"]
    assert message.keys() == ENVELOPE
    assert (message["publisher_id"], message["priority"]) == ("blazar.lease", "INFO")
    assert payload.keys() == PAYLOAD
    assert {key: payload[key] for key in ("name", "user_id", "project_id")} == {
        key: lease[key] for key in ("name", "user_id", "project_id")
    }
    assert [each.keys() for each in payload["reservations"]] == [
        each.keys() for each in lease["reservations"]
    ]
    assert [each.keys() for each in payload["events"]] == [each.keys() for each in lease["events"]]


@pytest.mark.long
def test_a_life_is_notified_from_its_beginning_to_its_end(lessee: Actor, notices: Notices) -> None:
    """No snapshot is requested, but the before-end event still occurs; the test waits about two minutes."""
    # The start is over by then. Managers that act at the same time may notify in either order.
    before_end = soon()
    lease = lessee.reserve(end=before_end + timedelta(minutes=1), before_end_date=before_end)

    notices.wait_for("lease.event.end_lease", lease["id"], seconds=4 * MINUTE)

    assert told(notices, lease) == [
        ("lease.create", "PENDING"),
        ("lease.event.start_lease", "ACTIVE"),
        ("lease.event.before_end_lease", "ACTIVE"),
        ("lease.event.end_lease", "TERMINATED"),
    ]


def test_changes_are_notified_until_the_lease_is_gone(lessee: Actor, notices: Notices) -> None:
    lease = lessee.reserve(start=in_minutes(60), end=in_minutes(120))

    lessee.blazar.lease.update(lease["id"], name="another")
    lessee.blazar.lease.update(lease["id"], name=lease["name"], end_date=in_minutes(180))
    lessee.blazar.lease.delete(lease["id"])
    notices.wait_for("lease.delete", lease["id"])

    events = told(notices, lease)
    assert [event_type for event_type, _ in events] == ["lease.create", "lease.update", "lease.delete"]
    assert events[-1] == ("lease.delete", "DELETING")
