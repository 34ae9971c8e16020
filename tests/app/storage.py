"""A service with both types of storage and two storage pools, and helpers for tests of storage."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from app.http_env import NEWER, PLUGINS, HttpEnv, Json, good, quiet_settings

from blazar.plugins.volumes.settings import VolumeSettings
from blazar.ports.block_storage import Volume, VolumeType
from blazar.ports.compute import Server

FAST, SLOW = "block1@fast#ssd", "block1@slow#disk"


@dataclass(frozen=True, slots=True)
class Storage:
    """Two pools of 100 GiB, of which none is registered."""

    env: HttpEnv

    def register(self, *names: str, **keys: Any) -> list[Json]:
        answers = [self.env.post("/storage-pools", {"name": each, **keys}, headers=NEWER) for each in names]
        return [good(each, 201)["storage_pool"] for each in answers]

    def create(self, start: float | str = "now", end: float = 60, **keys: Any) -> Json:
        lease = self.env.create(start, end, asked=asked(**keys))
        self.env.work()
        return lease

    def types(self) -> list[VolumeType]:
        """Return the private types."""
        return [each for each in self.env.cloud.block_storage.list_types() if not each.is_public]

    def type_name(self) -> str:
        (found,) = self.types()
        return found.name

    def room(self) -> list[int]:
        """Return the quotas of the private types in the lessee's project."""
        names = [each.name for each in self.types()]
        quotas = self.env.cloud.block_storage.get_quotas("project", names)
        return sorted(each.limit for each in quotas.values())

    def boot(self) -> tuple[Server, Volume]:
        """Return a server of the lessee, and the new volume of the private type from which it was booted."""
        cloud = self.env.cloud
        cloud.add_hypervisor("node")
        server = cloud.boot_server("s", "project", service_host="node")
        volume = cloud.create_volume("project", 10, self.type_name())
        cloud.attach_volume(volume.id, server.id, is_root=True)
        return server, volume

    def end(self, lease: Json, minutes: float = 61) -> None:
        """Check that the lease ends, and that nothing is left."""
        self.env.pass_time(minutes)
        assert self.env.status(lease) == "TERMINATED"
        assert self.types() == []


def asked(**keys: Any) -> Json:
    return {"resource_type": "virtual:volume", "gibibytes": 40, **keys}


def make_storage(engine: sa.Engine, folder: Path, own: VolumeSettings | None = None) -> Storage:
    """Return the pools of a new service with these settings."""
    settings = quiet_settings().with_own(own or VolumeSettings())
    plugins = (*PLUGINS, "virtual.volume.plugin", "physical.storage.plugin")
    env = HttpEnv(engine, folder, settings, plugins=plugins)
    env.cloud.add_storage_pool(FAST, 100, capabilities={"media": "ssd"})
    env.cloud.add_storage_pool(SLOW, 100, capabilities={"media": "disk"})
    return Storage(env)
