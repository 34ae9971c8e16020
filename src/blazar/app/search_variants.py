"""The ways in which a search may satisfy a request, most preferred first.

Each way, a variant, is a list of reservations as in a lease. A request may name several shapes; within a
shape, preferences are given up one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from blazar.app.leases.limits import check_amounts, check_conditions, check_length
from blazar.app.leases.requests import NewReservation, parse_new_reservations, parse_objects
from blazar.app.leases.wishes import looked_up, searches_for
from blazar.app.request_work import RequestWork
from blazar.booking.context import Plugin
from blazar.booking.search import Search
from blazar.booking.specs import requirement_of
from blazar.domain.errors import InvalidParameter, MissingParameter
from blazar.domain.expressions import parse
from blazar.domain.interval import Interval
from blazar.domain.requirements import Requirement
from blazar.plugins.capabilities import RequiresProperties, StatesNeed
from blazar.plugins.parameters import parse_number
from blazar.settings import RequestLimits

JsonObject = Mapping[str, object]

MOST_SHAPES: Final = 8
MOST_VARIANTS: Final = 12
"""The most variants; each costs as much as a separate search."""
MOST_PREFERENCES: Final = 4
"""The most preferences of one reservation."""
_SEARCH_KEYS: Final = ("count", "prefer")
"""Keys of reservations in searches that a lease does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """A reservation of a shape."""

    item: JsonObject
    """The reservation as in a lease, with the least count."""
    most: int | None
    """The most units, if the search gave a range of them."""
    preferences: tuple[Requirement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way to satisfy a request."""

    shape: int
    """The place of its shape in the request."""
    items: Sequence[JsonObject]
    """Its reservations, as in a lease."""
    met: Sequence[int]
    """The number of preferences that each reservation has as conditions."""
    most: Sequence[int | None]
    reservations: Sequence[NewReservation]

    def searches(self, work: RequestWork, window: Interval) -> Sequence[Search]:
        """Return the searches for the reservations."""
        found = searches_for(work, self.reservations, window)
        return [replace(each, most=most) for each, most in zip(found, self.most, strict=True)]

    def request(self, place: int, amount: int) -> JsonObject:
        """Return a reservation as in a lease, with the number of units that was found."""
        item = self.items[place]
        if self.most[place] is None:
            return item
        return {**item, **_change_need(self.reservations[place].plugin, amount)}


def parse_variants(work: RequestWork, body: JsonObject) -> Sequence[Variant]:
    """Return the variants of a search, from its ``reservations`` or ``shapes``.

    Raises:
        BadRequest: A reservation, a count or a preference is invalid, or there are too many.
    """
    shapes = [_parse_wanted(work, items) for items in _parse_shapes(body)]
    count = sum(1 + max(len(each.preferences) for each in wanted) for wanted in shapes)
    if count > MOST_VARIANTS:
        raise InvalidParameter(
            "shapes" if len(shapes) > 1 else "prefer",
            f"each shape and each preference is searched on its own: {count} searches, at most"
            f" {MOST_VARIANTS} are possible",
        )
    return [variant for number, wanted in enumerate(shapes) for variant in _variants(work, number, wanted)]


def _parse_shapes(body: JsonObject) -> Sequence[Sequence[JsonObject]]:
    value, shapes = body.get("reservations"), body.get("shapes")
    if shapes is None:
        if not parse_objects(value):
            raise MissingParameter("reservations")
        return [parse_objects(value)]
    if value is not None:
        raise InvalidParameter("shapes", "cannot be given with reservations")
    if not isinstance(shapes, list) or not 1 <= len(shapes) <= MOST_SHAPES:
        raise InvalidParameter("shapes", f"must be a list of 1 to {MOST_SHAPES} objects")
    if not all(isinstance(each, Mapping) and parse_objects(each.get("reservations")) for each in shapes):
        raise InvalidParameter("shapes", "each must be an object with reservations")
    return [parse_objects(each["reservations"]) for each in shapes]


def _parse_wanted(work: RequestWork, items: Sequence[JsonObject]) -> Sequence[_Wanted]:
    found, limits = [], work.context.settings.leases.limits
    for item in items:
        if not isinstance(item.get("resource_type"), str):
            raise MissingParameter("resource_type")
        plugin = work.context.plugin_for(str(item["resource_type"]))
        kept = {key: value for key, value in item.items() if key not in _SEARCH_KEYS}
        least, most = _parse_count(plugin, item.get("count"))
        if least is not None:
            kept |= _change_need(plugin, least)
        found.append(_Wanted(item=kept, most=most, preferences=_parse_preferences(limits, plugin, item)))
    largest = [
        each.item
        if each.most is None
        else _change_need(work.context.plugin_for(str(each.item["resource_type"])), each.most)
        for each in found
    ]
    check_amounts(limits, largest)
    return found


def _parse_count(plugin: Plugin, value: object) -> tuple[int | None, int | None]:
    """Return the least and the most units of ``count``; None without it."""
    if value is None:
        return None, None
    if not isinstance(plugin, StatesNeed):
        raise InvalidParameter("count", f"reservations of type {plugin.resource_type} do not support it")
    if not isinstance(value, Mapping) or set(value) != {"least", "most"}:
        raise InvalidParameter("count", "must be an object with least and most")
    least, most = parse_number(value, "least", least=1), parse_number(value, "most", least=1)
    if least > most:
        raise InvalidParameter("count", "least must not be more than most")
    return least, most


def _parse_preferences(limits: RequestLimits, plugin: Plugin, item: JsonObject) -> tuple[Requirement, ...]:
    value = item.get("prefer")
    if value is None:
        return ()
    if not isinstance(plugin, RequiresProperties):
        raise InvalidParameter("prefer", f"reservations of type {plugin.resource_type} do not support it")
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_PREFERENCES:
        raise InvalidParameter("prefer", f"must be a list of 1 to {MOST_PREFERENCES} requirements")
    for each in value:
        check_length(limits, "prefer", each)
    found = tuple(parse(each, field="prefer") for each in value)
    if not all(each.conditions for each in found):
        raise InvalidParameter("prefer", "must not have an empty requirement")
    return found


def _variants(work: RequestWork, shape: int, wanted: Sequence[_Wanted]) -> Iterator[Variant]:
    """Yield a shape with all preferences, then without the last one of each reservation, and so on."""
    parsed = parse_new_reservations(work.context, work.caller, [each.item for each in wanted])
    parsed = looked_up(work, parsed)
    for number in range(max(len(each.preferences) for each in wanted), -1, -1):
        met = [min(number, len(each.preferences)) for each in wanted]
        preferred = [_with_preferences(*each) for each in zip(wanted, parsed, met, strict=True)]
        reservations = [each for _, each in preferred]
        requirements = [requirement_of(each.plugin, each.spec) for each in reservations]
        check_conditions(work.context.settings.leases.limits, requirements)
        yield Variant(
            shape=shape,
            items=[each for each, _ in preferred],
            met=met,
            most=[each.most for each in wanted],
            reservations=reservations,
        )


def _with_preferences(
    wanted: _Wanted, parsed: NewReservation, number: int
) -> tuple[JsonObject, NewReservation]:
    plugin = parsed.plugin
    if not number or not isinstance(plugin, RequiresProperties):
        return wanted.item, parsed
    requirement = plugin.requirement(parsed.spec)
    for each in wanted.preferences[:number]:
        requirement &= each
    changes = plugin.change_requirement(requirement)
    spec = plugin.revise(parsed.spec, changes, is_active=False)
    return {**wanted.item, **changes}, replace(parsed, spec=spec)


def _change_need(plugin: Plugin, units: int) -> JsonObject:
    assert isinstance(plugin, StatesNeed)
    return plugin.change_need(units)
