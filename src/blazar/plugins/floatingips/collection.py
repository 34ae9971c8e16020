"""The collection of floating IPs, as the core gets it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from blazar.booking.context import OwnCollection, PeriodicTask
from blazar.plugins.floatingips.check import check_floatingips
from blazar.plugins.floatingips.settings import FloatingIPSettings
from blazar.plugins.floatingips.store import FLOATING_IP_STORE
from blazar.plugins.floatingips.views import describe_floatingips
from blazar.settings import Settings

CHECK_FLOATINGIPS: Final = "check-floatingips"


def _periodic_tasks(settings: Settings) -> Mapping[str, PeriodicTask]:
    interval = settings.of(FloatingIPSettings).check_interval
    return {
        CHECK_FLOATINGIPS: PeriodicTask(
            run=lambda context, actor, check_claim: check_floatingips(
                context, actor, check_claim=check_claim
            ),
            interval=interval,
            is_enabled=bool(interval),
        ),
    }


COLLECTION: Final = OwnCollection(
    name=FLOATING_IP_STORE.collection, describe=describe_floatingips, periodic_tasks=_periodic_tasks
)
