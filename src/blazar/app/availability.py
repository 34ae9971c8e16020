"""Use case: ask when reservations can be made, without making them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from blazar.app.leases.possible_changes import ChangeQuestion, search_changes
from blazar.app.leases.refusals import reasons_in_window
from blazar.app.leases.requests import NewReservation
from blazar.app.leases.wishes import is_permitted
from blazar.app.request_work import RequestWork, request_work
from blazar.app.search_variants import Variant, parse_variants
from blazar.app.visible_facts import public_facts
from blazar.booking.context import Context
from blazar.booking.search import Found
from blazar.booking.shares import count_units
from blazar.booking.time_search import TimeWish, find_time_slots
from blazar.domain.dates import format_date, minute_of, parse_date
from blazar.domain.errors import InvalidParameter, InvalidPeriod, MissingParameter
from blazar.domain.interval import Interval
from blazar.domain.lease import Holdings
from blazar.domain.requirements import text_of
from blazar.domain.search_budget import MAX_ATTEMPTS, MAX_CHOICES, Budget
from blazar.domain.time_slots import Order, TimeSlot
from blazar.plugins.parameters import parse_number
from blazar.ports.manager import Caller

JsonObject = Mapping[str, object]

LONGEST_SPAN = timedelta(days=366)
"""The longest time that one request can search."""
_DEFAULT_SPAN = timedelta(days=90)
FARTHEST = timedelta(days=365 * 100)
"""How far ahead a request can ask."""
MOST_SLOTS = 100
_DEFAULT_SLOTS = 5
_CHANGE_KEYS = ("lease_id", "earliest_start", "latest_end", "limit")


def search_time_slots(context: Context, caller: Caller, body: JsonObject) -> JsonObject:
    """Return time slots in which the reservations of a request could be made together.

    Nothing is reserved. Usage rules are obeyed; quota and filters are not asked. If the body has a
    ``lease_id``, return the possible changes of that lease, as :func:`~blazar.app.leases.search_changes`
    does.

    Args:
        context: The context.
        caller: The caller; sees and uses the same properties as for a lease.
        body: ``lease_id``, or ``reservations`` or ``shapes`` as :func:`parse_variants` reads them;
            ``duration_minutes``, or ``min_duration_minutes`` and ``max_duration_minutes`` with the order
            ``longest``; optionally ``earliest_start``, ``latest_end``, ``order`` and ``limit``.

    Returns:
        ``slots``, the preferred variants first; ``complete``, false if there may be better ones; and
        ``reasons``, empty unless there are no slots: why the first shape is not possible at the earliest
        start.

    Raises:
        BadRequest: The request is invalid.
    """
    if body.get("lease_id") is not None:
        return search_changes(context, caller, str(body["lease_id"]), _parse_question(context, body))
    if body.get("reservations") is None and body.get("shapes") is None:
        raise MissingParameter("reservations")
    wish = _parse_wish(context, body)
    work = request_work(context, caller, caller.project_id).proposing()
    variants = parse_variants(work, body)
    # All variants together do as much work as one of them would alone.
    budget = Budget(attempts=MAX_ATTEMPTS // len(variants), choices=MAX_CHOICES // len(variants))
    slots: dict[datetime, JsonObject] = {}
    is_complete = True
    for variant in variants:
        reservations = variant.reservations
        found = find_time_slots(
            context,
            variant.searches(work, wish.span),
            wish,
            lambda *each, own=reservations: is_permitted(work, own, [each]),
            replace(budget),
        )
        is_complete &= found.is_complete
        for each in found.slots:
            slots.setdefault(each.window.start, _slot_view(context, each, variant))
        if len(slots) >= wish.limit:
            break
    return {
        "slots": [*slots.values()][: wish.limit],
        "complete": is_complete,
        "reasons": [] if slots else _reasons(context, work, variants, wish),
    }


def _reasons(
    context: Context, work: RequestWork, variants: Sequence[Variant], wish: TimeWish
) -> Sequence[JsonObject]:
    """Return why the first shape, without preferences, is not possible at the earliest start."""
    variant = [each for each in variants if not each.shape][-1]
    window = Interval(wish.span.start, wish.span.start + wish.shortest)
    return reasons_in_window(context, variant.reservations, variant.searches(work, window), window)


def _parse_wish(context: Context, body: JsonObject) -> TimeWish:
    """Return the acceptable times. Raises BadRequest."""
    order = _parse_order(body.get("order", Order.EARLIEST.value))
    names = ("duration_minutes", "duration_minutes")
    if order is Order.LONGEST:
        names = ("min_duration_minutes", "max_duration_minutes")
    missing = sorted({each for each in names if body.get(each) is None})
    if missing:
        raise MissingParameter(*missing)
    shortest, longest = (timedelta(minutes=parse_number(body, each, least=1)) for each in names)
    if shortest > longest:
        raise InvalidParameter(names[0], f"must not be more than {names[1]}")
    span = _parse_span(context, body)
    if shortest > span.duration:
        raise InvalidParameter(names[0], "does not fit between earliest_start and latest_end")
    longest = min(longest, span.duration)
    return TimeWish(span=span, shortest=shortest, longest=longest, order=order, limit=_parse_limit(body))


def _parse_question(context: Context, body: JsonObject) -> ChangeQuestion:
    """Return the acceptable times for changes of a lease. Raises BadRequest."""
    surplus = sorted(key for key in body if body[key] is not None and key not in _CHANGE_KEYS)
    if surplus:
        raise InvalidParameter(
            surplus[0], f"cannot be given with lease_id; only {', '.join(_CHANGE_KEYS[1:])}"
        )
    return ChangeQuestion(span=_parse_span(context, body), limit=_parse_limit(body))


def _parse_limit(body: JsonObject) -> int:
    if body.get("limit") is None:
        return _DEFAULT_SLOTS
    return parse_number(body, "limit", least=1, most=MOST_SLOTS)


def _parse_order(value: object) -> Order:
    known = {each.value: each for each in Order}
    if not isinstance(value, str) or value not in known:
        raise InvalidParameter("order", f"must be one of {', '.join(known)}")
    return known[value]


def _parse_span(context: Context, body: JsonObject) -> Interval:
    now = context.clock.now()
    start = parse_date("earliest_start", body.get("earliest_start", "now"), now)
    start = max(start, minute_of(now))
    if start > now + FARTHEST:
        raise InvalidPeriod(f"earliest_start: must be at most {FARTHEST.days // 365} years ahead")
    end = parse_date("latest_end", body["latest_end"]) if body.get("latest_end") else start + _DEFAULT_SPAN
    if end <= start:
        raise InvalidPeriod("latest_end: must be later than earliest_start and now")
    if end - start > LONGEST_SPAN:
        raise InvalidPeriod(f"latest_end: must be at most {LONGEST_SPAN.days} days after earliest_start")
    return Interval(start, end)


def _slot_view(context: Context, slot: TimeSlot[Found], variant: Variant) -> JsonObject:
    chosen = slot.found.chosen
    amounts = [count_units(each) for each in chosen]
    return {
        "shape": variant.shape,
        "start_date": format_date(slot.window.start),
        "end_date": format_date(slot.window.end),
        "latest_start_date": format_date(slot.latest_start),
        "reservations": [
            {
                "resource_type": each.resource_type,
                "amount": amount,
                "preferences_met": met,
                "groups": _groups_view(context, each, held),
            }
            for each, amount, met, held in zip(
                variant.reservations, amounts, variant.met, chosen, strict=True
            )
        ],
        "request": {
            "start_date": format_date(slot.window.start),
            "end_date": format_date(slot.window.end),
            "reservations": [variant.request(*each) for each in enumerate(amounts)],
        },
    }


def _groups_view(context: Context, reservation: NewReservation, held: Holdings) -> Sequence[JsonObject]:
    """Return the units by value of each property of a grouping that every lessee may see."""
    if reservation.grouping is None:
        return []
    plugin, found = reservation.plugin, []
    with context.indexes[plugin.collection].searching_on() as availability:
        resources = [
            (availability.resource_at(position), 1 if share is None else share.slots)
            for key, share in held.items()
            if (position := availability.position_of(key)) is not None
        ]
    for name in reservation.grouping.keys:
        amounts: Counter[str] = Counter()
        for resource, amount in resources:
            is_public = name in resource.properties or name in public_facts(plugin)
            if is_public and (value := resource.facts.get(name)) is not None:
                amounts[text_of(value)] += amount
        values = [{"value": value, "amount": amount} for value, amount in sorted(amounts.items())]
        found.append({"property": name, "values": values})
    return found
