"""Sending messages from the outbox: at least once.

A message that cannot be delivered delays only itself. While the message bus cannot be reached, all
notifications wait, so that they keep their order.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta

from blazar.booking.context import Context
from blazar.booking.enforcement import PREFIX, FilterNotifier
from blazar.domain.errors import BlazarError, Unavailable
from blazar.null_ports import NoLogContext
from blazar.ports.clock import Clock
from blazar.ports.enforcement import EnforcementFilter
from blazar.ports.log_context import LogContext
from blazar.ports.outbox import Message, Notifier
from blazar.ports.store import Store

SENT_AT_ONCE = 50
"""Maximum number of messages taken from the outbox in one transaction."""
GIVE_UP_AFTER = timedelta(days=3)
"""Default age after which the sender gives up on a message."""
_TAKEN_FOR = timedelta(seconds=15)
"""Time after which another manager sends the messages. If the first was only slow, they are sent twice."""
_LONGEST_BATCH = timedelta(seconds=5)
"""Time after which the rest of a batch is left to the next one, so that no other manager sends it too."""
_LONGEST_PAUSE = timedelta(minutes=5)
_SLOW = timedelta(seconds=1)
"""A receiver whose failure took this long is not tried again for ``_SILENCE``."""
_SILENCE = timedelta(seconds=30)
_BUS = "the message bus"

_logger = logging.getLogger(__name__)


class OutboxSender:
    """Takes messages from the outbox and delivers them to a notifier or to the operator's filters."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        notifier: Notifier,
        filters: Mapping[str, EnforcementFilter],
        log_context: LogContext | None = None,
        *,
        give_up_after: timedelta = GIVE_UP_AFTER,
    ) -> None:
        """Create a sender.

        Args:
            store: The store with the outbox.
            clock: The clock.
            notifier: The receiver of notifications.
            filters: The receivers of filter messages, by name.
            log_context: The log context, which adds the lease to log lines.
            give_up_after: Age at which an undeliverable message is marked as failed; zero for never.
        """
        self._store = store
        self._clock = clock
        self._notifier = notifier
        self._filters = FilterNotifier(filters)
        self._log_context = log_context or NoLogContext()
        self._give_up_after = give_up_after
        self._silent_until: dict[str, datetime] = {}

    def send_due(self) -> int:
        """Send due messages, up to :data:`SENT_AT_ONCE`; return the number of delivered messages.

        An undeliverable message is retried at increasing intervals, and marked as failed once it is too old.
        """
        now = self._clock.now()
        with self._store.begin() as transaction:
            messages = transaction.outbox.take(now, now + _TAKEN_FOR, SENT_AT_ONCE)
            transaction.commit()
        delivered: list[int] = []
        try:
            # Filters may take seconds; notifications do not wait for them.
            for message in sorted(messages, key=_is_for_filter):
                if self._clock.now() - now >= _LONGEST_BATCH:
                    break
                with self._log_context.working_on(lease_id=message.lease_id):
                    if self._deliver(message):
                        delivered.append(message.id)
        finally:
            if delivered:
                with self._store.begin() as transaction:
                    transaction.outbox.remove(delivered)
                    transaction.commit()
        return len(delivered)

    def _deliver(self, message: Message) -> bool:
        """Return whether a message was delivered; if not, it was scheduled again."""
        notifier: Notifier
        if _is_for_filter(message):
            receiver, notifier = str(message.payload.get("filter")), self._filters
        else:
            receiver, notifier = _BUS, self._notifier
        began = self._clock.now()
        if began < self._silent_until.get(receiver, began):
            self._plan_again(message, self._silent_until[receiver], f"{receiver} does not respond")
            return False
        try:
            notifier.notify(message.event_type, message.payload)
        except BlazarError as error:
            problem, is_away = str(error), isinstance(error, Unavailable)
            _logger.warning(
                "message not delivered: id=%d event=%s reason=%s", message.id, message.event_type, error
            )
        except Exception as error:
            # The text of an unexpected error may contain a URL with a password; the log masks passwords.
            problem = f"unexpected {type(error).__name__}; the manager's log has its traceback"
            is_away = False
            _logger.exception("message not delivered: id=%d event=%s", message.id, message.event_type)
        else:
            return True
        now = self._clock.now()
        again = now + _pause(message.attempts)
        if receiver == _BUS and is_away:
            self._silent_until[receiver] = again
        elif receiver != _BUS and now - began >= _SLOW:
            self._silent_until[receiver] = now + _SILENCE
        self._plan_again(message, again, problem)
        return False

    def _plan_again(self, message: Message, due_at: datetime, problem: str) -> None:
        now = self._clock.now()
        age = now - (message.created_at or now)
        is_given_up = bool(self._give_up_after) and age >= self._give_up_after
        with self._store.begin() as transaction:
            if is_given_up:
                transaction.outbox.fail(message.id, now, problem)
            else:
                transaction.outbox.postpone(message.id, due_at, problem)
            transaction.commit()
        if is_given_up:
            _logger.error(
                "delivery of a message given up: id=%d event=%s reason=%s",
                message.id,
                message.event_type,
                problem,
            )


def make_sender(context: Context, notifier: Notifier) -> OutboxSender:
    """Return a sender for the process with this context."""
    return OutboxSender(
        context.store,
        context.clock,
        notifier,
        context.filters,
        context.log_context,
        give_up_after=context.settings.reconciler.outbox_give_up_after,
    )


def _is_for_filter(message: Message) -> bool:
    return message.event_type.startswith(PREFIX)


def _pause(attempts: int) -> timedelta:
    return min(_LONGEST_PAUSE, timedelta(seconds=2 ** min(attempts, 16)))
