"""Refusing requests that wait at the broker while no manager runs.

If the last manager has stopped, its queue remains, and the broker keeps the requests in it. A caller cannot
distinguish this from a manager that is slow. Therefore each process that sends requests watches the queue
while one of its requests is not answered. If the queue has no consumer for some time, the process takes the
requests from it and answers each one as a manager would: the service is unavailable.

A request is either in the queue or with a manager. So a request that a manager has received is never refused
here, however slow the manager is, and a request that is refused here has had no effect.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any, Final, Protocol, cast

import kombu.entity
import oslo_messaging
from amqp.exceptions import NotFound
from oslo_messaging._drivers import common

from blazar.domain.errors import Unavailable
from blazar.rpc.messages import error_reply

_PATIENCE_SECONDS: Final = 1
"""Most requests are answered within this time, and the broker is not asked at all."""
_GRACE_SECONDS: Final = 3
"""Time for which a queue may have no consumer, so that a quick restart of the only manager is not noticed."""
_INTERVAL_SECONDS: Final = 0.5
_NO_MANAGER: Final = error_reply(Unavailable("No manager is running; the request had no effect"))

_Queue: Final[Any] = kombu.entity.Queue

_logger = logging.getLogger(__name__)


class RequestQueue(Protocol):
    """The queue of requests that all managers share."""

    def is_unattended(self) -> bool:
        """Return whether requests wait in the queue and no manager reads them."""

    def refuse_all(self) -> None:
        """Answer all requests in the queue."""


class Watch:
    """Watches a queue in a thread of this process, while a request is not answered for longer than usual."""

    def __init__(self, queue: RequestQueue) -> None:
        """Create a watch; its thread starts with the first request, so the process may fork before."""
        self._queue = queue
        self._lock = threading.Lock()
        self._numbers = count()
        self._began: dict[int, float] = {}
        self._is_waiting = threading.Event()
        self._pid = 0

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Watch the queue inside the block, in which a request is sent and its answer awaited."""
        number = next(self._numbers)
        with self._lock:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                threading.Thread(target=self._run, name="unattended", daemon=True).start()
            self._began[number] = time.monotonic()
        self._is_waiting.set()
        try:
            yield
        finally:
            with self._lock:
                del self._began[number]

    def _run(self) -> None:
        unattended_since: float | None = None
        while True:
            self._is_waiting.wait()
            threading.Event().wait(_INTERVAL_SECONDS)
            if not self._is_late():
                unattended_since = None
                continue
            try:
                unattended_since = self._look(unattended_since)
            except Exception as error:
                # The broker is not available, for example. Each caller has its own timeout.
                _logger.info("cannot look after the queue of requests: reason=%s", error)
                unattended_since = None

    def _is_late(self) -> bool:
        """Return whether a request waits for longer than usual."""
        with self._lock:
            if not self._began:
                self._is_waiting.clear()
                return False
            return time.monotonic() - min(self._began.values()) > _PATIENCE_SECONDS

    def _look(self, since: float | None) -> float | None:
        """Return the time since which the queue was always seen unattended, or None."""
        if not self._queue.is_unattended():
            return None
        now = time.monotonic()
        if since is not None and now - since >= _GRACE_SECONDS:
            self._queue.refuse_all()
        return now if since is None else since


class RabbitQueue:
    """Implements :class:`RequestQueue` with oslo.messaging's connections to RabbitMQ."""

    def __init__(self, driver: Any, topic: str) -> None:
        """Create a queue object; this opens no connection."""
        self._driver, self._topic = driver, topic

    def is_unattended(self) -> bool:
        """Return whether requests wait in the queue and no manager reads them."""
        with self._connection() as connection, _channel(connection) as channel:
            try:
                found = _Queue(self._topic, channel=channel).queue_declare(passive=True)
            except NotFound:
                return False
            return bool(found.message_count) and not found.consumer_count

    def refuse_all(self) -> None:
        """Answer all requests in the queue."""
        with self._connection() as connection:
            while (request := self._take(connection)) is not None:
                _refuse(connection, request)

    def _take(self, connection: Any) -> Mapping[str, Any] | None:
        """Remove a request from the queue and return it; None if the queue is empty."""
        with _channel(connection) as channel:
            # Without acknowledgement: a request that was refused must not be delivered to a manager later.
            message = _Queue(self._topic, channel=channel).get(no_ack=True)
            return None if message is None else common.deserialize_msg(message.payload)

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        """Yield a connection of the library's pool."""
        with self._driver._get_connection(common.PURPOSE_SEND, retry=0) as pooled:
            yield pooled.connection


def _refuse(connection: Any, request: Mapping[str, Any]) -> None:
    reply_to, message_id = request.get("_reply_q"), request.get("_msg_id")
    _logger.warning("no manager runs; a request is refused: msg_id=%s", message_id)
    if reply_to is None:
        return
    answer = {"result": _NO_MANAGER, "failure": None, "ending": True, "_msg_id": message_id}
    try:
        connection.direct_send(reply_to, common.serialize_msg(answer))
    except oslo_messaging.MessageUndeliverable:
        _logger.info("the caller of a refused request has gone: msg_id=%s", message_id)


@contextmanager
def _channel(connection: Any) -> Iterator[Any]:
    """Yield a channel of its own, because an error closes it; no other thread uses the connection."""
    with connection._connection_lock:
        channel = connection.connection.channel()
        try:
            yield channel
        finally:
            connection.connection.maybe_close_channel(channel)


def make_watch(transport: oslo_messaging.Transport, topic: str) -> Watch | None:
    """Return a watch for the managers' queue; None for another bus than RabbitMQ, which keeps no requests."""
    driver = cast("Any", transport)._driver
    return Watch(RabbitQueue(driver, topic)) if hasattr(driver, "_get_connection") else None
