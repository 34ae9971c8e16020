"""Private resource properties: those that a request may not name."""

from __future__ import annotations

from typing import Final

from blazar.booking.context import Context
from blazar.domain.requirements import Requirement
from blazar.ports.manager import Caller

_NONE: Final[frozenset[str]] = frozenset()


def hidden_in_request(
    context: Context, caller: Caller, after: Requirement, before: Requirement
) -> frozenset[str]:
    """Return the hidden properties that the requirement of a request names.

    A condition that the reservation already has is allowed: its property may have become private since.

    Args:
        context: The context.
        caller: The caller of the request.
        after: The new requirement of the reservation.
        before: The present requirement; empty for a new reservation.
    """
    known = frozenset(before.leaves)
    named = frozenset(each.key for each in after.leaves if each not in known)
    return named & hidden_names(context, caller) if named else _NONE


def hidden_names(context: Context, caller: Caller) -> frozenset[str]:
    """Return the names of all properties that are hidden from the caller."""
    if caller.sees_private_properties:
        return _NONE
    return private_names(context)


def private_names(context: Context) -> frozenset[str]:
    """Return the names of all private properties."""
    with context.store.read(of_one_instant=False) as transaction:
        return transaction.plugin_resources.private_names()
