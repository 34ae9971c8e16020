"""Finding resources for the reservations of a lease: in memory first, confirmed before a refusal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from blazar.app.availability import AvailabilityIndex
from blazar.app.context import Context, Plugin
from blazar.domain.availability import Availability
from blazar.domain.errors import Conflict
from blazar.domain.interval import Interval
from blazar.domain.lease import Reservation, ResourceId
from blazar.plugins.contract import Wish


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One reservation's wish and the plugin that understands it."""

    plugin: Plugin
    wish: Wish[Any]


def search_for(
    context: Context,
    reservation: Reservation,
    window: Interval,
    held: frozenset[ResourceId],
    *,
    is_active: bool,
    taken: frozenset[ResourceId] = frozenset(),
) -> Search:
    """Return the search for what an existing reservation is to hold in a window.

    Args:
        context: The context.
        reservation: The reservation, with its spec as it is to be.
        window: When.
        held: What it holds and may keep.
        is_active: Whether it must keep all of that.
        taken: What it must not be given.
    """
    plugin = context.plugin_for(reservation.resource_type)
    return Search(
        plugin=plugin,
        wish=Wish(
            spec=plugin.decode(reservation.spec),
            window=window,
            now=context.clock.now(),
            cleaning_time=context.settings.leases.cleaning_time,
            reservation_id=reservation.id,
            held=held,
            is_active=is_active,
            taken=taken,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was chosen, in the order of the searches, and the generations at which it was free."""

    chosen: tuple[tuple[ResourceId, ...], ...]
    generations: Mapping[ResourceId, int]


def find_resources(context: Context, searches: Sequence[Search], attempt: int) -> Found:
    """Return resources for all of *searches*; no resource is given to two of them.

    Args:
        context: The context.
        searches: The wishes, answered in order.
        attempt: 0 at first. Later attempts choose at random among what fits, because somebody else
            chose the same by the same order of preference.

    Raises:
        Conflict: A wish cannot be had; the database confirmed it.
        BadRequest: A wish names something that no resource knows.
    """
    shuffle = attempt > 0 or context.settings.hosts.randomize_selection
    taken: frozenset[ResourceId] = frozenset()
    chosen: list[tuple[ResourceId, ...]] = []
    generations: dict[ResourceId, int] = {}
    with ExitStack() as locks:
        views: dict[str, Availability] = {}
        for collection in sorted({each.plugin.collection for each in searches}):
            views[collection] = locks.enter_context(context.indexes[collection].searching())
        for search in searches:
            wish = replace(
                search.wish, taken=search.wish.taken | taken, shuffle=context.random if shuffle else None
            )
            view = views[search.plugin.collection]
            found = _choose(context.indexes[search.plugin.collection], search.plugin, wish, view)
            chosen.append(found)
            taken |= set(found)
            generations |= {each: view.generation_of(each) for each in found}
    return Found(chosen=tuple(chosen), generations=generations)


def _choose(
    index: AvailabilityIndex, plugin: Plugin, wish: Wish[Any], view: Availability
) -> tuple[ResourceId, ...]:
    try:
        return plugin.choose(wish, view)
    except Conflict:
        if not index.amend(view, wish.window, wish.reservation_id):
            raise
    return plugin.choose(wish, view)
