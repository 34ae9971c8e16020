"""Choice of resources for the reservations of a lease: in memory first, confirmed before a refusal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from blazar.booking.context import Context, Plugin
from blazar.booking.grouped_choice import choose, count_further_choices
from blazar.booking.joint_choice import Part, choose_together
from blazar.booking.shares import beside, count_units, together
from blazar.booking.specs import booked_window, intact_spec, need_of, requirement_of
from blazar.booking.visibility import visible_to
from blazar.domain.availability import Availability, Shuffle
from blazar.domain.bookings import LONG_FREE
from blazar.domain.capacity import Share
from blazar.domain.errors import BadRequest, Conflict, NotEnoughResources, rebuild
from blazar.domain.grouped_units import part_of
from blazar.domain.grouping import Grouping
from blazar.domain.instants import moved
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, Holdings, Lease, Reservation, ReservationId, ResourceId
from blazar.domain.rules.permit import Permit
from blazar.domain.rules.times import Refusal
from blazar.domain.search_budget import Budget
from blazar.plugins.contract import Wish
from blazar.ports.metrics import RULE_REFUSALS, SHORTAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The wish of one reservation, the plugin that interprets it, and the grouping of its units.

    The window of the wish is that of the lease. The plugin gets the window in which resources are booked.
    """

    plugin: Plugin
    wish: Wish[Any]
    grouping: Grouping | None = None
    most: int | None = None
    """In a search for free times: the most units that are welcome, if more than those of the wish."""
    permit: Permit | None = None
    """The usage rules for the reservation; None without rules, or if they do not matter."""
    project_id: str | None = None
    """The project of the lease; resources that are only for others do not exist for it."""
    present: Interval | None = None
    """For a change: the lease's window before it. Outside it, the lease loses resources kept for others."""

    def visible(self, context: Context, view: Availability) -> Availability:
        """Return the resources that exist for the lease, including those that it holds."""
        window = self.wish.window
        is_kept = self.present is None or self.present.covers(window)
        kept = self.wish.held if is_kept else ()
        return visible_to(context, self.plugin.collection, view, self.project_id, kept)

    def permitted(self, view: Availability) -> Availability:
        """Return those of the resources that the usage rules permit in the window of the wish."""
        if self.permit is None:
            return view
        return part_of(view, self.permit.permitted(view, self.wish.window, self.wish.held))


def search_for(
    context: Context,
    lease: Lease,
    reservation: Reservation,
    window: Interval,
    excluded: Collection[ResourceId],
) -> Search:
    """Return the search for the resources of an existing reservation in a window.

    Holdings of other reservations of the same lease are ignored; the caller states in ``Wish.beside`` what
    they hold in the window.

    Args:
        context: The context.
        lease: The lease.
        reservation: One of its reservations, with the new spec.
        window: The window to search.
        excluded: The resources that it must not get, such as those that were reported for the lease; a caller
            that lets the reservation keep resources takes these out of ``Wish.excluded``.
    """
    plugin = context.plugin_for(reservation.resource_type)
    return Search(
        plugin=plugin,
        wish=Wish(
            spec=intact_spec(plugin, reservation),
            window=window,
            now=context.clock.now(),
            cleaning_time=context.settings.leases.cleaning_time,
            ignoring=frozenset(each.id for each in lease.reservations),
            excluded=frozenset(excluded),
        ),
        grouping=reservation.grouping,
        project_id=lease.project_id,
    )


