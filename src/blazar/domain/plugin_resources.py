"""Resources that a plugin discovers or that operators register for it, stored alike for all plugins."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from blazar.domain.availability import Resource
from blazar.domain.health import HEALTHY, Diagnosis
from blazar.domain.lease import ResourceId
from blazar.domain.providers import HostProvider, Inventory
from blazar.domain.requirements import Fact

_NAMESPACE = uuid.UUID("8d8a5c5e-5c35-4f0c-8f0e-0f6f1d0b7d3a")
"""Must never change: the ids of all resources of plugins are derived from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceProperty:
    """The name of an extra capability; a private one is hidden from listings."""

    id: str
    resource_type: str
    """The type of hosts; for resources of plugins, their collection."""
    name: str
    is_private: bool = False
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginResource:
    """A resource, discovered or registered, as its plugin describes it."""

    collection: str
    """The plugin's collection."""
    name: str
    """The name known to the cloud and to operators; at most 255 characters, unique in its collection."""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """Facts that requirements are compared with, and that the plugin needs to work on the resource."""
    properties: frozenset[str] = frozenset()
    """The names of the facts that are extra capabilities: operators set them, lessees see public ones."""
    amounts: Mapping[str, int] = field(default_factory=dict)
    """The amounts that can be reserved in shares, by resource class; empty if it is only reserved whole."""
    diagnosis: Diagnosis = HEALTHY
    generation: int = field(default=0, compare=False)
    """Set by the store."""

    @property
    def id(self) -> ResourceId:
        """Return the id, derived from collection and name, so that every discovery gives the same id."""
        return ResourceId(str(uuid.uuid5(_NAMESPACE, f"{self.collection}\n{self.name}")))

    def as_resource(self) -> Resource:
        """Return the resource as a search sees it; resources with smaller amounts come first."""
        inventories = {key: Inventory(total=amount) for key, amount in self.amounts.items()}
        provider = HostProvider(uuid=self.id, name=self.name, inventories=inventories)
        return Resource(
            id=self.id,
            generation=self.generation,
            is_reservable=self.diagnosis.is_reservable,
            facts=self.facts,
            properties={key: value for key, value in self.facts.items() if key in self.properties},
            size=tuple(self.amounts[key] for key in sorted(self.amounts)),
            providers=(provider,) if inventories else (),
        )
