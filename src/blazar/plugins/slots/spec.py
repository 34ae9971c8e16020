"""What both kinds of slot reservations ask for, and how requests write it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from blazar.domain.capacity import Demand
from blazar.domain.errors import CannotChange, InvalidParameter, MissingParameter
from blazar.domain.requirements import Requirement, parse
from blazar.plugins.parameters import parse_number
from blazar.ports.compute import Flavor

_TRUE_WORDS = frozenset({"1", "t", "true", "on", "y", "yes"})
_FALSE_WORDS = frozenset({"0", "f", "false", "off", "n", "no"})

NONE_WORDS = frozenset({"None", "none"})
"""Texts that mean null as an affinity (rest-api 6.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotSpec(ABC):
    """How many slots, where, and what of them is known outside.

    ``affinity`` is true for all on one host, false for all on different hosts, None for anywhere. The
    properties are kept as they were sent. The last four are None until something is made outside:
    ``flavor_id`` is the reservation's own flavor, and ``group_affinity`` the affinity that the server
    group was made for.
    """

    amount: int
    affinity: bool | None
    resource_properties: str | None = None
    flavor_id: str | None = None
    aggregate_id: int | None = None
    server_group_id: str | None = None
    group_affinity: bool | None = None

    @property
    @abstractmethod
    def demand(self) -> Demand:
        """Return what one slot needs."""

    @property
    @abstractmethod
    def pattern(self) -> Flavor:
        """Return what the reservation's flavor is like, but for its id, its name and who may use it."""

    @property
    def requirement(self) -> Requirement:
        """Return what the properties require of a host."""
        return parse(self.resource_properties, field="resource_properties")


SpecT = TypeVar("SpecT", bound=SlotSpec)


def check_keys(body: Mapping[str, object], required: Collection[str]) -> None:
    """Raise MissingParameter for the keys that a request lacks."""
    missing = [key for key in required if key not in body]
    if missing:
        raise MissingParameter(*missing)


def parse_amount(body: Mapping[str, object]) -> int:
    """Return how many slots are asked for. Raises MissingParameter and InvalidParameter."""
    return parse_number(body, "amount", least=1)


def parse_affinity(value: object, none_words: Collection[str] = NONE_WORDS) -> bool | None:
    """Return an affinity, which has many spellings (rest-api 6.2). Raises InvalidParameter."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and value in (0, 1):
        return value == 1
    if isinstance(value, str):
        if value in none_words:
            return None
        if value.lower() in _TRUE_WORDS | _FALSE_WORDS:
            return value.lower() in _TRUE_WORDS
    raise InvalidParameter("affinity", "must be true, false or null")


def parse_properties(value: object) -> str | None:
    """Return a requirement as text, once it has been understood; a list is written as JSON.

    Raises:
        InvalidRequirement: It is none.
    """
    parse(value, field="resource_properties")
    return value if value is None or isinstance(value, str) else json.dumps(value)


def settled(before: SpecT, after: SpecT, fixed: Mapping[str, str]) -> SpecT:
    """Return *after* for an active reservation, of which only the amount may change.

    Args:
        before: The spec that it has.
        after: The one that is asked for.
        fixed: Fields that must not change, by the keys of requests; the properties are among them anyway.

    Raises:
        CannotChange: Something else would change; the message names it.
    """
    changed = [key for key, name in fixed.items() if getattr(before, name) != getattr(after, name)]
    if after.requirement != before.requirement:
        changed.append("resource_properties")
    if changed:
        raise CannotChange(
            f"{', '.join(changed)}: cannot be changed while the reservation is active; only amount can"
        )
    return after


def with_known_fields(kind: type[SpecT], stored: Mapping[str, Any], **other: object) -> SpecT:
    """Return a spec of the fields that *stored* has and it knows, and of *other* ones."""
    known = {each.name: stored[each.name] for each in fields(kind) if each.name in stored}
    return kind(**{**known, **other})
