"""Cinder volume driver for the lab: pools of finite size, whose volumes are sparse files.

cinder-volume and cinder-backup import it, in the environment in which OpenStack is installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from cinder import interface
from cinder.volume import configuration, driver, volume_utils
from oslo_config import cfg
from oslo_utils import units

OPTIONS: Final = [
    cfg.StrOpt("pools_folder", help="The folder that has a folder for each pool."),
    cfg.DictOpt("pools", help="The pools of the back end, and the capacity of each in GiB."),
]
cfg.CONF.register_opts(OPTIONS, group=configuration.SHARED_CONF_GROUP)


@interface.volumedriver
class PoolsDriver(driver.VolumeDriver):  # type: ignore[misc]
    """A back end with one or more pools on this machine."""

    VERSION: ClassVar = "1.0"
    CI_WIKI_NAME: ClassVar = "None"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.configuration.append_config_values(OPTIONS)

    @staticmethod
    def get_driver_options() -> list[cfg.Opt]:
        """Return the options of a back end."""
        return OPTIONS

    def do_setup(self, context: object) -> None:
        """Create the folders of the pools."""
        for pool in self._sizes:
            self._folder(pool).mkdir(parents=True, exist_ok=True)

    def check_for_setup_error(self) -> None:
        """Accept any configuration with a pool."""
        if not self._sizes:
            raise ValueError("pools: name at least one")

    def get_pool(self, volume: Any) -> str:
        """Return the pool of a volume."""
        return str(volume_utils.extract_host(volume.host, level="pool"))

    def _update_volume_stats(self) -> None:
        self._stats = {
            "volume_backend_name": self.configuration.safe_get("volume_backend_name"),
            "vendor_name": "cloudlab",
            "driver_version": self.VERSION,
            "storage_protocol": "local",
            "pools": [self._report(pool, size) for pool, size in self._sizes.items()],
        }

    def _report(self, pool: str, size: int) -> dict[str, object]:
        used = sum(file.stat().st_size for file in self._folder(pool).iterdir())
        return {
            "pool_name": pool,
            "total_capacity_gb": size,
            "free_capacity_gb": max(size - used / units.Gi, 0),
            # Otherwise, the scheduler uses Cinder's count, which still has volumes that have left the pool.
            "provisioned_capacity_gb": used / units.Gi,
            "reserved_percentage": 0,
            "thin_provisioning_support": False,
            "thick_provisioning_support": True,
            "sparse_copy_volume": True,
            "online_extend_support": True,
            "multiattach": True,
            "QoS_support": False,
        }

    def create_volume(self, volume: Any) -> None:
        """Create an empty volume."""
        self._resize(self._path(volume), volume.size)

    def delete_volume(self, volume: Any) -> None:
        """Delete a volume, if it exists."""
        self._path(volume).unlink(missing_ok=True)

    def extend_volume(self, volume: Any, new_size: int) -> None:
        """Extend a volume."""
        self._resize(self._path(volume), new_size)

    def create_snapshot(self, snapshot: Any) -> None:
        """Copy a volume."""
        self._copy(self._path(snapshot.volume), self._snapshot_path(snapshot))

    def delete_snapshot(self, snapshot: Any) -> None:
        """Delete a snapshot, if it exists."""
        self._snapshot_path(snapshot).unlink(missing_ok=True)

    def create_volume_from_snapshot(self, volume: Any, snapshot: Any) -> None:
        """Create a volume with the contents of a snapshot."""
        self._copy(self._snapshot_path(snapshot), self._path(volume))
        self._resize(self._path(volume), volume.size)

    def create_cloned_volume(self, volume: Any, src_vref: Any) -> None:
        """Create a volume with the contents of another."""
        self._copy(self._path(src_vref), self._path(volume))
        self._resize(self._path(volume), volume.size)

    def clone_image(
        self,
        context: object,
        volume: Any,
        image_location: object,
        image_meta: Mapping[str, Any],
        image_service: Any,
    ) -> tuple[dict[str, object], bool]:
        """Create a volume with the contents of a raw image; no other images are supported.

        Without this, Cinder would need qemu-img.
        """
        with self._path(volume).open("wb") as file:
            image_service.download(context, image_meta["id"], file)
        self._resize(self._path(volume), volume.size)
        return {}, True

    def retype(self, context: object, volume: Any, new_type: object, diff: object, host: object) -> bool:
        """Let Cinder copy a volume whose new type is another pool's."""
        return False

    def initialize_connection(self, volume: Any, connector: object, **kwargs: Any) -> dict[str, object]:
        """Return the path of a volume."""
        path = self._path(volume)
        return {"driver_volume_type": "local", "data": {"device_path": str(path), "access_mode": "rw"}}

    def terminate_connection(self, volume: Any, connector: object, **kwargs: Any) -> None:
        """Do nothing: a file needs no connection."""

    def ensure_export(self, context: object, volume: Any) -> None:
        """Do nothing: a file is not exported."""

    def create_export(self, context: object, volume: Any, connector: object) -> None:
        """Do nothing: a file is not exported."""

    def remove_export(self, context: object, volume: Any) -> None:
        """Do nothing: a file is not exported."""

    @property
    def _sizes(self) -> dict[str, int]:
        pools: Iterable[tuple[str, str]] = (self.configuration.safe_get("pools") or {}).items()
        return {name: int(size) for name, size in pools}

    def _folder(self, pool: str) -> Path:
        return Path(self.configuration.safe_get("pools_folder")) / pool

    def _path(self, volume: Any) -> Path:
        return self._folder(self.get_pool(volume)) / str(volume.name)

    def _snapshot_path(self, snapshot: Any) -> Path:
        return self._folder(self.get_pool(snapshot.volume)) / str(snapshot.name)

    def _copy(self, source: Path, target: Path) -> None:
        self._execute("cp", "--sparse=always", "--no-target-directory", str(source), str(target))

    @staticmethod
    def _resize(path: Path, size: int) -> None:
        with path.open("ab") as file:
            file.truncate(size * units.Gi)
