"""Sentences about usage rules, for lessees and operators."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from blazar.domain.requirements import Requirement
from blazar.domain.rules.rule import (
    CoolDown,
    Extension,
    Horizon,
    LeadTime,
    Limit,
    Longest,
    OnlyFor,
    Rule,
    Shortest,
    Stacking,
)
from blazar.domain.short_expressions import render_short

_DAY: Final = timedelta(days=1)
_HOUR: Final = timedelta(hours=1)
_MINUTE: Final = timedelta(minutes=1)
_FEW_DAYS: Final = 3


def in_words(duration: timedelta) -> str:
    """Return a duration in the largest unit of which it is a multiple, such as ``36 hours``."""
    for unit, name in ((_DAY, "day"), (_HOUR, "hour")):
        if duration % unit == timedelta(0) and (unit is not _DAY or duration >= _FEW_DAYS * _DAY):
            return _counted(duration // unit, name)
    return _counted(duration // _MINUTE, "minute")


def expression_of(requirement: Requirement) -> str:
    """Return a requirement in the short form."""
    return ", ".join(render_short(each) for each in requirement.conditions)


def sentence_of(rule: Rule, *, with_resources: bool = True) -> str:
    """Return a sentence about a rule, without the projects and roles that it is about.

    Args:
        rule: The rule.
        with_resources: Whether to name the properties of the resources that it is about.
    """
    return f"{subject_of(rule, with_resources=with_resources)}: {_limit_in_words(rule)}"


def subject_of(rule: Rule, *, with_resources: bool = True) -> str:
    """Return the reservations that a rule is about."""
    types = ", ".join(sorted(rule.scope.resource_types)) or "all resource types"
    if not rule.scope.resources.conditions:
        return types
    named = f"with {expression_of(rule.scope.resources)}" if with_resources else "on some resources"
    return f"{types} {named}"


def limit_view(limit: Limit) -> dict[str, object]:
    """Return a limit for programs; durations are in minutes, and null if there is no limit."""
    match limit:
        case Horizon():
            return {"start_minutes": _minutes(limit.start), "end_minutes": _minutes(limit.end)}
        case LeadTime():
            return {"lead_minutes": _minutes(limit.lead)}
        case Longest():
            return {"longest_minutes": _minutes(limit.longest)}
        case Shortest():
            return {"shortest_minutes": _minutes(limit.shortest)}
        case Extension():
            return {
                "last_minutes": _minutes(limit.last),
                "most_minutes": _minutes(limit.most),
                "beyond_longest": limit.beyond_longest,
            }
    return _counting_view(limit)


def _counting_view(limit: CoolDown | Stacking | OnlyFor) -> dict[str, object]:
    match limit:
        case CoolDown():
            return {"cool_down_minutes": _minutes(limit.gap), "same_resource": limit.same_resource}
        case Stacking():
            return {
                "most_hours": limit.most_hours,
                "period_minutes": _minutes(limit.period),
                "per": "user" if limit.per_user else "project",
            }
    return {}


def _limit_in_words(rule: Rule) -> str:
    if rule.limit is None:
        return f"no limit ({rule.kind.replace('_', ' ')})"
    return limit_in_words(rule.limit)


def limit_in_words(limit: Limit) -> str:
    """Return what a limit allows."""
    match limit:
        case Horizon():
            parts = [("starts", limit.start), ("ends", limit.end)]
            texts = [f"{verb} at most {in_words(each)} ahead" for verb, each in parts if each is not None]
            return f"a lease {' and '.join(texts)}"
        case LeadTime():
            return f"a lease starts at least {in_words(limit.lead)} after its request"
        case Longest():
            return f"a lease lasts at most {in_words(limit.longest)}"
        case Shortest():
            return f"a lease lasts at least {in_words(limit.shortest)}"
        case Extension():
            return _extension_in_words(limit)
    return _counting_in_words(limit)


def _counting_in_words(limit: CoolDown | Stacking | OnlyFor) -> str:
    match limit:
        case CoolDown():
            which = " of the same resource" if limit.same_resource else ""
            return f"at least {in_words(limit.gap)} lie between two leases{which} of a project"
        case Stacking():
            owner = "user" if limit.per_user else "project"
            period = "" if limit.period is None else f" in any {in_words(limit.period)}"
            return f"a {owner} books at most {limit.most_hours} resource hours ahead{period}"
    return "only for certain projects"


def _extension_in_words(limit: Extension) -> str:
    text = "a lease that has started can be extended"
    if limit.last is not None:
        text += f" only in its last {in_words(limit.last)}"
    if limit.most is not None:
        text += f"{',' if limit.last is not None else ''} by at most {in_words(limit.most)} at a time"
    if limit.beyond_longest:
        text += ", also beyond the longest lease"
    return text


def _minutes(duration: timedelta | None) -> int | None:
    return None if duration is None else duration // _MINUTE


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"
