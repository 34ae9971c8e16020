"""Receiving Nova's notifications about compute services.

The content of a notification is not trusted: it only tells which service may have changed.
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
"""Pause before a retry."""

OnChange = Callable[[str], object]
"""Called with the name of the compute service that changed; may raise BlazarError."""

_logger = logging.getLogger(__name__)


class HostNotifications:
    """Calls a function for each notification of a compute service; listeners of the same pool share them.

    Other consumers of the same topics still receive every notification, because the pool has its own queue.
    """

    def __init__(self, conf: ConfigOpts, source: NotificationSource, on_change: OnChange) -> None:
        """Create a listener on the bus of ``[oslo_messaging_notifications]`` that is not started yet.

        Args:
            conf: The configuration; the global one, as for the rest of the bus.
            source: The source of the notifications.
            on_change: The function to call, in threads of the listener.
        """
        self._transport = oslo_messaging.get_notification_transport(conf)
        self._source = source
        self._stopping = threading.Event()
        self._endpoint = _Endpoint(on_change, self._stopping)
        self._listener: oslo_messaging.MessageHandlingServer | None = None
        self._thread = threading.Thread(target=self._listen, name="notifications", daemon=True)

    def start(self) -> None:
        """Start listening as soon as the broker is reachable; return at once."""
        self._thread.start()

    def stop(self) -> None:
        """Stop listening; unhandled notifications are handled by another manager, or later."""
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
                _logger.warning("cannot receive notifications of compute services: reason=%s", error)
            except Exception:
                # The library raises any exception if the transport is cleaned up while it connects.
                if not self._stopping.is_set():
                    _logger.exception("cannot receive notifications of compute services")
            else:
                self._listener = listener
                if self._stopping.is_set():
                    listener.stop()
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
    """The endpoint that oslo.messaging calls for each message; a message is acknowledged when it returns."""

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
            _logger.warning(
                "ignoring a notification: event_type=%s publisher=%s reason=%s",
                event_type,
                publisher_id,
                error,
            )
            return
        if service_host is not None:
            self._pass_on(service_host)

    warn = error = info

    def _pass_on(self, service_host: str) -> None:
        """Retry until it succeeds. A change missed because the manager stops is seen at its next start."""
        while True:
            try:
                self._on_change(service_host)
            except BlazarError as error:
                _logger.warning(
                    "cannot record a change of a compute service yet: service=%s reason=%s",
                    service_host,
                    error,
                )
            else:
                return
            if self._stopping.wait(_PAUSE_SECONDS):
                return


def _compute_service(payload: object) -> str | None:
    """Return the host of the nova-compute that a payload describes; None if it describes another service.

    Raises:
        ValueError: The payload is not that of a service.
    """
    data = payload.get("nova_object.data") if isinstance(payload, Mapping) else None
    if not isinstance(data, Mapping):
        raise ValueError("it has no nova_object.data")
    binary, host = data.get("binary"), data.get("host")
    if not isinstance(binary, str) or not isinstance(host, str):
        raise ValueError("host and binary must be text")
    return host if binary == _BINARY else None
