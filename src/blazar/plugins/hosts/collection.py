"""The collection of hosts, as the core gets it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from blazar.booking.context import OwnCollection, PeriodicTask
from blazar.plugins.hosts.host import HOST_TEXT_FACTS
from blazar.plugins.hosts.monitor import HOST_CHECK, check_hosts, trust_hosts
from blazar.plugins.hosts.refresh import refresh_hosts
from blazar.plugins.hosts.settings import HostSettings, MonitorSettings
from blazar.plugins.hosts.store import HOST_STORE
from blazar.plugins.hosts.views import describe_hosts
from blazar.settings import Settings

REFRESH: Final = "refresh"


def _periodic_tasks(settings: Settings) -> Mapping[str, PeriodicTask]:
    refresh_interval, monitor = settings.of(HostSettings).refresh_interval, settings.of(MonitorSettings)
    return {
        REFRESH: PeriodicTask(
            run=lambda context, actor, check_claim: refresh_hosts(context, actor, check_claim=check_claim),
            interval=refresh_interval,
            is_enabled=bool(refresh_interval),
        ),
        HOST_CHECK: PeriodicTask(
            run=check_hosts if monitor.is_enabled else trust_hosts,
            interval=monitor.polling_interval if monitor.is_polling else timedelta(0),
        ),
    }


COLLECTION: Final = OwnCollection(
    name=HOST_STORE.collection,
    text_facts=HOST_TEXT_FACTS,
    describe=describe_hosts,
    periodic_tasks=_periodic_tasks,
)
