"""A service that moves volumes to an ordinary type at the end, and what keeps it from that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import sqlalchemy as sa
from app.http_env import LESSEE, NEWER, HttpEnv, Json, good, refusal
from app.storage import FAST, Storage, asked, make_storage

from blazar.plugins.volumes.settings import VolumeSettings
from blazar.ports.block_storage import Volume

SHARED = "block1@shared#any"


def storage_that_retains(engine: sa.Engine, folder: Path, retain_wait_hours: int = 168) -> Storage:
    """Return a service that moves volumes to the type ``standard``, which is in another pool."""
    storage = make_storage(
        engine, folder, VolumeSettings(retain_volume_type="standard", retain_wait_hours=retain_wait_hours)
    )
    storage.env.cloud.add_storage_pool(SHARED, None)
    storage.env.cloud.add_volume_type("standard", {"volume_backend_name": "shared"})
    storage.register(FAST)
    return storage


def find(env: HttpEnv, volume_id: str) -> Volume:
    found = env.cloud.find_volume(volume_id)
    assert found is not None
    return found


def reason(env: HttpEnv, lease: Json) -> str:
    return str(good(env.get(f"/leases/{lease['id']}", who=LESSEE, headers=NEWER))["lease"]["status_reason"])


def waits(env: HttpEnv, lease: Json) -> None:
    """Check that the lease does not end, is out of the lessee's reach, and keeps its capacity."""
    assert env.status(lease) == "TERMINATING"
    reservation_id = lease["reservations"][0]["id"]
    (made,) = (each for each in env.cloud.block_storage.list_types() if reservation_id in each.name)
    assert env.cloud.block_storage.list_type_access(made.id) == frozenset()
    wish = env.wish("now", 900, asked=asked())
    assert "ot enough" in refusal(env.post("/leases", wish, who=LESSEE, headers=NEWER), 409)


def snapshot(env: HttpEnv, volume_id: str) -> None:
    env.cloud.snapshot_volume(volume_id)


def fail(env: HttpEnv, volume_id: str) -> None:
    env.cloud.set_volume_status(volume_id, "error")


def exhaust(env: HttpEnv, volume_id: str) -> None:
    env.cloud.set_type_quota("project", "standard", 5)


def reserve(env: HttpEnv, volume_id: str) -> None:
    env.cloud.set_volume_status(volume_id, "attaching")


def settle(env: HttpEnv, volume_id: str) -> None:
    env.cloud.delete_snapshots(volume_id)
    env.cloud.set_volume_status(volume_id, "available")
    env.cloud.set_type_quota("project", "standard", 1000)


OBSTACLES: Mapping[str, Callable[[HttpEnv, str], None]] = {
    "has snapshots": snapshot,
    "has failed": fail,
    "refused": exhaust,
    "is reserved for a server": reserve,
}
