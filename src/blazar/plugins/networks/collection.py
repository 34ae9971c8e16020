"""The collection of network segments, as the core gets it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from blazar.booking.context import OwnCollection, PeriodicTask
from blazar.plugins.networks.check import check_networks
from blazar.plugins.networks.segments import NETWORKS
from blazar.plugins.networks.settings import NetworkSettings
from blazar.settings import Settings

CHECK_NETWORKS: Final = "task-check-networks"


def _periodic_tasks(settings: Settings) -> Mapping[str, PeriodicTask]:
    interval = settings.of(NetworkSettings).check_interval
    return {
        CHECK_NETWORKS: PeriodicTask(
            run=lambda context, actor, check_claim: check_networks(context, actor, check_claim=check_claim),
            interval=interval,
            is_enabled=bool(interval),
        ),
    }


COLLECTION: Final = OwnCollection(name=NETWORKS.name, periodic_tasks=_periodic_tasks)
