"""Health of a resource, as far as it is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from blazar.domain.requirements import Fact


class Health(StrEnum):
    """The health of a resource, which decides how it can be used."""

    HEALTHY = "sound"
    """Stored and shown as ``sound``, the word that scripts of operators compare."""
    DISABLED = "disabled"
    """No new reservation gets the resource; reservations that hold it keep it."""
    FAILED = "failed"
    """The resource serves no reservation; reservations that hold it need a replacement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """A resource's health and, if it is not healthy, the reason."""

    health: Health
    problem: str = ""

    def __str__(self) -> str:
        """Return the health and the reason as text."""
        return f"{self.health}: {self.problem}" if self.problem else str(self.health)

    @property
    def is_reservable(self) -> bool:
        """Return whether new reservations may get the resource."""
        return self.health is Health.HEALTHY

    @property
    def has_failed(self) -> bool:
        """Return whether reservations that hold the resource need a replacement."""
        return self.health is Health.FAILED


HEALTHY = Diagnosis(health=Health.HEALTHY)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceState:
    """The state of a resource that is needed for work on it.

    ``facts`` identify the resource in the cloud: for a collection with a table of its own, the columns that
    :mod:`blazar.db.collections` lists; for others, the facts of their plugin.
    """

    facts: Mapping[str, Fact] = field(default_factory=dict)
    diagnosis: Diagnosis = HEALTHY
