"""Periodic tasks, which run independently of the leases.

A periodic task is claimed in the same way as a lease, so that only one manager at a time runs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final

from blazar.booking.context import OwnCollection, PeriodicTask
from blazar.booking.maintenance import MAINTAIN
from blazar.ports.work import TASK_PREFIX
from blazar.reconcile.periodic.discovery import discover_resources
from blazar.reconcile.periodic.maintenance import maintain
from blazar.reconcile.periodic.notices import check_notices
from blazar.reconcile.periodic.offers import delete_expired_offers
from blazar.reconcile.periodic.old_records import (
    delete_old_answers,
    delete_old_bookings,
    delete_old_feeds,
    delete_old_usage,
    delete_old_uses,
    forget_deleted_leases,
)
from blazar.reconcile.periodic.unplanned import plan_leases
from blazar.reconcile.periodic.usage import observe_use
from blazar.reconcile.sweep import sweep
from blazar.settings import NoticeSettings, Settings, UsageSettings

SWEEP = "sweep"
DISCOVER = "take-stock"
PLAN_LEASES = "plan-leases"
DELETE_ANSWERS = "delete-answers"
DELETE_OFFERS = "delete-offers"
OBSERVE_USE = f"{TASK_PREFIX}observe-use"
DELETE_RECORDS = f"{TASK_PREFIX}delete-usage"
CHECK_NOTICES = f"{TASK_PREFIX}check-notices"
DELETE_USES = f"{TASK_PREFIX}delete-uses"
DELETE_FEEDS = f"{TASK_PREFIX}delete-feeds"
FORGET_LEASES = f"{TASK_PREFIX}forget-leases"
DELETE_BOOKINGS = f"{TASK_PREFIX}delete-bookings"
_DELETE_INTERVAL: Final = timedelta(days=1)
_LONGEST_BOOKINGS_INTERVAL: Final = timedelta(minutes=10)
"""Longest time for which a lease with missing resources waits for capacity that is clean again."""


def periodic_tasks(settings: Settings, collections: Iterable[OwnCollection]) -> Mapping[str, PeriodicTask]:
    """Return all periodic tasks by the key under which they are claimed; no lease has such an id."""
    reconciler = settings.reconciler
    own = (each.periodic_tasks(settings) for each in collections)
    return {
        SWEEP: PeriodicTask(
            run=lambda context, actor, check_claim: sweep(context, actor, check_claim=check_claim),
            interval=reconciler.sweep_interval,
            is_enabled=bool(reconciler.sweep_interval),
        ),
        DISCOVER: PeriodicTask(
            run=lambda context, actor, check_claim: discover_resources(
                context, actor, check_claim=check_claim
            ),
            interval=reconciler.discovery_interval,
        ),
        PLAN_LEASES: PeriodicTask(
            run=plan_leases,
            interval=reconciler.plan_check_interval,
            is_enabled=bool(reconciler.plan_check_interval),
        ),
        DELETE_OFFERS: PeriodicTask(
            run=delete_expired_offers,
            interval=reconciler.offer_check_interval,
            is_enabled=bool(reconciler.offer_check_interval),
        ),
        MAINTAIN: PeriodicTask(
            run=maintain,
            interval=reconciler.maintenance_check_interval,
            is_enabled=bool(reconciler.maintenance_check_interval),
        ),
        **_tasks_of_old_records(settings),
        **_tasks_of_notices(settings.notices),
        **_tasks_of_usage(settings.usage),
        **{key: task for tasks in own for key, task in tasks.items()},
    }


def _tasks_of_old_records(settings: Settings) -> Mapping[str, PeriodicTask]:
    reconciler = settings.reconciler
    return {
        DELETE_BOOKINGS: PeriodicTask(
            run=delete_old_bookings,
            interval=min(reconciler.sweep_interval or _LONGEST_BOOKINGS_INTERVAL, _LONGEST_BOOKINGS_INTERVAL),
        ),
        DELETE_ANSWERS: PeriodicTask(
            run=delete_old_answers,
            interval=reconciler.answer_check_interval,
            is_enabled=bool(reconciler.answer_check_interval),
        ),
        DELETE_USES: PeriodicTask(
            run=delete_old_uses,
            interval=reconciler.answer_check_interval,
            is_enabled=bool(reconciler.answer_check_interval),
        ),
        DELETE_FEEDS: PeriodicTask(
            run=delete_old_feeds, interval=_DELETE_INTERVAL, is_enabled=bool(settings.feeds.longest_age)
        ),
        FORGET_LEASES: PeriodicTask(run=forget_deleted_leases, interval=_DELETE_INTERVAL),
    }


def _tasks_of_notices(settings: NoticeSettings) -> Mapping[str, PeriodicTask]:
    is_enabled = bool(settings.channels and settings.check_interval)
    return {
        CHECK_NOTICES: PeriodicTask(
            run=check_notices, interval=settings.check_interval, is_enabled=is_enabled
        ),
    }


def _tasks_of_usage(settings: UsageSettings) -> Mapping[str, PeriodicTask]:
    return {
        OBSERVE_USE: PeriodicTask(
            run=observe_use, interval=settings.interval, is_enabled=bool(settings.interval)
        ),
        DELETE_RECORDS: PeriodicTask(
            run=delete_old_usage, interval=_DELETE_INTERVAL, is_enabled=bool(settings.kept_for)
        ),
    }
