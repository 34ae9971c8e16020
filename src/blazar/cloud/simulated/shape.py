"""The sizes and properties of a simulated host."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from blazar.domain.providers import Inventory
from blazar.ports.compute import Hypervisor


@dataclass(frozen=True, slots=True, kw_only=True)
class HostShape:
    """The sizes and properties of a host. Sizes are totals, before overcommit."""

    vcpus: int = 16
    memory_mb: int = 65_536
    local_gb: int = 1_000
    hypervisor_type: str = "QEMU"
    hypervisor_version: int = 8_002_000
    cpu_info: Mapping[str, object] = field(
        default_factory=lambda: {
            "arch": "x86_64",
            "vendor": "Intel",
            "topology": {"sockets": 2, "cores": 4, "threads": 2},
        }
    )
    allocation_ratios: Mapping[str, float] = field(default_factory=dict)
    """Overcommit by resource class; 1.0 if not set."""
    reserved: Mapping[str, int] = field(default_factory=dict)
    """Amounts that Nova reserves for the host itself, by resource class; zero if not set."""
    other_inventories: Mapping[str, Inventory] = field(default_factory=dict)
    """Inventories in addition to those of VCPU, MEMORY_MB and DISK_GB, or instead of them."""

    def inventories(self) -> dict[str, Inventory]:
        """Return the host's inventories by resource class."""
        totals = {"VCPU": self.vcpus, "MEMORY_MB": self.memory_mb, "DISK_GB": self.local_gb}
        sized = {
            name: Inventory(
                total=total,
                reserved=self.reserved.get(name, 0),
                max_unit=total,
                allocation_ratio=self.allocation_ratios.get(name, 1.0),
            )
            for name, total in totals.items()
            if total > 0
        }
        return sized | dict(self.other_inventories)

    def hypervisor(self, hypervisor_id: str, name: str, service_host: str) -> Hypervisor:
        """Return a hypervisor of this shape, up and enabled."""
        return Hypervisor(
            id=hypervisor_id,
            hypervisor_hostname=name,
            service_host=service_host,
            hypervisor_type=self.hypervisor_type,
            hypervisor_version=self.hypervisor_version,
            vcpus=self.vcpus,
            memory_mb=self.memory_mb,
            local_gb=self.local_gb,
            cpu_info=json.dumps(self.cpu_info),
        )


DEFAULT_SHAPE = HostShape()
