"""The requirement that units of a reservation have one value of a fact, or are spread over its values.

If a rack fails, so do its hosts, and the hosts of one rack are near each other: a lessee may want either all
units in one rack, or as few as possible in each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from blazar.domain.requirements import Exists, Requirement


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Distribution of a reservation's units over the values of facts; at least one of them is set."""

    same: str | None = None
    """The fact whose value is the same for all units."""
    spread: str | None = None
    """The fact over whose values the units are spread: with *n* units and *v* values among the resources that
    satisfy the requirement, at most *n / v* of them, rounded up, have the same value."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the names of the facts."""
        return tuple(each for each in (self.same, self.spread) if each is not None)

    @property
    def requirement(self) -> Requirement:
        """Return the requirement that a resource has the facts."""
        return Requirement(tuple(Exists(each) for each in self.keys))

    @property
    def within_value(self) -> Grouping | None:
        """Return the grouping that remains among the resources with one value of ``same``."""
        return None if self.spread is None else replace(self, same=None)
