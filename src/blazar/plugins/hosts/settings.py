"""Settings of hosts and their monitor: frozen values with units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Self

from blazar.settings import OwnSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings(OwnSettings):
    """Rules for ``physical:host``."""

    availability_zone_prefix: str = "blazar_"
    before_end: str = ""
    """Site default of ``before_end``: empty or ``snapshot``."""
    freepool_name: str = "freepool"
    owner_key: str = "blazar:owner"
    image_prefix: str = "reserved_"
    az_aware: bool = True
    preemption_notice: timedelta = timedelta(0)
    """Notice that preemptible servers get before they are deleted; zero for none."""
    refresh_interval: timedelta = timedelta(minutes=60)
    """Time between two refreshes of hosts from Nova and Placement; zero for never."""
    aggregate_properties: Mapping[str, str] = field(default_factory=dict)
    """Extra capabilities whose values are names of host aggregates: patterns of these names, by property."""

    def embedded(self, speed: float) -> Self:
        """Return the settings of the embedded service."""
        return replace(self, refresh_interval=self.refresh_interval * speed)


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorSettings(OwnSettings):
    """Detection of hosts that fail and recover."""

    is_polling: bool = False
    """Whether Nova is polled."""
    is_listening: bool = False
    """Whether Nova is polled after it sends a notification about a compute service."""
    polling_interval: timedelta = timedelta(seconds=60)
    """Time between two polls of Nova. A host that Nova omits for this long has failed."""

    @property
    def is_enabled(self) -> bool:
        """Return whether hosts are monitored; otherwise they are treated as healthy."""
        return self.is_polling or self.is_listening

    def embedded(self, speed: float) -> Self:
        """Return the settings of the embedded service."""
        return replace(self, is_listening=False, polling_interval=self.polling_interval * speed)
