"""What is done again and again, whatever leases there are.

A chore is work like a lease: it is claimed, so that of all managers one at a time is at it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from blazar.app.context import Context
from blazar.app.host_refresh import refresh_hosts
from blazar.reconcile.sweep import sweep
from blazar.settings import ReconcilerSettings

SWEEP = "sweep"
REFRESH = "refresh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chore:
    """One of them; ``interval`` is zero if it is not to be done."""

    interval: timedelta
    run: Callable[[Context, str, Callable[[], None]], object]
    """Called with the context, who works, and what is to be called before each step."""


def chores(settings: ReconcilerSettings) -> Mapping[str, Chore]:
    """Return all chores by the key under which they are claimed; no lease has such an id."""
    return {
        SWEEP: Chore(
            interval=settings.sweep_interval,
            run=lambda context, actor, before_each: sweep(context, actor, before_each=before_each),
        ),
        REFRESH: Chore(
            interval=settings.refresh_interval,
            run=lambda context, actor, before_each: refresh_hosts(context, actor, before_each=before_each),
        ),
    }
