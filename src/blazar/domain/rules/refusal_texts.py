"""Refusals of usage rules in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from blazar.domain.dates import format_date
from blazar.domain.rules.rule import Kind
from blazar.domain.rules.times import Refusal
from blazar.domain.rules.wording import sentence_of

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_BOUNDS: Final[Mapping[Kind, str]] = {
    Kind.HORIZON: "latest",
    Kind.LEAD_TIME: "earliest",
    Kind.LONGEST: "latest",
    Kind.SHORTEST: "earliest",
    Kind.EXTENSION: "latest",
    Kind.COOL_DOWN: "earliest",
}
"""Whether the bound of a refusal is the earliest or the latest date that is allowed."""


def shown_moment(at: datetime) -> str:
    """Return an instant with its day of the week, such as ``Tue 2031-02-04 09:00 UTC``."""
    return f"{_DAYS[at.weekday()]} {format_date(at)} UTC"


def refusal_text(refusal: Refusal, *, with_resources: bool = True) -> str:
    """Return a sentence about a refusal, with the moment from which the request is possible.

    Args:
        refusal: The refusal.
        with_resources: Whether to name the properties of the resources that the rule is about.
    """
    rule = refusal.rule
    text = f"{refusal.key}: {sentence_of(rule, with_resources=with_resources)}"
    if refusal.bound is not None:
        date = "start" if refusal.key == "start_date" else "end"
        text += f"; the {_BOUNDS[rule.kind]} {date} is {shown_moment(refusal.bound)}"
    if refusal.hours is not None:
        before, after = refusal.hours
        text += f"; {before:g} hours are booked, and {after - before:g} more are requested"
    if refusal.possible_from is not None:
        verb = "extend the lease" if rule.kind is Kind.EXTENSION else "request this"
        text += f"; you can {verb} from {shown_moment(refusal.possible_from)}"
    return f"{text} (rule {rule.name})"


def refusal_view(refusal: Refusal, *, with_resources: bool = True) -> dict[str, object]:
    """Return a refusal for programs."""
    rule = refusal.rule
    view: dict[str, object] = {
        "code": rule.kind.value,
        "rule": rule.name,
        "summary": refusal_text(refusal, with_resources=with_resources),
        "possible_from": None if refusal.possible_from is None else format_date(refusal.possible_from),
    }
    if refusal.bound is not None:
        view[f"{_BOUNDS[rule.kind]}_{refusal.key}"] = format_date(refusal.bound)
    return view
