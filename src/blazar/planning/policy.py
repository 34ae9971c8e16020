"""A policy for leases, from how lessees have reserved: durations, horizon, cleaning time, and the end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from blazar.booking.context import Context
from blazar.domain.rules.rule import Kind
from blazar.domain.rules.wording import sentence_of
from blazar.planning.goals import FLAVOR, HOST, INSTANCE
from blazar.planning.past import Habits
from blazar.plugins.hosts.settings import HostSettings

_DAY: Final = timedelta(days=1)
_FEW: Final = 10
"""Fewer leases than this say little."""
_FIRST_LONGEST, _FIRST_HORIZON = 14, 90
"""Days to begin with, if nothing is known of the lessees."""
_CLEANING_STEP: Final = timedelta(minutes=5)

_INSTANCES_END: Final = (
    "At the end, the service deletes all servers with the flavor of the reservation, together with the data"
    " on their local disks; volumes stay. This cannot be undone, and there is no snapshot: lessees save what"
    " they need before"
)
END_ACTIONS: Final[Mapping[str, str]] = {
    HOST: (
        "At the end, the service deletes all servers of the project on the hosts, together with the data on"
        " their local disks; volumes stay. This cannot be undone. With before_end=snapshot, each server first"
        " gets an image in the project, and at the end the service waits for images that are not complete."
        " Without it, nothing is saved"
    ),
    INSTANCE: _INSTANCES_END,
    FLAVOR: f"{_INSTANCES_END}. Servers with the original flavor are not affected",
}
"""The effect of the end of a lease on servers, in words for lessees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasePolicy:
    """Recommended rules for leases, beside the configured values."""

    is_from_history: bool
    """Whether enough leases are recorded; otherwise these are values to begin with."""
    longest_days: int
    start_days_ahead: int
    end_days_ahead: int
    cleaning_time: timedelta
    configured_cleaning_time: timedelta
    notice: timedelta
    """From the notification before the end to the end."""
    configured_notice: timedelta
    before_end: str
    """The before-end action for hosts if a request names none."""
    configured_before_end: str
    end_actions: Mapping[str, str]
    rules: str
    """The usage rules as a file."""
    configured_longest: tuple[str, ...]
    """The configured rules on the length of leases, as sentences."""
    configured_horizon: tuple[str, ...]


def advise_on_policy(context: Context, habits: Habits) -> LeasePolicy:
    """Return a policy for leases."""
    leases, is_known = context.settings.leases, habits.leases >= _FEW
    longest = max(1, math.ceil(habits.durations.usual / _DAY)) if is_known else _FIRST_LONGEST
    start = max(1, math.ceil(habits.lead_times.usual / _DAY)) if is_known else _FIRST_HORIZON
    wait = math.ceil(habits.reclaiming.usual / _CLEANING_STEP) * _CLEANING_STEP
    return LeasePolicy(
        is_from_history=is_known,
        longest_days=longest,
        start_days_ahead=start,
        end_days_ahead=start + longest,
        cleaning_time=max(wait, _CLEANING_STEP),
        configured_cleaning_time=leases.cleaning_time,
        notice=max(leases.before_end_lead, timedelta(hours=1)),
        configured_notice=leases.before_end_lead,
        before_end="snapshot",
        configured_before_end=context.settings.of(HostSettings).before_end or "none",
        end_actions=END_ACTIONS,
        rules=rules_text(longest, start),
        configured_longest=_configured(context, Kind.LONGEST),
        configured_horizon=_configured(context, Kind.HORIZON),
    )


def _configured(context: Context, kind: Kind) -> tuple[str, ...]:
    return tuple(f"{each.name}: {sentence_of(each)}" for each in context.rules.all if each.kind is kind)


def rules_text(longest_days: int, start_days_ahead: int) -> str:
    """Return a file of usage rules with these limits."""
    return "\n".join(
        (
            "rules:",
            "  - name: longest-lease",
            "    kind: longest",
            f"    longest_days: {longest_days}",
            "  - name: horizon",
            "    kind: horizon",
            f"    start_days: {start_days_ahead}",
            f"    end_days: {start_days_ahead + longest_days}",
            "  - name: extend-at-the-end",
            "    kind: extension",
            "    last_hours: 48",
            f"    most_days: {longest_days}",
        )
    )
