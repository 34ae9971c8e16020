"""Registered hosts, and the facts that requirements can refer to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from blazar.domain.availability import Resource
from blazar.domain.health import HEALTHY, Diagnosis
from blazar.domain.lease import ResourceId
from blazar.domain.providers import HostProvider
from blazar.domain.requirements import Fact

MAX_CAPABILITY_KEY_LENGTH = 64

HOST_TEXT_FACTS = frozenset(
    {"hypervisor_hostname", "service_name", "hypervisor_type", "availability_zone", "cpu_info"}
)
"""Built-in properties whose texts are compared without regard to case, as clients expect."""

HOST_DETAILS = frozenset(
    {
        "availability_zone",
        "hypervisor_hostname",
        "service_name",
        "vcpus",
        "cpu_info",
        "hypervisor_type",
        "hypervisor_version",
        "memory_mb",
        "local_gb",
    }
)
"""Keys of a registration request that are ignored because Nova supplies their values."""


HOST_FACTS = HOST_DETAILS | {"id", "reservable", "status", "created_at", "updated_at"}
"""Built-in properties; requirements may name them even if no host is registered."""

PUBLIC_HOST_FACTS = frozenset(
    {"availability_zone", "hypervisor_type", "hypervisor_version", "vcpus", "memory_mb", "local_gb"}
)
"""Built-in properties that describe a kind of host and name no single one; every lessee may read them."""

_FROM_NOVA = "is read from Nova; change it there, then run blazar-manage host refresh"
_FROM_HEALTH = (
    "says whether new leases can use the host and follows from its compute service; run openstack compute"
    " service set --disable to take it out of use for a period, or remove the host (blazar host-delete)"
)
_FROM_SERVICE = "is set by the service"

HOST_FIELDS: Mapping[str, str] = {
    **dict.fromkeys(HOST_DETAILS, _FROM_NOVA),
    **dict.fromkeys(("reservable", "status"), _FROM_HEALTH),
    **dict.fromkeys(("id", "trust_id", "created_at", "updated_at"), _FROM_SERVICE),
}
"""Keys of a host that no request can set, with the reason; they cannot name extra capabilities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A host that can be reserved. Sizes are totals, before overcommit."""

    id: ResourceId
    hypervisor_hostname: str
    service_name: str
    hypervisor_type: str
    hypervisor_version: int
    vcpus: int
    memory_mb: int
    local_gb: int
    cpu_info: str
    availability_zone: str = ""
    diagnosis: Diagnosis = HEALTHY
    generation: int = 0
    capabilities: Mapping[str, str] = field(default_factory=dict)
    providers: tuple[HostProvider, ...] = ()
    """The whole tree, root first, without the provider that the service creates for reservations."""
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def as_resource(self) -> Resource:
        """Return the host as a search sees it. Built-in properties override capabilities of the same name."""
        return Resource(
            id=self.id,
            generation=self.generation,
            is_reservable=self.diagnosis.is_reservable,
            facts={**self.capabilities, **self._built_in_facts()},
            size=(self.vcpus, self.memory_mb, self.local_gb),
            properties=self.capabilities,
            providers=self.providers,
        )

    def _built_in_facts(self) -> Mapping[str, Fact]:
        # trust_id is left out: if requirements could name it, a lessee could guess it.
        return {
            "id": self.id,
            "hypervisor_hostname": self.hypervisor_hostname,
            "service_name": self.service_name,
            "hypervisor_type": self.hypervisor_type,
            "hypervisor_version": self.hypervisor_version,
            "vcpus": self.vcpus,
            "memory_mb": self.memory_mb,
            "local_gb": self.local_gb,
            "cpu_info": self.cpu_info,
            "availability_zone": self.availability_zone,
            "reservable": self.diagnosis.is_reservable,
            "status": None,
            "created_at": _seconds(self.created_at),
            "updated_at": _seconds(self.updated_at),
        }


def _seconds(instant: datetime | None) -> str | None:
    return instant.strftime("%Y-%m-%d %H:%M:%S") if instant else None
