"""Notifications on the bus."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final

import oslo_messaging
from oslo_config.cfg import ConfigOpts

from blazar.domain.errors import Unavailable
from blazar.rpc.broker import configured_broker

WAIT_SECONDS: Final = 5.0
"""Longest wait for the broker to accept a notification."""

_UNREACHABLE: Final = "The message bus cannot be reached"


class BusNotifier:
    """Implements :class:`blazar.ports.outbox.Notifier` on ``[oslo_messaging_notifications]``.

    Without a configured driver, which is the library's default, no notification is sent.

    While the broker is down, the library retries without limit, or drops the notification if ``retry`` has a
    limit; it never reports an error. Therefore each notification is sent in a separate thread, for which the
    caller waits a bounded time. The thread delivers the notification when the broker is back, and the caller,
    to which a failure was reported, sends it again.
    """

    def __init__(self, conf: ConfigOpts, publisher_id: str, *, wait_seconds: float = WAIT_SECONDS) -> None:
        """Create a notifier.

        Args:
            conf: The configuration, with the options of oslo.messaging.
            publisher_id: The publisher that the notifications name.
            wait_seconds: Longest wait for the broker to accept a notification.
        """
        transport = oslo_messaging.get_notification_transport(conf)
        self._notifier = oslo_messaging.Notifier(transport, publisher_id=publisher_id)
        self._broker = configured_broker(conf, conf.oslo_messaging_notifications.transport_url)
        self._wait_seconds = wait_seconds
        self._sending: threading.Thread | None = None

    def notify(self, event_type: str, payload: Mapping[str, object]) -> None:
        """Send a notification at priority ``info``.

        Raises:
            Unavailable: The broker does not answer, or has not accepted an earlier notification yet.
        """
        if not self._notifier.is_enabled():
            return
        if (self._sending is not None and self._sending.is_alive()) or not self._broker.is_up():
            raise Unavailable(_UNREACHABLE)
        errors: list[Exception] = []
        self._sending = threading.Thread(
            target=self._send, args=(event_type, dict(payload), errors), name="notify", daemon=True
        )
        self._sending.start()
        self._sending.join(self._wait_seconds)
        is_sent = not self._sending.is_alive() and not errors
        self._broker.note(has_succeeded=is_sent)
        if not is_sent:
            raise Unavailable(_UNREACHABLE) from next(iter(errors), None)

    def _send(self, event_type: str, payload: dict[str, object], errors: list[Exception]) -> None:
        try:
            self._notifier.info({}, event_type, payload)
        except Exception as error:
            errors.append(error)
