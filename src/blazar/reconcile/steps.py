"""The steps of one reservation: wanted minus observed, one repeatable step at a time, removals first."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

from blazar.booking.context import Plugin
from blazar.domain.circuit_breaker import CircuitBreaker
from blazar.domain.errors import CloudConflict, CloudError, CloudNotFound, CloudRefused, CloudUnavailable
from blazar.domain.lease import is_canonical_id
from blazar.domain.lifecycle import Phase
from blazar.plugins.capabilities import CleansUp, HasIndependentSteps, ObservesAnswers
from blazar.plugins.contract import Assignment, Done, Item, Outcome, Refused, Result, Unusable, Waiting
from blazar.ports.cloud import Cloud

_ROUNDS = 4
"""Maximum number of rounds in one pass; rounds end as soon as one changes nothing."""

_logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Report:
    """The result of a reservation's steps.

    ``occupied`` are the scopes that have items in the cloud; None if the cloud could not be observed.
    """

    is_complete: bool = False
    is_deployed: bool = True
    occupied: frozenset[str] | None = None
    refused: str | None = None
    waiting: list[Waiting] = field(default_factory=list)
    failure: str | None = None
    """An error that may not occur on the next attempt."""
    unusable: dict[str, Unusable] = field(default_factory=dict)
    """Resources, by id, that must be replaced."""
    notes: Mapping[str, object] = field(default_factory=dict)
    """Keys of the reservation's spec whose values were read from the cloud."""
    results: list[Result] = field(default_factory=list)
    """What became of objects of the lessee, as far as the steps reported it."""

    @property
    def reason(self) -> str | None:
        """Return the reason why the next step waits, or None."""
        if self.failure is not None:
            return self.failure
        reasons = [each.reason for each in self.unusable.values()] + [each.reason for each in self.waiting]
        return reasons[0] if reasons else None


_Step = tuple[Item, bool]
"""An item, and whether to make it; otherwise, it is removed."""


