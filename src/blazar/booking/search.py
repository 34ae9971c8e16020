"""Finding resources for the reservations of a lease: in memory first, confirmed before a refusal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from blazar.booking.index import AvailabilityIndex
from blazar.booking.context import Context, Plugin
from blazar.domain.availability import Availability, Shuffle
from blazar.domain.capacity import Share
from blazar.domain.errors import BadRequest, Conflict, NotEnoughFloatingIPs, NotEnoughHosts
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, Holdings, Lease, Reservation, ReservationId, ResourceId
from blazar.plugins.contract import Wish
from blazar.ports.metrics import SHORTAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One reservation's wish and the plugin that understands it."""

    plugin: Plugin
    wish: Wish[Any]


def search_for(context: Context, lease: Lease, reservation: Reservation, window: Interval) -> Search:
    """Return the search for what an existing reservation is to hold in a window.

    What other reservations of its lease hold does not stand in its way: it is for the caller to say,
    by ``Wish.beside``, what they hold in the window.

    Args:
        context: The context.
        lease: The lease.
        reservation: One of its reservations, with its spec as it is to be.
        window: When.
    """
    plugin = context.plugin_for(reservation.resource_type)
    return Search(
        plugin=plugin,
        wish=Wish(
            spec=plugin.decode(reservation.spec),
            window=window,
            now=context.clock.now(),
            cleaning_time=context.settings.leases.cleaning_time,
            ignoring=frozenset(each.id for each in lease.reservations),
        ),
    )


def holdings_of(allocations: Sequence[Allocation]) -> Mapping[ReservationId, Holdings]:
    """Return what each reservation holds."""
    held: dict[ReservationId, dict[ResourceId, Share | None]] = {}
    for each in allocations:
        held.setdefault(each.reservation_id, {})[each.resource_id] = each.share
    return held


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was chosen, in the order of the searches, and the generations at which it was free."""

    chosen: tuple[Holdings, ...]
    generations: Mapping[ResourceId, int]


def find_resources(context: Context, searches: Sequence[Search], attempt: int) -> Found:
    """Return resources for all of *searches*; nothing is given to two of them.

    Args:
        context: The context.
        searches: The wishes, answered in order.
        attempt: 0 at first. Later attempts choose at random among what fits, because somebody else
            chose the same by the same order of preference; while others are choosing, the first one does
            among what is equally preferable.

    Raises:
        Conflict: A wish cannot be had; the database confirmed it.
        BadRequest: A wish names something that no resource knows.
    """
    shuffle = _shuffle(context, attempt)
    chosen: list[Holdings] = []
    generations: dict[ResourceId, int] = {}
    with ExitStack() as locks:
        views: dict[str, Availability] = {}
        for collection in sorted({each.plugin.collection for each in searches}):
            views[collection] = locks.enter_context(context.indexes[collection].searching())
        for search in searches:
            given = beside(chosen)
            wish = replace(
                search.wish,
                beside={
                    key: (*search.wish.beside.get(key, ()), *given.get(key, ()))
                    for key in search.wish.beside.keys() | given.keys()
                },
                shuffle=shuffle,
            )
            view = views[search.plugin.collection]
            found = _choose(context, search.plugin, wish, view)
            chosen.append(found)
            # An earlier search may have seen an older generation; that one must still hold.
            generations = {each: view.generation_of(each) for each in found} | generations
    return Found(chosen=tuple(chosen), generations=generations)


def _shuffle(context: Context, attempt: int) -> Shuffle | None:
    if attempt > 0 or context.settings.hosts.randomize_selection:
        return Shuffle(chance=context.random)
    return Shuffle(chance=context.random, equals_only=True) if context.rush.is_on else None


def beside(holdings: Iterable[Holdings]) -> dict[ResourceId, tuple[Share | None, ...]]:
    """Return what all of them hold of each resource, as ``Wish.beside`` has it."""
    together: dict[ResourceId, tuple[Share | None, ...]] = {}
    for each in holdings:
        for key, share in each.items():
            together[key] = (*together.get(key, ()), share)
    return together


def has_room_now(context: Context, collection: str, allocation: Allocation) -> bool:
    """Return whether a share fits beside all that others have not given back yet."""
    now, share = context.clock.now(), allocation.share
    if share is None:
        return False
    with context.indexes[collection].searching() as availability:
        position = availability.position_of(allocation.resource_id)
        if position is None:
            return False
        room = availability.room(
            share.demand,
            Interval(now, now + timedelta.resolution),
            now=now,
            cleaning_time=context.settings.leases.cleaning_time,
            ignoring=[allocation.reservation_id],
        )
        return bool(room.slots([position])[0] >= share.slots)


def _choose(context: Context, plugin: Plugin, wish: Wish[Any], view: Availability) -> Holdings:
    try:
        return _choose_confirmed(context.indexes[plugin.collection], plugin, wish, view)
    except (NotEnoughHosts, NotEnoughFloatingIPs):
        context.meter.count(SHORTAGES, plugin.resource_type)
        raise


def _choose_confirmed(
    index: AvailabilityIndex, plugin: Plugin, wish: Wish[Any], view: Availability
) -> Holdings:
    try:
        return plugin.choose(wish, view)
    except (BadRequest, Conflict):
        if not index.amend(view):
            raise
    return plugin.choose(wish, view)
