"""A service with ``network`` and a physical network, and helpers for tests of network segments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from app.http_env import PLUGINS, HttpEnv, Json, good

from blazar.ports.segments import Segment, SegmentNetwork

PHYSICAL = "physnet1"
CIDR = "10.20.0.0/24"


def vlan(number: int) -> Segment:
    return Segment(network_type="vlan", physical_network=PHYSICAL, segment_id=number)


def asked(**keys: Any) -> Json:
    return {"resource_type": "network", "network_name": "lab", **keys}


@dataclass(frozen=True, slots=True)
class Vlans:
    """A physical network whose VLANs 100 to 110 Neutron gives to projects; no segment is registered."""

    env: HttpEnv

    def post(self, **body: Any) -> Any:
        """Return the answer to a registration of VLANs."""
        keys = {"network_type": "vlan", "physical_network": PHYSICAL, **body}
        return self.env.post("/networks", {key: value for key, value in keys.items() if value is not ...})

    def register(self, *numbers: int, **keys: Any) -> list[Json]:
        return [good(self.post(segment_id=each, **keys), 201)["network"] for each in numbers]

    def create(self, start: float | str = "now", end: float = 60, **keys: Any) -> Json:
        lease = self.env.create(start, end, asked=asked(**keys))
        self.env.work()
        return lease

    def networks(self, project_id: str | None = "project") -> list[SegmentNetwork]:
        return list(self.env.cloud.segments.list_networks(project_id=project_id))

    def network(self) -> SegmentNetwork:
        (found,) = self.networks()
        return found

    def occupy(self, number: int, project_id: str = "elsewhere") -> SegmentNetwork:
        """Create a network on a VLAN, as an operator does."""
        return self.env.cloud.segments.create_network(vlan(number), name="theirs", project_id=project_id)

    def reservable(self) -> dict[int, bool]:
        """Return whether each registered segment can be reserved."""
        found = good(self.env.get("/networks"))["networks"]
        return {each["segment_id"]: each["reservable"] for each in found}

    def end(self, lease: Json, minutes: float = 61) -> None:
        """Check that the lease ends, and that its project has no network left."""
        self.env.pass_time(minutes)
        assert self.env.status(lease) == "TERMINATED"
        assert self.networks() == []


def make_vlans(engine: sa.Engine, folder: Path) -> Vlans:
    """Return the VLANs of a new service."""
    env = HttpEnv(engine, folder, plugins=(*PLUGINS, "network.plugin"))
    env.cloud.add_physical_network(PHYSICAL)
    env.cloud.add_segment_range("vlan", PHYSICAL, 100, 110)
    return Vlans(env)
