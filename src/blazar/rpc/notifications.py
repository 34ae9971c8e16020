"""Notifications on the bus."""

from __future__ import annotations

from collections.abc import Mapping

import oslo_messaging
from oslo_config.cfg import ConfigOpts

from blazar.domain.errors import Unavailable


class BusNotifier:
    """Implements :class:`blazar.ports.outbox.Notifier` on ``[oslo_messaging_notifications]``.

    Without a configured driver, which is the library's default, no notification is sent.
    """

    def __init__(self, conf: ConfigOpts, publisher_id: str) -> None:
        transport = oslo_messaging.get_notification_transport(conf)
        self._notifier = oslo_messaging.Notifier(transport, publisher_id=publisher_id)

    def notify(self, event_type: str, payload: Mapping[str, object]) -> None:
        """Send a notification at priority ``info``. Raises Unavailable."""
        try:
            self._notifier.info({}, event_type, dict(payload))
        except oslo_messaging.MessagingException as error:
            raise Unavailable("The message bus cannot be reached") from error
