"""Notifications without a bus: one log line each."""

from __future__ import annotations

import logging
from collections.abc import Mapping

_logger = logging.getLogger(__name__)


class LogNotifier:
    """Implements :class:`blazar.ports.outbox.Notifier`."""

    def notify(self, event_type: str, payload: Mapping[str, object]) -> None:
        """Log the event, the lease and its status."""
        _logger.info(
            "notification: event_type=%s lease=%s status=%s",
            event_type,
            payload.get("lease_id"),
            payload.get("status"),
        )
