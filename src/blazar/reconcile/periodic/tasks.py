"""What is done again and again, whatever leases there are.

A chore is work like a lease: it is claimed, so that of all managers one at a time is at it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from blazar.booking.context import Context
from blazar.reconcile.periodic.floatingip_check import check_floatingips
from blazar.reconcile.periodic.host_monitor import MONITOR, look_at_hosts, trust_hosts
from blazar.reconcile.periodic.host_refresh import refresh_hosts
from blazar.reconcile.periodic.discovery import take_stock
from blazar.reconcile.sweep import sweep
from blazar.settings import Settings

SWEEP = "sweep"
REFRESH = "refresh"
CHECK_FLOATINGIPS = "check-floatingips"
TAKE_STOCK = "take-stock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chore:
    """One of them. Whoever wants it done at once schedules its key, as for a lease."""

    run: Callable[[Context, str, Callable[[], None]], object]
    """Called with the context, who works, and what is to be called before each step."""
    interval: timedelta = timedelta(0)
    """Between two times that it is done; zero for once when a manager starts, and when it is wanted."""
    is_enabled: bool = True
    """Whether it is done at all."""


def chores(settings: Settings) -> Mapping[str, Chore]:
    """Return all chores by the key under which they are claimed; no lease has such an id."""
    reconciler, monitor = settings.reconciler, settings.monitor
    return {
        SWEEP: Chore(
            run=lambda context, actor, before_each: sweep(context, actor, before_each=before_each),
            interval=reconciler.sweep_interval,
            is_enabled=bool(reconciler.sweep_interval),
        ),
        REFRESH: Chore(
            run=lambda context, actor, before_each: refresh_hosts(context, actor, before_each=before_each),
            interval=reconciler.refresh_interval,
            is_enabled=bool(reconciler.refresh_interval),
        ),
        MONITOR: Chore(
            run=look_at_hosts if monitor.is_enabled else trust_hosts,
            interval=monitor.polling_interval if monitor.is_polling else timedelta(0),
        ),
        CHECK_FLOATINGIPS: Chore(
            run=lambda context, actor, before_each: check_floatingips(
                context, actor, before_each=before_each
            ),
            interval=reconciler.floatingip_check_interval,
            is_enabled=bool(reconciler.floatingip_check_interval),
        ),
        TAKE_STOCK: Chore(
            run=lambda context, actor, before_each: take_stock(context, actor, before_each=before_each),
            interval=reconciler.stock_interval,
        ),
    }
