"""Delivery of notices: at least once, in order for each lease and subscriber, apart from all other work.

Any number of managers deliver. A manager takes a delivery for a bounded time; if it is killed, another one
repeats the delivery. A receiver that is slow or does not respond delays others by at most the time limit of
one delivery.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from blazar.booking.context import Context
from blazar.booking.deliveries import delivery_of, disable, store_deliveries, subscribe_owners
from blazar.domain.notices import NoticeType, pause_after
from blazar.domain.subscriptions import Subscription
from blazar.null_ports import SerialExecutor
from blazar.ports import metrics
from blazar.ports.executor import Executor
from blazar.ports.notices import Channels, Delivery, DeliveryFailed

NOTICES_AT_ONCE: Final = 50
"""Maximum number of notices for which deliveries are stored in one transaction."""
_TAKEN_FOR: Final = timedelta(seconds=60)
"""Time after which another manager delivers. If the first was only slow, the notice is delivered twice."""
_SHARE_OF_PROJECT: Final = 4
"""A project has at most one in this many workers."""
_SENT, _FAILED, _DEAD = "sent", "failed", "dead"
_LONGEST_PROBLEM: Final = 500

_logger = logging.getLogger(__name__)


class NoticeSender:
    """Stores a delivery of each notice for each of its subscribers, and makes the deliveries."""

    def __init__(self, context: Context, channels: Channels, executor: Executor | None = None) -> None:
        """Create a sender.

        Args:
            context: The context; its settings have the limits.
            channels: The channels by kind; without any, nothing is sent.
            executor: Makes several deliveries at the same time; by default one after another.
        """
        self._context = context
        self._settings = context.settings.notices
        self._channels = channels
        self._executor = executor or SerialExecutor()

    def send_due(self) -> int:
        """Deliver due notices; return the number of attempts. More are due if it is not zero.

        Raises:
            ConcurrentUpdate, Unavailable: The database cannot store the results; deliveries are repeated.
        """
        if not self._channels:
            return 0
        while fan_out(self._context) == NOTICES_AT_ONCE:
            pass
        now = self._context.clock.now()
        workers = self._settings.workers
        with self._context.store.begin() as transaction:
            taken = transaction.deliveries.take(
                now, now + _TAKEN_FOR, workers, max(1, workers // _SHARE_OF_PROJECT)
            )
            transaction.commit()
        self._executor.run([partial(self._handle, each) for each in taken])
        return len(taken)

    def _handle(self, delivery: Delivery) -> None:
        """Deliver a notice, and record the result."""
        with self._context.log_context.working_on(lease_id=delivery.lease_id):
            if self._is_outdated(delivery):
                self._record_success(delivery, is_sent=False)
                return
            failure = self._try(delivery)
            if failure is None:
                self._record_success(delivery)
            else:
                self._record_failure(delivery, failure)

    def _is_outdated(self, delivery: Delivery) -> bool:
        """Return whether a reminder is for a date that is no longer valid."""
        if delivery.date is None:
            return False
        with self._context.store.read() as transaction:
            lease = transaction.leases.find(delivery.lease_id)
        if lease is None or lease.is_deleting or delivery.date <= self._context.clock.now():
            return True
        return delivery.date != (lease.end if delivery.type == NoticeType.ENDS_SOON else lease.start)

    def _try(self, delivery: Delivery) -> DeliveryFailed | None:
        """Return why a delivery failed; None if it succeeded."""
        channel = self._channels.get(delivery.subscription.kind)
        if channel is None:
            problem = f"{delivery.subscription.kind} is not enabled here"
            return DeliveryFailed(problem, is_silent=True, is_of_site=True)
        try:
            channel.deliver(delivery, self._context.clock.now())
        except DeliveryFailed as error:
            return error
        except Exception:
            _logger.exception("notice not delivered: id=%d", delivery.id)
            return DeliveryFailed("internal error; the manager's log has its traceback", is_of_site=True)
        return None

    def _record_success(self, delivery: Delivery, *, is_sent: bool = True) -> None:
        with self._context.store.begin() as transaction:
            transaction.deliveries.remove(delivery.id)
            if is_sent:
                transaction.subscriptions.note_success(delivery.subscription.id, self._context.clock.now())
            transaction.commit()
        if is_sent:
            self._count(delivery, _SENT)

    def _record_failure(self, delivery: Delivery, failure: DeliveryFailed) -> None:
        now, settings = self._context.clock.now(), self._settings
        subscription, problem = delivery.subscription, failure.problem[:_LONGEST_PROBLEM]
        pause = pause_after(delivery.attempts, settings.longest_pause, self._context.random.random())
        if failure.retry_after is not None:
            pause = max(pause, min(failure.retry_after, settings.longest_pause))
        again = now + pause
        is_given_up = failure.is_final or now - delivery.queued_at >= settings.give_up_after
        is_lost = self._is_lost(subscription, failure, now)
        retry_at = again if failure.is_silent or failure.retry_after is not None else None
        with self._context.store.begin() as transaction:
            if failure.is_of_site:
                transaction.subscriptions.note_outage(subscription.id, problem, retry_at)
            else:
                transaction.subscriptions.note_failure(subscription.id, now, problem, retry_at)
            if is_given_up or is_lost:
                transaction.deliveries.fail(delivery.id, now, problem)
            else:
                transaction.deliveries.postpone(delivery.id, again, problem)
            if is_lost:
                disable(transaction, subscription, now, problem)
            transaction.commit()
        self._count(delivery, _DEAD if is_given_up or is_lost else _FAILED)
        _logger.info(
            "notice not delivered: id=%d subscription=%s attempt=%d given_up=%s disabled=%s reason=%s",
            *(delivery.id, subscription.id, delivery.attempts, is_given_up, is_lost, problem),
        )

    def _is_lost(self, subscription: Subscription, failure: DeliveryFailed, now: datetime) -> bool:
        """Return whether a receiver wants no more notices, or has accepted none for too long."""
        if failure.is_of_site:
            return False
        since = subscription.health.failing_since
        return failure.is_gone or (since is not None and now - since >= self._settings.give_up_after)

    def _count(self, delivery: Delivery, outcome: str) -> None:
        self._context.meter.count(metrics.NOTICES, delivery.subscription.kind.value, outcome)


def fan_out(context: Context) -> int:
    """Store a delivery of each of the oldest notices for each of its subscribers; return their number.

    Raises:
        ConcurrentUpdate: Another manager stored them at the same time.
    """
    with context.store.begin() as transaction:
        notices = transaction.notices.take(NOTICES_AT_ONCE)
        if not notices:
            return 0
        subscribe_owners(context, transaction, {(each.project_id, each.user_id) for each in notices})
        subscriptions = transaction.subscriptions.covering(notices)
        deliveries = [
            delivery_of(context, notice, each)
            for notice in notices
            for each in subscriptions
            if each.as_configured(context.settings.notices.default_types).covers(notice)
        ]
        store_deliveries(context, transaction, deliveries)
        transaction.notices.remove([each.id for each in notices])
        transaction.commit()
    return len(notices)
