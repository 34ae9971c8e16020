"""The common part of the specs of slot reservations, and its form in requests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from blazar.domain.capacity import Demand
from blazar.domain.errors import CannotChange, MissingParameter
from blazar.domain.expressions import parse
from blazar.domain.requirements import Requirement
from blazar.plugins.parameters import parse_number
from blazar.ports.compute import Flavor


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotSpec(ABC):
    """The number of slots, their placement, and the ids of objects that were made for them.

    ``affinity`` is true for all on one host, false for all on different hosts, None for any hosts. The
    properties are kept as they were sent. The last four are None until something is made: ``flavor_id`` is
    the reservation's own flavor, and ``group_affinity`` is the affinity for which the server group was made.
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
        """Return the demand of one slot."""

    @property
    @abstractmethod
    def pattern(self) -> Flavor:
        """Return the template of the reservation's flavor, without id, name and access."""

    @property
    def requirement(self) -> Requirement:
        """Return the requirement of the properties."""
        return parse(self.resource_properties, field="resource_properties")


SpecT = TypeVar("SpecT", bound=SlotSpec)


def check_keys(body: Mapping[str, object], required: Collection[str]) -> None:
    """Raise MissingParameter for required keys that a request does not have."""
    missing = [key for key in required if key not in body]
    if missing:
        raise MissingParameter(*missing)


def parse_amount(body: Mapping[str, object]) -> int:
    """Return the requested number of slots. Raises MissingParameter and InvalidParameter."""
    return parse_number(body, "amount", least=1)


def settled(before: SpecT, after: SpecT, fixed: Mapping[str, str]) -> SpecT:
    """Return *after* for an active reservation, of which only the amount may change.

    Args:
        before: The present spec.
        after: The requested spec.
        fixed: Fields that must not change, by the keys of requests; the properties are always fixed.

    Raises:
        CannotChange: Another key would change; the message names it.
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
    """Return a spec from the fields of *stored* that the type has, and from *other* fields."""
    known = {each.name: stored[each.name] for each in fields(kind) if each.name in stored}
    return kind(**{**known, **other})
