"""Settings of reservations of network segments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Self

from blazar.settings import OwnSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkSettings(OwnSettings):
    """Rules for ``network``."""

    check_interval: timedelta = timedelta(minutes=10)
    """Time between two checks of registered segments against Neutron; zero for never."""

    def embedded(self, speed: float) -> Self:
        """Return the settings of the embedded service."""
        return replace(self, check_interval=self.check_interval * speed)
