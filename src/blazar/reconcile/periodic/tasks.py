"""Periodic tasks, which run independently of the leases.

A periodic task is claimed in the same way as a lease, so that only one manager at a time runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from blazar.booking.context import Context
from blazar.booking.scheduling import HOST_CHECK
from blazar.reconcile.periodic.discovery import discover_resources
from blazar.reconcile.periodic.floatingip_check import check_floatingips
from blazar.reconcile.periodic.host_monitor import check_hosts, trust_hosts
from blazar.reconcile.periodic.host_refresh import refresh_hosts
from blazar.reconcile.periodic.unplanned import plan_leases
from blazar.reconcile.sweep import sweep
from blazar.settings import Settings

SWEEP = "sweep"
REFRESH = "refresh"
CHECK_FLOATINGIPS = "check-floatingips"
DISCOVER = "take-stock"
PLAN_LEASES = "plan-leases"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodicTask:
    """A periodic task. To run it at once, schedule its key, as for a lease."""

    run: Callable[[Context, str, Callable[[], None]], object]
    """Called with the context, the actor, and the function to call before each step."""
    interval: timedelta = timedelta(0)
    """Time between two runs; zero for runs only at the start of a manager and on request."""
    is_enabled: bool = True
    """Whether the task runs at all."""


def periodic_tasks(settings: Settings) -> Mapping[str, PeriodicTask]:
    """Return all periodic tasks by the key under which they are claimed; no lease has such an id."""
    reconciler, monitor = settings.reconciler, settings.monitor
    return {
        SWEEP: PeriodicTask(
            run=lambda context, actor, check_claim: sweep(context, actor, check_claim=check_claim),
            interval=reconciler.sweep_interval,
            is_enabled=bool(reconciler.sweep_interval),
        ),
        REFRESH: PeriodicTask(
            run=lambda context, actor, check_claim: refresh_hosts(context, actor, check_claim=check_claim),
            interval=reconciler.refresh_interval,
            is_enabled=bool(reconciler.refresh_interval),
        ),
        HOST_CHECK: PeriodicTask(
            run=check_hosts if monitor.is_enabled else trust_hosts,
            interval=monitor.polling_interval if monitor.is_polling else timedelta(0),
        ),
        CHECK_FLOATINGIPS: PeriodicTask(
            run=lambda context, actor, check_claim: check_floatingips(
                context, actor, check_claim=check_claim
            ),
            interval=reconciler.floatingip_check_interval,
            is_enabled=bool(reconciler.floatingip_check_interval),
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
    }
