"""Sending what lies in the outbox: at least once, and never in the way of anything else."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta

from blazar.booking.enforcement import PREFIX, FilterNotifier
from blazar.domain.errors import BlazarError, Unavailable
from blazar.ports.clock import Clock
from blazar.ports.enforcement import EnforcementFilter
from blazar.ports.notifier import Notifier
from blazar.ports.store import Message, Store
from blazar.ports.trail import NoTrail, Trail

SENT_AT_ONCE = 50
"""How many messages are taken from the outbox in one transaction."""
_TAKEN_FOR = timedelta(seconds=15)
"""Then others send what a manager took that died; if it is only slow, it is sent twice."""
_LONGEST_PAUSE = timedelta(minutes=5)

_logger = logging.getLogger(__name__)


class OutboxSender:
    """Takes messages out of the outbox and gives them to a notifier, or to the operator's filters."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        notifier: Notifier,
        filters: Mapping[str, EnforcementFilter],
        trail: Trail | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._notifier = notifier
        self._filters = FilterNotifier(filters)
        self._trail = trail or NoTrail()

    def send_due(self) -> int:
        """Send what is due, up to :data:`SENT_AT_ONCE`; return how many messages were delivered.

        A message that cannot be delivered is tried again later; those behind it are not held up.
        """
        now = self._clock.now()
        with self._store.begin() as transaction:
            messages = transaction.outbox.take(now, now + _TAKEN_FOR, SENT_AT_ONCE)
            transaction.commit()
        delivered: list[int] = []
        silent: set[object] = set()
        for message in messages:
            with self._trail.working_on(lease_id=message.lease_id):
                if self._deliver(message, silent):
                    delivered.append(message.id)
                else:
                    self._postpone(message.id, message.attempts)
        if delivered:
            with self._store.begin() as transaction:
                transaction.outbox.remove(delivered)
                transaction.commit()
        return len(delivered)

    def _deliver(self, message: Message, silent: set[object]) -> bool:
        """Return whether a message was delivered; who does not answer is added to those that are silent."""
        is_for_filter = message.event_type.startswith(PREFIX)
        notifier = self._filters if is_for_filter else self._notifier
        receiver = message.payload["filter"] if is_for_filter else None
        try:
            if receiver in silent:
                raise Unavailable("an earlier one was not delivered")
            notifier.notify(message.event_type, message.payload)
        except BlazarError as error:
            _logger.warning("%s was not delivered: %s", message.event_type, error)
            if is_for_filter:
                # To wait once for who does not answer is enough; the others must not wait as long.
                silent.add(receiver)
            return False
        return True

    def _postpone(self, message_id: int, attempts: int) -> None:
        pause = min(_LONGEST_PAUSE, timedelta(seconds=2 ** min(attempts, 16)))
        with self._store.begin() as transaction:
            transaction.outbox.postpone(message_id, self._clock.now() + pause)
            transaction.commit()
