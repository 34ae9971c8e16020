"""Usage rules as values: what a rule is about, and what it allows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Final

from blazar.domain.requirements import Requirement


class Kind(StrEnum):
    """The question that a rule decides; also the code of its refusals, so a value never changes."""

    HORIZON = "horizon"
    """How far ahead a lease may start or end."""
    LEAD_TIME = "lead_time"
    """How long before its start a lease must be requested."""
    LONGEST = "longest"
    """How long a lease may last."""
    SHORTEST = "shortest"
    """How long a lease must last."""
    EXTENSION = "extension"
    """When a lease that has started may be extended, and by how much."""
    COOL_DOWN = "cool_down"
    """How long a project must wait between two leases."""
    STACKING = "stacking"
    """How many resource hours a project or a user may book ahead."""
    ONLY_FOR = "only_for"
    """Which projects may have, and see, a resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon:
    """The farthest times ahead of the request at which a lease may start and end; None for any."""

    start: timedelta | None = None
    end: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadTime:
    """The least time from the request to the start."""

    lead: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Longest:
    """The longest time from the start to the end."""

    longest: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortest:
    """The shortest time from the start to the end."""

    shortest: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """Conditions for extending a lease that has started."""

    last: timedelta | None = None
    """The time before the end in which it may be extended; None for any time."""
    most: timedelta | None = None
    """The most that one request may add; None for any time."""
    beyond_longest: bool = False
    """Whether an extension may exceed the longest lease."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoolDown:
    """The least time between two leases of a project."""

    gap: timedelta
    same_resource: bool = False
    """Whether only leases of the same resource need it; otherwise, leases of any that the rule is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacking:
    """The most resource hours that are booked ahead."""

    most_hours: int
    period: timedelta | None = None
    """The length of the periods in which the hours are counted; None to count all of them."""
    per_user: bool = False
    """Whether each user of a project has these hours; otherwise, all users share them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyFor:
    """The projects that may use a resource; others do not see it."""

    projects: frozenset[str]


Limit = Horizon | LeadTime | Longest | Shortest | Extension | CoolDown | Stacking | OnlyFor
COUNTING: Final = (Kind.COOL_DOWN, Kind.STACKING)
"""The kinds that depend on other leases of the project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The reservations and resources that a rule is about; an empty set stands for all."""

    resource_types: frozenset[str] = frozenset()
    resources: Requirement = field(default_factory=Requirement)
    """The requirement that a resource satisfies if the rule is about it."""
    projects: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    """A caller has at least one of these."""
    exempt_projects: frozenset[str] = frozenset()

    def covers(self, resource_type: str, project_id: str | None, roles: Collection[str]) -> bool:
        """Return whether the rule is about reservations of a type for a project, on resources that match.

        Args:
            resource_type: The type of a reservation.
            project_id: The project of the lease.
            roles: The roles of the caller.
        """
        return (
            (not self.resource_types or resource_type in self.resource_types)
            and (not self.projects or project_id in self.projects)
            and (not self.roles or not self.roles.isdisjoint(roles))
            and project_id not in self.exempt_projects
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of the file."""

    name: str
    kind: Kind
    scope: Scope
    limit: Limit | None
    """The limit of its kind; None for no limit."""
    is_enforced: bool = True
    """False if managers only log what the rule would refuse."""


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules, in the order of the file.

    For each reservation, resource and kind, the first rule that covers them decides, and later ones do not
    matter. A rule that is not enforced decides nothing.
    """

    all: tuple[Rule, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there are any rules."""
        return bool(self.all)

    @property
    def longest_cool_down(self) -> timedelta | None:
        """Return how long uses matter after their end; None if there is no rule for which they do."""
        gaps = [each.limit.gap for each in self.all if isinstance(each.limit, CoolDown)]
        return max(gaps, default=None)
