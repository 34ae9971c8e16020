"""Resources that a plugin finds by itself, unlike hosts and floating IPs, which operators register."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from blazar.domain.availability import Resource
from blazar.domain.health import SOUND, Diagnosis
from blazar.domain.lease import ResourceId
from blazar.domain.providers import HostInventory, HostProvider
from blazar.domain.requirements import Fact

_NAMESPACE = uuid.UUID("8d8a5c5e-5c35-4f0c-8f0e-0f6f1d0b7d3a")
"""Never changes: the ids of all stock follow from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockedResource:
    """A resource as its plugin describes it."""

    collection: str
    """The plugin's."""
    name: str
    """What it is known by outside, and to operators; at most 255 characters, one of its collection's."""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """What requirements are compared with, and what the plugin needs when it works on the resource."""
    amounts: Mapping[str, int] = field(default_factory=dict)
    """How much can be had of it in shares, by resource class; empty if it is only ever given out whole."""
    diagnosis: Diagnosis = SOUND
    generation: int = field(default=0, compare=False)
    """The store's."""

    @property
    def id(self) -> ResourceId:
        """Return its id, which follows from collection and name: whoever finds it finds the same."""
        return ResourceId(str(uuid.uuid5(_NAMESPACE, f"{self.collection}\n{self.name}")))

    def as_resource(self) -> Resource:
        """Return the resource as a search sees it; those of which there is less come first."""
        inventories = {key: HostInventory(total=amount) for key, amount in self.amounts.items()}
        provider = HostProvider(uuid=self.id, name=self.name, inventories=inventories)
        return Resource(
            id=self.id,
            generation=self.generation,
            is_reservable=self.diagnosis.is_reservable,
            facts=self.facts,
            size=tuple(self.amounts[key] for key in sorted(self.amounts)),
            providers=(provider,) if inventories else (),
        )
