"""The steps of one reservation: wanted minus seen, one repeatable step at a time, removals first."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from blazar.app.context import Plugin
from blazar.domain.errors import (
    CloudConflict,
    CloudError,
    CloudNotFound,
    CloudRefused,
    CloudUnavailable,
)
from blazar.domain.lifecycle import Phase
from blazar.plugins.contract import Assignment, Done, Item, Outcome, Refused, Waiting
from blazar.ports.cloud import Cloud

_ROUNDS = 4
"""How often a reservation is looked at again in one pass, as long as that brings it on."""

_logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Report:
    """What came of a reservation's steps.

    ``occupied`` are the scopes of which something is outside; None says that nobody could look.
    """

    is_complete: bool = False
    is_deployed: bool = True
    occupied: frozenset[str] | None = None
    refused: str | None = None
    waiting: list[Waiting] = field(default_factory=list)
    failure: str | None = None
    """What went wrong that may go right the next time."""

    @property
    def reason(self) -> str | None:
        """Return what the next step waits for, or None."""
        if self.failure is not None:
            return self.failure
        return self.waiting[0].reason if self.waiting else None


def take_steps(
    plugin: Plugin,
    cloud: Cloud,
    assignment: Assignment[Any],
    phase: Phase,
    held_by_others: Mapping[str, str],
    before_each: Callable[[], None],
) -> Report:
    """Bring a reservation as far as it can be brought now.

    Args:
        plugin: The plugin of its type.
        cloud: Where things exist.
        assignment: The reservation.
        phase: What its items should be for.
        held_by_others: Why resources (by id) cannot be handed over yet.
        before_each: Called before every step; what it raises ends the work.
    """
    report = Report()
    try:
        _take_rounds(plugin, cloud, assignment, phase, held_by_others, before_each, report)
    except CloudUnavailable as error:
        report.failure = f"the cloud does not answer: {error.message}"
    except CloudRefused as error:
        report.refused = error.message
    except CloudError as error:
        report.failure = error.message
    return report


def _take_rounds(  # noqa: PLR0913 - the arguments of take_steps and what it fills in
    plugin: Plugin,
    cloud: Cloud,
    assignment: Assignment[Any],
    phase: Phase,
    held_by_others: Mapping[str, str],
    before_each: Callable[[], None],
    report: Report,
) -> None:
    wanted: frozenset[Item] = plugin.wanted(assignment, phase)
    seen = plugin.observe(cloud, assignment, phase)
    for _ in range(_ROUNDS):
        _note(report, seen.items, wanted)
        if report.is_complete:
            return
        report.waiting, report.failure = [], None
        blocked: set[str] = set()
        for item, is_wanted in _ordered(seen.items, wanted):
            if item.scope in blocked or (not item.scope and blocked):
                continue
            before_each()
            outcome = _outcome(plugin, cloud, assignment, item, is_wanted, seen, held_by_others, report)
            if report.refused is not None:
                break
            if not isinstance(outcome, Done):
                blocked.add(item.scope)
        before = seen.items
        seen = plugin.observe(cloud, assignment, phase)
        if report.refused is not None or seen.items == before:
            break
    _note(report, seen.items, wanted)


def _ordered(seen: frozenset[Item], wanted: frozenset[Item]) -> list[tuple[Item, bool]]:
    """Return the steps: removals from the last made to the first, then additions."""
    removals = sorted(seen - wanted, key=lambda item: (-item.rank, item.scope, repr(item)))
    additions = sorted(wanted - seen, key=lambda item: (item.rank, item.scope, repr(item)))
    return [(item, False) for item in removals] + [(item, True) for item in additions]


def _outcome(  # noqa: PLR0913 - one step in full
    plugin: Plugin,
    cloud: Cloud,
    assignment: Assignment[Any],
    item: Item,
    is_wanted: bool,
    seen: Any,
    held_by_others: Mapping[str, str],
    report: Report,
) -> Outcome:
    """Take one step, and put into the report why it was not done."""
    if is_wanted and item.scope in held_by_others:
        outcome: Outcome = Waiting(timedelta(seconds=30), held_by_others[item.scope])
    else:
        try:
            act = plugin.make if is_wanted else plugin.remove
            outcome = act(cloud, assignment, item, seen)
        except (CloudConflict, CloudNotFound) as error:
            report.failure = error.message
            return Waiting(timedelta(0), error.message)
    match outcome:
        case Waiting():
            report.waiting.append(outcome)
        case Refused(reason):
            report.refused = reason
    return outcome


def _note(report: Report, seen: frozenset[Item], wanted: frozenset[Item]) -> None:
    report.is_complete = seen == wanted
    report.is_deployed = bool(seen)
    report.occupied = frozenset(item.scope for item in seen)
