"""Limits on what one request may ask for; they bound the cost of processing it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from blazar.domain.errors import InvalidParameter, InvalidRequirement
from blazar.domain.expressions import parse
from blazar.domain.requirements import Requirement
from blazar.plugins.parameters import LARGEST_NUMBER
from blazar.ports.manager import OLDEST_API, Caller
from blazar.settings import RequestLimits

JsonObject = Mapping[str, object]

_AMOUNTS = ("amount", "min")
"""Not max: however large it is, it cannot select more hosts than exist."""
_LONGEST_NUMBER = 11
_EXPRESSIONS = ("hypervisor_properties", "resource_properties")


def check_number_of_reservations(limits: RequestLimits, items: Sequence[object]) -> None:
    """Raise InvalidParameter if a request has more reservations than a lease may have."""
    if limits.reservations and len(items) > limits.reservations:
        raise InvalidParameter(
            "reservations",
            f"has {len(items)} elements; a lease may have at most {limits.reservations}"
            " ([manager] max_reservations_per_lease)",
        )


def check_amounts(
    limits: RequestLimits, items: Iterable[JsonObject], present: Iterable[JsonObject] = ()
) -> None:
    """Raise InvalidParameter if a lease asks for more hosts, instances and addresses than it may have.

    Args:
        limits: The limits.
        items: All reservations after the request; values that are not numbers are left to the plugins.
        present: All reservations before the request: a lease may keep the amount that it has.
    """
    counts = [_count(each) for each in items]
    asked = sum(number for _, number in counts)
    if limits.amount and asked > max(limits.amount, sum(_count(each)[1] for each in present)):
        name, _ = max(counts, key=lambda each: each[1])
        raise InvalidParameter(
            name,
            f"the lease asks for {asked} hosts, instances and addresses; it may have at most {limits.amount}"
            " ([manager] max_amount_per_lease)",
        )


def check_conditions(
    limits: RequestLimits, requirements: Iterable[Requirement], present: Iterable[Requirement] = ()
) -> None:
    """Raise InvalidParameter if a lease has more conditions than allowed.

    Args:
        limits: The limits.
        requirements: Requirements of all reservations after the request; read only up to the excess.
        present: Requirements of the lease before the request: it may keep as many conditions.
    """
    allowed = max(limits.conditions, sum(each.count for each in present))
    found = 0
    for each in requirements:
        found += each.count
        if limits.conditions and found > allowed:
            raise InvalidParameter(
                "resource_properties, hypervisor_properties",
                f"have {found} conditions or more; a lease may have at most {limits.conditions} in all"
                " its reservations ([manager] max_conditions_per_lease)",
            )


def check_expressions(
    limits: RequestLimits, specs: Iterable[JsonObject], present: Iterable[JsonObject] = ()
) -> None:
    """Raise InvalidParameter if an expression of a lease is longer than allowed.

    Args:
        limits: The limits.
        specs: Specs of the reservations after the request.
        present: Specs of the lease before the request: it may keep its expressions.
    """
    kept = [each.get(key) for each in present for key in _EXPRESSIONS]
    for each in specs:
        for key in _EXPRESSIONS:
            text = each.get(key)
            if text not in kept:
                check_length(limits, key, text)


def check_length(limits: RequestLimits, field: str, expression: object) -> None:
    """Raise InvalidParameter if an expression in a key of the request is longer than allowed."""
    most, length = limits.expression_length, len(expression) if isinstance(expression, str) else 0
    if most and length > most:
        raise InvalidParameter(
            field,
            f"has {length} characters; an expression may have at most {most}"
            " ([manager] max_expression_length)",
        )


def check_grammar(
    caller: Caller, requirements: Iterable[Requirement], present: Collection[Requirement] = ()
) -> None:
    """Raise InvalidRequirement if API 1.0 is asked for an expression that only later versions know.

    Args:
        caller: The caller, with the version of the request.
        requirements: Requirements of the reservations after the request.
        present: Requirements before the request, which a reservation may keep.
    """
    if caller.api_version > OLDEST_API:
        return
    for each in requirements:
        if each.refusal_at_1_0 is not None and each not in present:
            raise InvalidRequirement(*each.refusal_at_1_0)


def check_changed_grammar(caller: Caller, changes: JsonObject) -> None:
    """Raise InvalidRequirement if API 1.0 sends an expression that only later versions know.

    Call this when a plugin refuses to change an expression: API 1.0 reports an invalid one before that.
    """
    if caller.api_version == OLDEST_API:
        requirements = [parse(changes[key], field=key) for key in _EXPRESSIONS if key in changes]
        check_grammar(caller, requirements)


def _count(item: JsonObject) -> tuple[str, int]:
    """Return the key and the amount that a reservation asks for; 0 where the plugin will refuse."""
    counts = [(name, number) for name in _AMOUNTS if (number := _number(item.get(name))) is not None]
    name, number = max(counts, key=lambda each: each[1], default=("amount", 0))
    return name, number if 0 <= number <= LARGEST_NUMBER else 0


def _number(value: object) -> int | None:
    """Return a value that is, or is written as, a whole number; otherwise None."""
    if isinstance(value, str) and len(value) <= _LONGEST_NUMBER and value.isascii() and value.isdecimal():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
