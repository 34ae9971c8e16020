"""Whether a resource can be relied on, as far as is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from blazar.domain.requirements import Fact


class Health(StrEnum):
    """What may be done with a resource."""

    SOUND = "sound"
    DISABLED = "disabled"
    """Nobody new is promised it; who has been promised it keeps it."""
    FAILED = "failed"
    """It serves nobody; who has been promised it needs another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """A resource's health, and, unless it is sound, the reason."""

    health: Health
    problem: str = ""

    def __str__(self) -> str:
        """Return both, for people."""
        return f"{self.health}: {self.problem}" if self.problem else str(self.health)

    @property
    def is_reservable(self) -> bool:
        """Return whether somebody new may be promised the resource."""
        return self.health is Health.SOUND

    @property
    def has_failed(self) -> bool:
        """Return whether those who hold the resource need another."""
        return self.health is Health.FAILED


SOUND = Diagnosis(health=Health.SOUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceState:
    """What whoever works on a resource has to know of it.

    ``facts`` are those by which it is known outside: of a host ``hypervisor_hostname`` and ``service_name``,
    of a floating IP ``address``, ``network_id`` and ``subnet_id``, of others what their plugin says.
    """

    facts: Mapping[str, Fact] = field(default_factory=dict)
    diagnosis: Diagnosis = SOUND