def holdings_of(allocations: Sequence[Allocation]) -> Mapping[ReservationId, Holdings]:
    """Return the holdings of each reservation."""
    held: dict[ReservationId, dict[ResourceId, Share | None]] = {}
    for each in allocations:
        held.setdefault(each.reservation_id, {})[each.resource_id] = each.share
    return held


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The chosen resources, in the order of the searches, and the generations at which they were free."""

    chosen: tuple[Holdings, ...]
    generations: Mapping[ResourceId, int]


def find_resources(context: Context, searches: Sequence[Search], attempt: int) -> Found:
    """Return resources for all *searches*; no two searches share capacity.

    Args:
        context: The context.
        searches: The wishes, processed in order.
        attempt: 0 for the first attempt. Later attempts choose at random among all resources that fit,
            because a concurrent request chose the same ones by the same order of preference. Under
            contention, the first attempt chooses at random among equally preferred resources.

    Raises:
        Forbidden: All wishes could be satisfied, if usage rules did not forbid it.
        Conflict: A wish cannot be satisfied, as confirmed by the database.
        BadRequest: A wish names a property or fact that no resource has.
    """
    shuffle = _shuffle(context, attempt)
    for search in searches:
        requirement = requirement_of(search.plugin, search.wish.spec)
        if requirement.conditions:
            context.indexes[search.plugin.collection].prepare(requirement)
    try:
        return _find_in_memory(context, searches, shuffle, is_confirmed=False)
    except (BadRequest, Conflict):
        # Without a lock, because reading thousands of generations would delay other searches for too long.
        for collection in {each.plugin.collection for each in searches}:
            context.indexes[collection].confirm()
    if all(each.permit is None for each in searches):
        return _find_in_memory(context, searches, shuffle, is_confirmed=True)
    try:
        return _find_in_memory(context, searches, shuffle, is_confirmed=False)
    except (BadRequest, NotEnoughResources):
        _raise_refusals(context, searches)
        raise


def _raise_refusals(context: Context, searches: Sequence[Search]) -> None:
    """Raise why a request is refused: because of usage rules, or of a shortage regardless of them."""
    found = _find_in_memory(
        context, [replace(each, permit=None) for each in searches], None, is_confirmed=True
    )
    refusals: list[tuple[str, Refusal]] = []
    for search, chosen in zip(searches, found.chosen, strict=True):
        refused = _refusals(context, search, search.wish.window, chosen)
        refusals += [(search.plugin.resource_type, each) for each in refused]
    permit = next(each.permit for each in searches if each.permit is not None)
    if refusals:
        count_refusals(context, refusals)
        raise permit.error_of(refusals)


def count_refusals(context: Context, refusals: Sequence[tuple[str, Refusal]]) -> None:
    """Count the refusals of a request, once for each rule."""
    for name, is_enforced in {(each.rule.name, each.rule.is_enforced) for _, each in refusals}:
        context.meter.count(RULE_REFUSALS, name, "enforce" if is_enforced else "log")


def refusals_in_window(context: Context, search: Search, window: Interval) -> Sequence[Refusal]:
    """Return why usage rules do not permit the resources that a search would find in a window without them.

    The index is used as last read.
    """
    found = find_in_window(context, [replace(search, permit=None)], window)
    return [] if found is None else _refusals(context, search, window, found.chosen[0])


def _refusals(context: Context, search: Search, window: Interval, chosen: Holdings) -> Sequence[Refusal]:
    if search.permit is None:
        return []
    with context.indexes[search.plugin.collection].searching_on() as view:
        return search.permit.refusals(view, window, chosen.keys(), search.wish.held)


def shortest_durations(searches: Sequence[Search]) -> frozenset[timedelta]:
    """Return the shortest durations that usage rules permit."""
    permits = [each.permit for each in searches if each.permit is not None]
    return frozenset().union(*(each.shortest_durations for each in permits))


def find_in_window(
    context: Context, searches: Sequence[Search], window: Interval, budget: Budget | None = None
) -> Found | None:
    """Return resources for all *searches* in another window, as far as the index knows; None if refused.

    The index is not updated: it must have been searched before.

    Args:
        context: The context.
        searches: The wishes; their windows are not used.
        window: The window.
        budget: The work that may be done; a request may be granted that is refused for lack of it. Without
            one, the result is exact.

    Raises:
        BadRequest: As for :func:`find_resources`.
    """
    if budget is not None and not budget.has_choices():
        return None
    moved = [replace(each, wish=replace(each.wish, window=window)) for each in searches]
    try:
        return _find_in_memory(context, moved, None, is_confirmed=False, is_current=True, budget=budget)
    except Conflict:
        return None


def _find_in_memory(
    context: Context,
    searches: Sequence[Search],
    shuffle: Shuffle | None,
    *,
    is_confirmed: bool,
    is_current: bool = False,
    budget: Budget | None = None,
) -> Found:
    budget = budget or Budget.unlimited()
    in_turn = partial(_find_in_turn, context, searches, shuffle, is_current=is_current, budget=budget)
    found: Found | None = None
    if len(searches) > 1:
        try:
            found = in_turn(is_confirmed=False)
        except Conflict:
            found = _find_together(context, searches, shuffle, budget)
            if found is None and not is_confirmed:
                raise
        else:
            if _could_get_more(searches, found.chosen):
                larger = _find_together(context, searches, shuffle, budget)
                found = max(found, larger or found, key=lambda each: sum(map(count_units, each.chosen)))
    return found or in_turn(is_confirmed=is_confirmed)


def _could_get_more(searches: Sequence[Search], chosen: Sequence[Holdings]) -> bool:
    """Return whether searches that chose from the same resources might together get more units."""
    users = Counter(each.plugin.collection for each in searches)
    return any(
        users[each.plugin.collection] > 1 and count_units(own) < need_of(each.plugin, each.wish.spec).most
        for each, own in zip(searches, chosen, strict=True)
    )


def _find_together(
    context: Context, searches: Sequence[Search], shuffle: Shuffle | None, budget: Budget
) -> Found | None:
    """Return resources for searches that may have taken them from each other; None if too few exist."""
    if any(each.wish.held for each in searches):
        return None
    chosen: dict[int, Holdings] = {}
    generations: dict[ResourceId, int] = {}
    for collection in dict.fromkeys(each.plugin.collection for each in searches):
        numbers = [number for number, each in enumerate(searches) if each.plugin.collection == collection]
        with context.indexes[collection].searching_on() as view:
            parts = [_part(context, searches[each], view, shuffle) for each in numbers]
            found = choose_together(parts, budget)
            if found is None:
                return None
            chosen.update(zip(numbers, found, strict=True))
            generations |= {key: view.generation_of(key) for holdings in found for key in holdings}
    return Found(chosen=tuple(chosen[number] for number in range(len(searches))), generations=generations)


def _part(context: Context, search: Search, view: Availability, shuffle: Shuffle | None) -> Part:
    plugin, wish = search.plugin, search.wish
    wish = replace(wish, window=booked_window(plugin, wish.spec, wish.window), shuffle=shuffle)
    asked = replace(search, wish=wish)
    return Part(
        plugin=plugin,
        wish=wish,
        grouping=search.grouping,
        view=asked.permitted(asked.visible(context, view)),
    )


def _find_in_turn(
    context: Context,
    searches: Sequence[Search],
    shuffle: Shuffle | None,
    *,
    is_confirmed: bool,
    is_current: bool,
    budget: Budget,
) -> Found:
    """Return resources for each search; a search chooses from what the earlier ones have left."""
    chosen: list[Holdings] = []
    generations: dict[ResourceId, int] = {}
    begun = {each.plugin.collection for each in searches} if is_current else set()
    for search in searches:
        wish = replace(
            search.wish,
            window=booked_window(search.plugin, search.wish.spec, search.wish.window),
            beside=together(search.wish.beside, beside(chosen)),
            shuffle=shuffle,
        )
        collection = search.plugin.collection
        index = context.indexes[collection]
        until = _last_needed(search, wish)
        with index.searching_on(until) if collection in begun else index.searching(until) as view:
            begun.add(collection)
            budget.choices -= 1
            found = _choose(context, replace(search, wish=wish), view, is_confirmed=is_confirmed)
            chosen.append(found)
            budget.choices -= count_further_choices(view, search.grouping, found)
            # An earlier search may have seen an older generation; the claim must be made on that one.
            generations = {each: view.generation_of(each) for each in found} | generations
    return Found(chosen=tuple(chosen), generations=generations)


def _last_needed(search: Search, wish: Wish[Any]) -> datetime | None:
    """Return the time from which on no booking matters for a search; None if usage rules may look at any."""
    if search.permit is not None:
        return None
    return moved(wish.window.end, wish.cleaning_time + LONG_FREE)


def _shuffle(context: Context, attempt: int) -> Shuffle | None:
    if attempt > 0 or context.settings.leases.randomize_selection:
        return Shuffle(chance=context.random)
    return Shuffle(chance=context.random, equals_only=True) if context.contention.is_present else None


def has_room_now(context: Context, collection: str, allocation: Allocation) -> bool:
    """Return whether a share fits next to everything that others have not released yet."""
    now, share = context.clock.now(), allocation.share
    if share is None:
        return False
    with context.indexes[collection].searching() as availability:
        position = availability.position_of(allocation.resource_id)
        if position is None:
            return False
        headroom = availability.headroom(
            share.demand,
            Interval(now, now + timedelta.resolution),
            now=now,
            cleaning_time=context.settings.leases.cleaning_time,
            ignoring=[allocation.reservation_id],
            among=availability.mask_of([allocation.resource_id]),
        )
        return bool(headroom.slots([position])[0] >= share.slots)


def _choose(context: Context, search: Search, view: Availability, *, is_confirmed: bool) -> Holdings:
    plugin, wish = search.plugin, search.wish
    view = search.permitted(whole := search.visible(context, view))
    try:
        return choose(plugin, wish, view, search.grouping)
    except BadRequest:
        if view is whole:
            raise
        choose(plugin, wish, whole, search.grouping)  # raises if the request itself is wrong
        raise NotEnoughResources("Usage rules do not permit the resources that fit") from None
    except NotEnoughResources as error:
        if not is_confirmed:
            raise
        context.meter.count(SHORTAGES, plugin.resource_type)
        if not _is_for_cleaning(search, view):
            raise
        minutes = round(wish.cleaning_time / timedelta(minutes=1))
        message = (
            f"{error.message}; without the cleaning time of {minutes} minutes, which is kept free before and"
            " after other reservations, there would be enough"
        )
        raise rebuild(error.code, message, error.fields) from error


def _is_for_cleaning(search: Search, view: Availability) -> bool:
    """Return whether a refused wish would be granted without cleaning time."""
    if not search.wish.cleaning_time:
        return False
    try:
        choose(search.plugin, replace(search.wish, cleaning_time=timedelta(0)), view, search.grouping)
    except (BadRequest, Conflict):
        return False
    return True
