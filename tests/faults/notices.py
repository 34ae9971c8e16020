"""A consumer of notifications that survives restarts of the broker, and of the nodes of a cluster."""

from __future__ import annotations

import json
import threading
from collections import Counter
from itertools import cycle
from types import TracebackType
from urllib.parse import SplitResult, urlsplit

import amqp

TOPIC = "notifications"
_QUEUE = f"{TOPIC}.info"
_EXCHANGE = "openstack"
_PAUSE_SECONDS = 0.2
_SILENCE_SECONDS = 10
"""Time after which a node that does not respond is left."""


class Notices:
    """Counter of notifications by lease ID and event type, in a thread; use it in a ``with`` statement."""

    def __init__(self, transport_url: str) -> None:
        self._hosts = [urlsplit(f"//{each}") for each in urlsplit(transport_url).netloc.split(",")]
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._is_there = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="notices")

    def __enter__(self) -> Notices:
        self._thread.start()
        assert self._is_there.wait(30), "the broker accepts no consumer"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_over.set()
        self._thread.join()

    @property
    def counts(self) -> Counter[tuple[str, str]]:
        """Return a copy of the counts so far."""
        with self._lock:
            return Counter(self._counts)

    def _listen(self) -> None:
        for host in cycle(self._hosts):
            if self._is_over.is_set():
                return
            try:
                with self._connection(host) as connection:
                    self._take_all(connection.channel())
            except (amqp.AMQPError, OSError):
                # The broker is restarting.
                self._is_over.wait(_PAUSE_SECONDS)

    def _connection(self, host: SplitResult) -> amqp.Connection:
        return amqp.Connection(
            f"{host.hostname}:{host.port}",
            userid=host.username,
            password=host.password,
            connect_timeout=5,
            read_timeout=_SILENCE_SECONDS,
        )

    def _take_all(self, channel: amqp.Channel) -> None:
        # Durable, as oslo.messaging declares both to survive restarts; the first to connect creates them.
        channel.exchange_declare(_EXCHANGE, "topic", durable=True, auto_delete=False)
        kind = {"x-queue-type": "quorum"} if len(self._hosts) > 1 else {}
        channel.queue_declare(_QUEUE, durable=True, auto_delete=False, arguments=kind)
        channel.queue_bind(_QUEUE, _EXCHANGE, routing_key=_QUEUE)
        self._is_there.set()
        while not self._is_over.is_set():
            message = channel.basic_get(_QUEUE)
            if message is None:
                self._is_over.wait(_PAUSE_SECONDS)
                continue
            self._note(json.loads(json.loads(message.body)["oslo.message"]))
            channel.basic_ack(message.delivery_tag)

    def _note(self, notification: dict[str, dict[str, str]]) -> None:
        with self._lock:
            self._counts[notification["payload"]["lease_id"], str(notification["event_type"])] += 1
