"""The steps of one reservation: wanted minus seen, one repeatable step at a time, removals first."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import groupby
from typing import Any

from blazar.booking.context import Plugin
from blazar.domain.errors import (
    CloudConflict,
    CloudError,
    CloudNotFound,
    CloudRefused,
    CloudUnavailable,
)
from blazar.domain.lifecycle import Phase
from blazar.plugins.contract import Assignment, Done, Item, Outcome, Refused, Unusable, Waiting
from blazar.ports.cloud import Cloud
from blazar.ports.patience import Patience

_ROUNDS = 4
"""How often a reservation is looked at again in one pass, as long as that brings it on."""
_GIVEN_BACK_BY_THEN = timedelta(seconds=30)
"""A safety net: who gives a resource back wakes up who waits for it."""

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
    unusable: dict[str, Unusable] = field(default_factory=dict)
    """Resources (by id) in whose place others are needed."""
    notes: Mapping[str, object] = field(default_factory=dict)
    """Keys of the reservation's spec that became known outside."""

    @property
    def reason(self) -> str | None:
        """Return what the next step waits for, or None."""
        if self.failure is not None:
            return self.failure
        reasons = [each.reason for each in self.unusable.values()] + [each.reason for each in self.waiting]
        return reasons[0] if reasons else None


_Step = tuple[Item, bool]
"""An item, and whether it is to be made; otherwise it is to be removed."""


@dataclass(frozen=True, slots=True)
class _Failed:
    """The cloud refused a step, and may not do so the next time."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacles:
    """Resources (by id) that are not to be handed over now."""

    held_by_others: Mapping[str, str] = field(default_factory=dict)
    """With the reason to wait for."""
    failed: Set[str] = frozenset()
    """They serve nobody; what the lessee has of them already is left alone."""


def take_steps(
    plugin: Plugin,
    cloud: Cloud,
    assignment: Assignment[Any],
    phase: Phase,
    obstacles: Obstacles,
    before_each: Callable[[], None],
) -> Report:
    """Bring a reservation as far as it can be brought now.

    Args:
        plugin: The plugin of its type.
        cloud: Where things exist.
        assignment: The reservation.
        phase: What its items should be for.
        obstacles: What is not to be handed over now.
        before_each: Called before every step; what it raises ends the work.
    """
    work = _Work(
        plugin=plugin,
        cloud=cloud,
        assignment=assignment,
        phase=phase,
        obstacles=obstacles,
        before_each=before_each,
    )
    try:
        work.take_rounds()
    except CloudUnavailable as error:
        work.report.failure = _silence(error)
    except CloudRefused as error:
        work.report.refused = error.message
    except CloudError as error:
        work.report.failure = error.message
    return work.report


@dataclass(slots=True, kw_only=True)
class _Work:
    """The arguments of :func:`take_steps`, and what has come of them so far."""

    plugin: Plugin
    cloud: Cloud
    assignment: Assignment[Any]
    phase: Phase
    obstacles: Obstacles
    before_each: Callable[[], None]
    report: Report = field(default_factory=Report)
    patience: Patience = field(default_factory=Patience)

    def take_rounds(self) -> None:
        """Observe and take steps, as long as that brings the reservation on."""
        seen = self._observe()
        for _ in range(_ROUNDS):
            self._note(seen)
            if self.report.is_complete:
                return
            self._take_round(seen)
            before = seen.items
            seen = self._observe()
            if self.report.refused is not None or self.report.unusable or seen.items == before:
                break
        self._note(seen)
        if not self.report.is_complete and self.report.reason is None and self.report.refused is None:
            # All steps were taken, and yet the cloud does not show it: look again, but not at once.
            self.report.failure = "the cloud does not show yet what was done"

    def _observe(self) -> Any:
        return self.plugin.observe(self.cloud, self.assignment, self.phase)

    def _wanted(self, seen: Any) -> frozenset[Item]:
        wanted: frozenset[Item] = self.plugin.wanted(self.assignment, self.phase)
        left_out = self.obstacles.failed - {each.scope for each in seen.items}
        return frozenset(each for each in wanted if each.scope not in left_out)

    def _take_round(self, seen: Any) -> None:
        """Take every step that is not held up by one before it."""
        self.report.waiting, self.report.failure, self.report.unusable = [], None, {}
        # From here on something may be outside, whatever the answer to the step that makes it.
        self.report.is_deployed = True
        blocked: set[str] = set()
        for steps in self._side_by_side(_ordered(seen.items, self._wanted(seen))):
            open_steps = [
                (item, is_wanted)
                for item, is_wanted in steps
                if item.scope not in blocked and (item.scope or not blocked)
            ]
            acts = [partial(self._take_step, item, is_wanted, seen) for item, is_wanted in open_steps]
            outcomes = self.cloud.side_by_side.run(acts)
            for (item, _), outcome in zip(open_steps, outcomes, strict=True):
                self._report(item, outcome)
                if not isinstance(outcome, Done):
                    blocked.add(item.scope)
            if self.report.refused is not None:
                return

    def _side_by_side(self, steps: Sequence[_Step]) -> list[list[_Step]]:
        """Return the steps in their order, those together that are taken side by side."""
        together: list[list[_Step]] = []
        for (_, rank), alike in groupby(steps, key=lambda step: (step[1], step[0].rank)):
            group = list(alike)
            scopes = {item.scope for item, _ in group}
            if rank in self.plugin.independent_ranks and len(scopes) == len(group):
                together.append(group)
            else:
                together += [[each] for each in group]
        return together

    def _take_step(self, item: Item, is_wanted: bool, seen: Any) -> Outcome | _Failed:
        self.before_each()
        if is_wanted and item.scope in self.obstacles.held_by_others:
            return Waiting(_GIVEN_BACK_BY_THEN, self.obstacles.held_by_others[item.scope])
        act = self.plugin.make if is_wanted else self.plugin.remove
        step: Callable[[], Outcome] = partial(act, self.cloud, self.assignment, item, seen)
        try:
            outcome = self.patience.ask(step)
        except (CloudConflict, CloudNotFound) as error:
            return _Failed(error.message)
        return _Failed(_silence(outcome)) if isinstance(outcome, CloudUnavailable) else outcome

    def _report(self, item: Item, outcome: Outcome | _Failed) -> None:
        """Put into the report why a step is not done, if it is not."""
        match outcome:
            case Waiting():
                self.report.waiting.append(outcome)
            case Refused(reason):
                self.report.refused = reason
            case Unusable():
                self.report.unusable[item.scope] = outcome
            case _Failed(message):
                self.report.failure = message

    def _note(self, seen: Any) -> None:
        self.report.is_complete = seen.items == self._wanted(seen)
        if self.report.is_complete:
            # What seemed to fail had its effect: only the answer was lost.
            self.report.waiting, self.report.failure = [], None
        self.report.is_deployed = bool(seen.items)
        self.report.occupied = frozenset(item.scope for item in seen.items)
        self.report.notes = seen.notes


def _silence(error: CloudUnavailable) -> str:
    return f"the cloud does not answer: {error.message}"


def _ordered(seen: frozenset[Item], wanted: frozenset[Item]) -> list[_Step]:
    """Return the steps: removals from the last made to the first, then additions."""
    removals = sorted(seen - wanted, key=lambda item: (-item.rank, item.scope, repr(item)))
    additions = sorted(wanted - seen, key=lambda item: (item.rank, item.scope, repr(item)))
    return [(item, False) for item in removals] + [(item, True) for item in additions]
