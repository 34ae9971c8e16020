"""Notifications of the service, as received by a consumer on the broker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import amqp

from cloudlab import plan as plans
from cloudlab.errors import LabError
from cloudlab.lab import OpenStackLab
from cloudlab.waiting import wait_until

_EXCHANGE: Final = "openstack"
_TOPIC: Final = "notifications.info"


class Notices:
    """Notifications of leases since the start of the consumer."""

    def __init__(self, channel: amqp.Channel, queue: str) -> None:
        self._channel = channel
        self._queue = queue
        self._seen: list[dict[str, Any]] = []

    def messages(self, lease_id: str) -> list[dict[str, Any]]:
        """Return a lease's notifications so far, with their payloads."""
        while (message := self._channel.basic_get(self._queue, no_ack=True)) is not None:
            self._seen.append(json.loads(json.loads(message.body)["oslo.message"]))
        return [each for each in self._seen if each["payload"].get("lease_id") == lease_id]

    def of(self, lease_id: str) -> list[str]:
        """Return the event types of a lease's notifications so far."""
        return [each["event_type"] for each in self.messages(lease_id)]

    def wait_for(self, event_type: str, lease_id: str, *, seconds: float = 15) -> None:
        """Return when a notification of a lease has arrived. Raises LabError after a timeout."""
        wait_until(
            lambda: event_type in self.of(lease_id),
            f"{event_type} of lease {lease_id} is notified",
            seconds=seconds,
            explain=lambda: str([(each["event_type"], each["payload"]) for each in self._seen]),
        )


@contextmanager
def consumer(openstack: OpenStackLab) -> Iterator[Notices]:
    """Consume notifications from a lab's broker, with a queue of its own."""
    plan = plans.read(openstack.folder)
    if plan is None:
        raise LabError("the lab is gone")
    with amqp.Connection(
        plan.address("rabbitmq"), userid="cloudlab", password=plan.passwords["rabbitmq"], heartbeat=0
    ) as connection:
        channel = connection.channel()
        # Declared as by oslo.messaging; the first client declares it.
        channel.exchange_declare(_EXCHANGE, "topic", durable=False, auto_delete=False)
        queue = channel.queue_declare(exclusive=True).queue
        channel.queue_bind(queue, _EXCHANGE, routing_key=_TOPIC)
        yield Notices(channel, queue)
