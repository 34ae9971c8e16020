"""Refusals of changes of a lease, with the reasons and the changes that would be possible instead."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from blazar.app.leases.change_alternatives import ChangeAlternatives
from blazar.app.leases.change_search import ChangeSearch, read_held, search_for_change
from blazar.app.leases.change_trials import ChangeTrials
from blazar.app.leases.plan import outline_change
from blazar.app.leases.read import read_lease
from blazar.app.leases.refusals import (
    explaining_by,
    funnel_of,
    reason_views,
    refused_by_quota,
    refused_by_rules,
)
from blazar.app.leases.requests import JsonObject
from blazar.app.request_work import RequestWork
from blazar.app.usage_rules import MARGIN
from blazar.booking.context import Context
from blazar.booking.search import Search, find_in_window
from blazar.domain.errors import BlazarError, QuotaExceeded
from blazar.domain.funnel import Funnel, Stage
from blazar.domain.interval import Interval
from blazar.domain.rules.errors import RuleForbidsChange, RuleForbidsLease


def explaining_change(work: RequestWork, lease_id: str, body: JsonObject) -> AbstractContextManager[None]:
    """Add ``reasons`` and ``alternatives`` to the error if a change is refused; before API 1.1, nothing.

    Args:
        work: The work of the request.
        lease_id: The lease that is changed.
        body: The body of the request.
    """
    return explaining_by(work, lambda error: _explanation(work, lease_id, body, error))


def _explanation(work: RequestWork, lease_id: str, body: JsonObject, error: BlazarError) -> JsonObject:
    context, lease = work.context, read_lease(work.context, lease_id)
    present = read_held(context, lease)
    asked = {key: each for key, each in body.items() if each is not None}
    outline = outline_change(work, lease, asked, present)
    needed = search_for_change(work, lease, outline, present)
    searches = search_for_change(work, lease, outline, present, for_all=True)
    for collection in {each.plugin.collection for each in searches.searches}:
        context.indexes[collection].refresh()
    funnels = _explain(context, needed, searches, outline.ahead, error)
    trials = ChangeTrials(work.proposing(MARGIN), lease, present, outline)
    binding = [place for place, each in enumerate(funnels) if each.binding is not None]
    return {
        "reasons": reason_views(context, searches.searches, outline.ahead, funnels, error),
        "alternatives": ChangeAlternatives(trials, body, binding).find(),
    }


def _explain(
    context: Context, needed: ChangeSearch, searches: ChangeSearch, window: Interval, error: BlazarError
) -> Sequence[Funnel]:
    """Return, for each reservation, why its part of the change was refused, or that it was not."""
    concerned = {each.id for each in needed.searched}
    if isinstance(error, (RuleForbidsLease, RuleForbidsChange)):
        whole = [funnel_of(context, each, window) for each in searches.searches]
        return refused_by_rules(whole, searches.searches, error)
    funnels: Sequence[Funnel] = [
        _funnel(context, search, window)
        if each.id in concerned
        else replace(funnel_of(context, search, window), binding=None)
        for each, search in zip(searches.searched, searches.searches, strict=True)
    ]
    if isinstance(error, QuotaExceeded):
        limits = error.fields.get("limits")
        types = [each.resource_type for each in searches.searched]
        refused = refused_by_quota(context, types, funnels, limits if isinstance(limits, list) else [])
    elif all(each.binding is None for each in funnels):
        refused = [each.refused_at(Stage.TOGETHER) for each in funnels]
    else:
        return funnels
    return [
        other if each.id in concerned else funnel
        for each, funnel, other in zip(searches.searched, funnels, refused, strict=True)
    ]


def _funnel(context: Context, search: Search, window: Interval) -> Funnel:
    wish = search.wish
    funnel = funnel_of(context, search, window)
    if not wish.is_active or funnel.binding is None:
        return funnel
    is_placed = funnel.steps[funnel.binding].stage is not Stage.PLACED
    others = replace(search, wish=replace(wish, is_active=False, held={}))
    if is_placed or find_in_window(context, [others], window) is None:
        return funnel
    return replace(funnel, steps=funnel.steps[: funnel.binding], binding=None).refused_at(Stage.KEPT)