@dataclass(frozen=True, slots=True)
class _Failed:
    """The cloud refused a step, but may accept it on the next attempt."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacles:
    """Resources, by id, that must not be handed over now."""

    held_by_others: Mapping[str, Outcome] = field(default_factory=dict)
    """The outcome to report for a step that would hand over each of them."""
    failed: Set[str] = frozenset()
    """Failed resources; items that the lessee already has on them are left alone."""


def take_steps(
    plugin: Plugin,
    cloud: Cloud,
    assignment: Assignment[Any],
    phase: Phase,
    obstacles: Obstacles,
    check_claim: Callable[[], None],
) -> Report:
    """Bring a reservation as close to its desired state as possible now.

    Args:
        plugin: The plugin of the resource type.
        cloud: The cloud.
        assignment: The reservation.
        phase: The phase that determines the wanted items.
        obstacles: The resources that must not be handed over now.
        check_claim: Called before every step; an exception from it ends the work.
    """
    if not is_canonical_id(assignment.reservation_id):
        # Any other id could match a foreign object in the cloud, for example the freepool or a public flavor.
        is_over = phase is Phase.OVER
        refused = None if is_over else "the reservation's id is not a UUID, so nothing is created for it"
        return Report(is_complete=is_over, is_deployed=False, occupied=frozenset(), refused=refused)
    work = _Work(
        plugin=plugin,
        cloud=cloud,
        assignment=assignment,
        phase=phase,
        obstacles=obstacles,
        check_claim=check_claim,
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
    """The arguments of :func:`take_steps`, and the results so far."""

    plugin: Plugin
    cloud: Cloud
    assignment: Assignment[Any]
    phase: Phase
    obstacles: Obstacles
    check_claim: Callable[[], None]
    report: Report = field(default_factory=Report)
    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)

    def take_rounds(self) -> None:
        """Observe and take steps as long as they change the observed items."""
        seen = self._observe()
        for _ in range(_ROUNDS):
            self._note(seen)
            if self.report.is_complete:
                return
            self._take_round(seen)
            before = seen.items
            seen = self._observe_answers(seen) or self._observe()
            if self.report.refused is not None or self.report.unusable or seen.items == before:
                break
        self._note(seen)
        if not self.report.is_complete and self.report.reason is None and self.report.refused is None:
            # All steps were taken, but the cloud does not show the result yet: reconcile again after a pause.
            self.report.failure = "the cloud does not show the result of the last step yet"

    def _observe(self) -> Any:
        self.check_claim()
        return self.plugin.observe(self.cloud, self.assignment, self.phase)

    def _observe_answers(self, seen: Any) -> Any:
        """Return the observation after the steps if the cloud's answers to them show it; otherwise None."""
        if not isinstance(self.plugin, ObservesAnswers):
            return None
        return self.plugin.observe_answers(self.cloud, self.assignment, self.phase, seen)

    def _wanted(self, seen: Any) -> frozenset[Item]:
        wanted: frozenset[Item] = self.plugin.wanted(self.assignment, self.phase)
        if isinstance(self.plugin, CleansUp):
            for each in wanted:
                if each.rank in self.plugin.clean_up_ranks:
                    raise ValueError(f"the plugin wants an item that is only to be cleaned up: {each!r}")
        left_out = self.obstacles.failed - {each.scope for each in seen.items}
        return frozenset(each for each in wanted if each.scope not in left_out)

    def _take_round(self, seen: Any) -> None:
        """Take every step that is not blocked by an earlier one."""
        self.report.waiting, self.report.failure, self.report.unusable = [], None, {}
        # From here on items may exist in the cloud, whatever the response to a step.
        self.report.is_deployed = True
        blocked: set[str] = set()
        for steps in self._grouped(_ordered(seen.items, self._wanted(seen))):
            open_steps = [
                (item, is_wanted)
                for item, is_wanted in steps
                if item.scope not in blocked and (item.scope or not blocked)
            ]
            acts = [partial(self._take_step, item, is_wanted, seen) for item, is_wanted in open_steps]
            outcomes = self.cloud.executor.run(acts)
            for (item, _), outcome in zip(open_steps, outcomes, strict=True):
                self._report(item, outcome)
                if not isinstance(outcome, Done):
                    blocked.add(item.scope)
            if self.report.refused is not None:
                return

    def _grouped(self, steps: Sequence[_Step]) -> list[list[_Step]]:
        """Return the steps in order, with steps that run in parallel grouped together."""
        together: list[list[_Step]] = []
        independent: frozenset[int] = frozenset()
        if isinstance(self.plugin, HasIndependentSteps):
            independent = self.plugin.independent_ranks
        for (_, rank), alike in groupby(steps, key=lambda step: (step[1], step[0].rank)):
            group = list(alike)
            scopes = {item.scope for item, _ in group}
            if rank in independent and len(scopes) == len(group):
                together.append(group)
            else:
                together += [[each] for each in group]
        return together

    def _take_step(self, item: Item, is_wanted: bool, seen: Any) -> Outcome | _Failed:
        self.check_claim()
        if is_wanted and item.scope in self.obstacles.held_by_others:
            return self.obstacles.held_by_others[item.scope]
        act = self.plugin.make if is_wanted else self.plugin.remove
        step: Callable[[], Outcome] = partial(act, self.cloud, self.assignment, item, seen)
        try:
            outcome = self.breaker.call(step)
        except (CloudConflict, CloudNotFound) as error:
            return _Failed(error.message)
        except CloudError:
            raise
        except Exception as error:
            # An error of the plugin in one item must not prevent the removal of items of other resources.
            _logger.exception(
                "plugin failed in a step: reservation_id=%s step=%s item=%r",
                self.assignment.reservation_id,
                "make" if is_wanted else "remove",
                item,
            )
            return _Failed(internal_error(error))
        return _Failed(_silence(outcome)) if isinstance(outcome, CloudUnavailable) else outcome

    def _report(self, item: Item, outcome: Outcome | _Failed) -> None:
        """Record the results of a step and, if it is not done, the reason."""
        if isinstance(outcome, Done | Waiting | Refused):
            self.report.results += outcome.results
        match outcome:
            case Waiting():
                self.report.waiting.append(outcome)
            case Refused(reason=reason):
                self.report.refused = reason
            case Unusable():
                self.report.unusable[item.scope] = outcome
            case _Failed(message):
                self.report.failure = message

    def _note(self, seen: Any) -> None:
        self.report.is_complete = seen.items == self._wanted(seen)
        if self.report.is_complete:
            # Steps that seemed to fail took effect: only their responses were lost.
            self.report.waiting, self.report.failure = [], None
        self.report.is_deployed = bool(seen.items)
        self.report.occupied = frozenset(item.scope for item in seen.items)
        self.report.notes = seen.notes


def internal_error(error: Exception) -> str:
    """Return the text about a plugin error that lessees may see."""
    return f"internal error: {type(error).__name__}"


def _silence(error: CloudUnavailable) -> str:
    return f"the cloud does not respond: {error.message}"


def _ordered(seen: frozenset[Item], wanted: frozenset[Item]) -> list[_Step]:
    """Return the steps: removals in reverse order of creation, then additions."""
    removals = sorted(seen - wanted, key=lambda item: (-item.rank, item.scope, repr(item)))
    additions = sorted(wanted - seen, key=lambda item: (item.rank, item.scope, repr(item)))
    return [(item, False) for item in removals] + [(item, True) for item in additions]
