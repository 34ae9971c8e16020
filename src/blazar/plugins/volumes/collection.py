"""The collection of storage pools, as the core gets it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from blazar.booking.context import OwnCollection, PeriodicTask
from blazar.plugins.volumes.check import check_pools
from blazar.plugins.volumes.pools import STORAGE_POOLS
from blazar.plugins.volumes.settings import VolumeSettings
from blazar.settings import Settings

CHECK_POOLS: Final = "task-check-storage-pools"


def _periodic_tasks(settings: Settings) -> Mapping[str, PeriodicTask]:
    interval = settings.of(VolumeSettings).check_interval
    return {
        CHECK_POOLS: PeriodicTask(
            run=lambda context, actor, check_claim: check_pools(context, actor, check_claim=check_claim),
            interval=interval,
            is_enabled=bool(interval),
        ),
    }


COLLECTION: Final = OwnCollection(name=STORAGE_POOLS.name, periodic_tasks=_periodic_tasks)
