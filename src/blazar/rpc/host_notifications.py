"""Hearing what Nova notifies of compute services.

What is heard is news and not knowledge: it says of which service something has changed, and no more.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping

import oslo_messaging
from oslo_config.cfg import ConfigOpts

from blazar.domain.errors import BlazarError
from blazar.settings import NotificationSource

_EVENTS = ("service.create", "service.update", "service.delete")
_BINARY = "nova-compute"
_PAUSE_SECONDS = 2.0
"""Before something is tried again."""

OnChange = Callable[[str], object]
"""Called with the name of a compute service of which something has changed; may raise BlazarError."""

_logger = logging.getLogger(__name__)


class HostNotifications:
    """Calls somebody for each notification of a compute service; those who name the same pool share them.

    Other consumers of the same topics get every notification, too: the pool has a queue of its own.
    """

    def __init__(self, conf: ConfigOpts, source: NotificationSource, on_change: OnChange) -> None:
        """Make a listener on the bus of ``[oslo_messaging_notifications]``, not started yet.

        Args:
            conf: The configuration; the global one, as for the rest of the bus.
            source: Where the notifications are.
            on_change: Who is called, in threads of the listener's.
        """
        self._transport = oslo_messaging.get_notification_transport(conf)
        self._source = source
        self._stopping = threading.Event()
        self._endpoint = _Endpoint(on_change, self._stopping)
        self._listener: oslo_messaging.MessageHandlingServer | None = None
        self._thread = threading.Thread(target=self._listen, name="notifications", daemon=True)

    def start(self) -> None:
        """Begin to listen as soon as the broker can be reached, and return at once."""
        self._thread.start()

    def stop(self) -> None:
        """End listening; what was not handled yet is handled by another manager, or later."""
        self._stopping.set()
        if self._listener is not None:
            self._listener.stop()
            self._listener.wait()
        self._transport.cleanup()

    def _listen(self) -> None:
        while not self._stopping.is_set():
            try:
                listener = self._make_listener()
                listener.start()
            except oslo_messaging.MessagingException as error:
                _logger.warning("notifications of compute services cannot be heard: %s", error)
            else:
                self._listener = listener
                return
            self._stopping.wait(_PAUSE_SECONDS)

    def _make_listener(self) -> oslo_messaging.MessageHandlingServer:
        return oslo_messaging.get_notification_listener(
            self._transport,
            [
                oslo_messaging.Target(topic=topic, exchange=self._source.exchange)
                for topic in self._source.topics
            ],
            [self._endpoint],
            executor="threading",
            pool=self._source.pool,
        )


class _Endpoint:
    """What oslo.messaging calls for each message; messages are acknowledged when it returns."""

    def __init__(self, on_change: OnChange, stopping: threading.Event) -> None:
        self._on_change = on_change
        self._stopping = stopping

    def info(
        self,
        context: object,
        publisher_id: object,
        event_type: object,
        payload: object,
        metadata: object,
    ) -> None:
        if event_type not in _EVENTS:
            return
        try:
            service_host = _compute_service(payload)
        except ValueError as error:
            _logger.warning("notification %s of %s is passed over: %s", event_type, publisher_id, error)
            return
        if service_host is not None:
            self._pass_on(service_host)

    warn = error = info

    def _pass_on(self, service_host: str) -> None:
        """Try until it is done. What is given up because the manager stops is seen at its next start."""
        while True:
            try:
                self._on_change(service_host)
            except BlazarError as error:
                _logger.warning("a change of compute service %s is noted later: %s", service_host, error)
            else:
                return
            if self._stopping.wait(_PAUSE_SECONDS):
                return


def _compute_service(payload: object) -> str | None:
    """Return the host of the nova-compute of which a payload tells, None if it tells of another service.

    Raises:
        ValueError: It is no payload of a service.
    """
    data = payload.get("nova_object.data") if isinstance(payload, Mapping) else None
    if not isinstance(data, Mapping):
        raise ValueError("it has no nova_object.data")
    binary, host = data.get("binary"), data.get("host")
    if not isinstance(binary, str) or not isinstance(host, str):
        raise ValueError("host and binary must be text")
    return host if binary == _BINARY else None
