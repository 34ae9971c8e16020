"""The policy for leases in a plan, as a section of its document."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from blazar.planning.document import Code, Items, Paragraph, Section, Table
from blazar.planning.past import Durations, Habits
from blazar.planning.plan import Plan
from blazar.planning.policy import LeasePolicy


def policy_section(plan: Plan) -> Section:
    """Return the section."""
    policy, habits = plan.policy, plan.habits
    source = (
        f"from {habits.leases} leases"
        if policy.is_from_history
        else f"values to begin with, since only {habits.leases} leases are recorded"
    )
    return Section(
        "Lease policy",
        [
            Paragraph(f"Recommended limits ({source}):"),
            Table(("rule", "recommended", "configured", "based on"), _rows(policy, habits)),
            Paragraph("The end of a lease, in words for lessees:"),
            Items([f"{key}: {text}." for key, text in policy.end_actions.items()]),
            Paragraph("The limits as usage rules ([enforcement] rules_file):"),
            Code("yaml", policy.rules),
        ],
    )


def _rows(policy: LeasePolicy, habits: Habits) -> Sequence[Sequence[object]]:
    horizon = f"start {policy.start_days_ahead}, end {policy.end_days_ahead} days ahead"
    reclaiming = f"{habits.reclaimed} ends until hosts were free: {_of(habits.reclaiming)}"
    is_cleaned = (shown(policy.cleaning_time), shown(policy.configured_cleaning_time))
    is_told = (shown(policy.notice), shown(policy.configured_notice))
    is_saved = (policy.before_end, policy.configured_before_end)
    return (
        (
            "longest lease",
            f"{policy.longest_days} days",
            _rules(policy.configured_longest),
            _of(habits.durations),
        ),
        ("horizon", horizon, _rules(policy.configured_horizon), _of(habits.lead_times)),
        ("cleaning time", *is_cleaned, reclaiming),
        ("notice before the end", *is_told, "time to save data or to extend the lease"),
        ("before-end action for hosts", *is_saved, "what a request that names none gets"),
    )


def _rules(sentences: Sequence[str]) -> str:
    return "; ".join(sentences) or "no rule"


def _of(durations: Durations) -> str:
    return f"median {shown(durations.median)}, 95 % {shown(durations.usual)}, most {shown(durations.longest)}"


def shown(duration: timedelta) -> str:
    """Return a duration in its largest whole units."""
    minutes = round(duration / timedelta(minutes=1))
    days, hours = minutes // 1440, minutes % 1440 // 60
    parts = ((days, "d"), (hours, "h"), (minutes % 60, "min"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 min"
