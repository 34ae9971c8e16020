"""The need of a reservation as a value, so that a search can vary it without knowing the resource type."""

from __future__ import annotations

from dataclasses import dataclass, field

from blazar.domain.capacity import Demand
from blazar.domain.requirements import Requirement


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A number of units: whole resources, or slots of one demand on resources."""

    least: int
    """The number of units without which the reservation is refused."""
    most: int
    """The number of units that it takes if they are available."""
    requirement: Requirement = field(default_factory=Requirement)
    """What every resource must satisfy."""
    demand: Demand | None = None
    """What each slot needs; None if the units are whole resources."""
    is_together: bool = False
    """Whether all units must be on one resource."""
    is_apart: bool = False
    """Whether every unit must be on a resource of its own; always so for whole resources."""
