"""Refusals of new leases, with the reasons and what would be possible instead."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from blazar.app.leases.alternative_views import alternative_view
from blazar.app.leases.alternatives import AlternativeSearch
from blazar.app.leases.new_lease import NewLease
from blazar.app.leases.requests import JsonObject, NewReservation
from blazar.app.leases.wishes import searches_for
from blazar.app.request_work import RequestWork
from blazar.app.usage_rules import MARGIN
from blazar.booking.context import Context
from blazar.booking.grouped_choice import most_grouped
from blazar.booking.search import Search, find_in_window, refusals_in_window
from blazar.booking.specs import need_of
from blazar.domain.errors import BlazarError, NotEnoughResources, QuotaExceeded, rebuild
from blazar.domain.funnel import Funnel, Stage, Step, count_steps, count_units
from blazar.domain.interval import Interval
from blazar.domain.rules.errors import RuleForbidsChange, RuleForbidsLease
from blazar.ports.manager import REASONS_SINCE

_logger = logging.getLogger(__name__)


def explaining(work: RequestWork, request: NewLease, body: JsonObject) -> AbstractContextManager[None]:
    """Add ``reasons`` and ``alternatives`` to the error if a new lease is refused; before API 1.1, nothing.

    Args:
        work: The work of the request.
        request: The requested lease.
        body: The body of the request.
    """
    return explaining_by(work, lambda error: _explanation(work, request, body, error))


@contextmanager
def explaining_by(work: RequestWork, explain: Callable[[BlazarError], JsonObject]) -> Iterator[None]:
    """Add what *explain* returns to the error if a request is refused; before API 1.1, nothing."""
    try:
        yield
    except (NotEnoughResources, QuotaExceeded, RuleForbidsLease, RuleForbidsChange) as error:
        if work.caller.api_version < REASONS_SINCE:
            raise
        try:
            more = explain(error)
        except BlazarError as other:
            # The lease was changed meanwhile, or the database or the cloud does not answer.
            _logger.warning("cannot explain why a request was refused: reason=%s", other)
            raise error from None
        except Exception:
            # The refusal itself is right.
            _logger.exception("cannot explain why a request was refused")
            raise error from None
        raise rebuild(error.code, error.message, {**error.fields, **more}) from error


def _explanation(work: RequestWork, request: NewLease, body: JsonObject, error: BlazarError) -> JsonObject:
    window = Interval(request.start, request.end)
    searches = searches_for(work, request.reservations, window)
    funnels = _explain(work.context, request, searches, error)
    proposing = work.proposing(MARGIN)
    proposed = searches_for(proposing, request.reservations, window)
    alternatives = AlternativeSearch(proposing, request, proposed, funnels).find()
    return {
        "reasons": reason_views(work.context, searches, window, funnels, error),
        "alternatives": [alternative_view(each, request, body) for each in alternatives],
    }


def reasons_in_window(
    context: Context, reservations: Sequence[NewReservation], searches: Sequence[Search], window: Interval
) -> Sequence[JsonObject]:
    """Return the ``reasons`` why reservations are not possible in a window, as far as the indexes know."""
    return reason_views(context, searches, window, _funnels(context, searches, window))


def reason_views(
    context: Context,
    searches: Sequence[Search],
    window: Interval,
    funnels: Sequence[Funnel],
    error: BlazarError | None = None,
) -> Sequence[JsonObject]:
    """Return the reasons of a refusal, as clients see them.

    Args:
        context: The context.
        searches: The search of each reservation.
        window: The requested window.
        funnels: Why each of them was refused, or that it was not.
        error: The refusal, if there was a request.
    """
    return [
        funnel_view(each.plugin.resource_type, funnel, _rule_views(context, each, window, funnel, error))
        for each, funnel in zip(searches, funnels, strict=True)
    ]


def _rule_views(
    context: Context, search: Search, window: Interval, funnel: Funnel, error: BlazarError | None
) -> Sequence[JsonObject]:
    """Return the refusals of usage rules if they are why a reservation is refused."""
    if funnel.binding is None or funnel.steps[funnel.binding].stage is not Stage.RULE:
        return []
    resource_type = search.plugin.resource_type
    known = {} if error is None else error.fields
    if search.permit is not None and "rules" not in known:
        refusals = refusals_in_window(context, search, window)
        known = search.permit.error_of([(resource_type, each) for each in refusals]).fields
    views = known.get("rules")
    return [
        {key: value for key, value in each.items() if key != "resource_type"}
        for each in (views if isinstance(views, list) else [])
        if each["resource_type"] == resource_type
    ]


def _explain(
    context: Context, request: NewLease, searches: Sequence[Search], error: BlazarError
) -> Sequence[Funnel]:
    """Return, for each reservation, why it was refused, or that it was not."""
    window = Interval(request.start, request.end)
    for collection in {each.plugin.collection for each in searches}:
        context.indexes[collection].refresh()
    if isinstance(error, (RuleForbidsLease, RuleForbidsChange)):
        return refused_by_rules([funnel_of(context, each, window) for each in searches], searches, error)
    if isinstance(error, QuotaExceeded):
        funnels = [funnel_of(context, each, window) for each in searches]
        limits = error.fields.get("limits")
        types = [each.resource_type for each in request.reservations]
        return refused_by_quota(context, types, funnels, limits if isinstance(limits, list) else [])
    return _funnels(context, searches, window)


def _funnels(context: Context, searches: Sequence[Search], window: Interval) -> Sequence[Funnel]:
    """Return, for each search, why it is refused in a window, or that another one is."""
    funnels = [funnel_of(context, each, window) for each in searches]
    if all(each.binding is None for each in funnels):
        return [each.refused_at(Stage.TOGETHER) for each in funnels]
    return funnels


def funnel_of(context: Context, search: Search, window: Interval) -> Funnel:
    """Return how much each condition leaves for a reservation, regardless of others in its request."""
    plugin, wish = search.plugin, search.wish
    need = need_of(plugin, wish.spec)
    moved = replace(search, wish=replace(wish, window=window))
    with context.indexes[plugin.collection].searching_on() as availability:
        funnel = count_steps(
            moved.visible(context, availability),
            need,
            window,
            now=wish.now,
            cleaning_time=wish.cleaning_time,
            ignoring=wish.ignoring,
        )
    if funnel.binding is not None or find_in_window(context, [search], window) is not None:
        return funnel
    if search.permit is not None and find_in_window(context, [replace(search, permit=None)], window):
        with context.indexes[plugin.collection].searching_on() as availability:
            permitted = moved.permitted(moved.visible(context, availability))
            left = count_units(permitted, need, window, wish.now, wish.cleaning_time, wish.ignoring)
        return funnel.refused_at(Stage.RULE, left)
    if search.grouping is None:
        return funnel.refused_at(Stage.PLACED)
    with context.indexes[plugin.collection].searching_on() as availability:
        visible = moved.visible(context, availability)
        left = most_grouped(plugin, moved.wish, visible, search.grouping)
    stage = Stage.SAME if search.grouping.same is not None else Stage.SPREAD
    return funnel.refused_at(stage, left, " and ".join(search.grouping.keys))


def refused_by_rules(
    funnels: Sequence[Funnel], searches: Sequence[Search], error: BlazarError
) -> Sequence[Funnel]:
    """Return the funnels with one more step for the reservations that usage rules refuse."""
    views = error.fields.get("rules")
    refused = {each["resource_type"] for each in (views if isinstance(views, list) else [])}
    return [
        funnel.refused_at(Stage.RULE) if each.plugin.resource_type in refused else funnel
        for each, funnel in zip(searches, funnels, strict=True)
    ]


def refused_by_quota(
    context: Context, resource_types: Sequence[str], funnels: Sequence[Funnel], limits: Sequence[str]
) -> Sequence[Funnel]:
    """Return the funnels with one more step for the reservations that the limits are about."""
    units = [f"_{context.quota_units[each].name}" for each in resource_types]
    is_meant = [any(unit in f"_{limit}" for limit in limits) for unit in units]
    if not any(is_meant):
        is_meant = [True] * len(funnels)  # the number of leases
    return [
        each.refused_at(Stage.QUOTA) if meant else each for each, meant in zip(funnels, is_meant, strict=True)
    ]


def funnel_view(resource_type: str, funnel: Funnel, rules: Sequence[JsonObject] = ()) -> JsonObject:
    """Return a reason as clients see it, with the refusals of usage rules."""
    view = {
        "resource_type": resource_type,
        "needed": funnel.needed,
        "binding": None if funnel.binding is None else funnel.steps[funnel.binding].stage.value,
        "summary": f"{resource_type}: {_summary(funnel, rules)}",
        "steps": [_step_view(each) for each in funnel.steps],
    }
    return {**view, "rules": rules} if rules else view


def _step_view(step: Step) -> JsonObject:
    view = {"stage": step.stage.value, "left": step.left}
    return view if step.condition is None else {**view, "condition": step.condition}


def _summary(funnel: Funnel, rules: Sequence[JsonObject]) -> str:
    if rules:
        return "; ".join(str(each["summary"]) for each in rules)
    if funnel.binding is None:
        return "enough are available"
    step = funnel.steps[funnel.binding]
    text = _SENTENCES[step.stage]
    if callable(text):
        before = funnel.steps[funnel.binding - 1].left if funnel.binding else 0
        return f"{funnel.needed} needed, but {text(step, before or 0)}"
    return text


_SENTENCES: Mapping[Stage, str | Callable[[Step, int], str]] = {
    Stage.REGISTERED: lambda step, before: f"only {step.left} registered",
    Stage.HEALTHY: lambda step, before: f"only {step.left} of {before} in service",
    Stage.REQUIREMENT: lambda step, before: (
        f"only {step.left} of {before} left that also satisfy {step.condition}"
    ),
    Stage.FREE: lambda step, before: f"only {step.left} free throughout the period",
    Stage.CLEANED: lambda step, before: (
        f"only {step.left} of {before} free ones also have the cleaning time before and after them"
    ),
    Stage.SAME: lambda step, before: f"only {step.left} of {before} free ones with the same {step.condition}",
    Stage.SPREAD: lambda step, before: (
        f"only {step.left} of {before} free ones when spread over {step.condition}"
    ),
    Stage.PLACED: "enough are free, but they cannot be placed as requested",
    Stage.KEPT: "enough are free, but not the ones that the active reservation has and must keep",
    Stage.TOGETHER: "enough are free, but not together with the other reservations of the request",
    Stage.RULE: "enough are free, but usage rules do not permit them",
    Stage.QUOTA: "the project's quota does not allow it",
}
