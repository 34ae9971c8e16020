"""Settings of storage reservations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Self

from blazar.settings import OwnSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeSettings(OwnSettings):
    """Rules for ``virtual:volume``."""

    check_interval: timedelta = timedelta(minutes=10)
    """Time between two checks of registered storage pools against Cinder; zero for never."""
    retain_volume_type: str = ""
    """The ordinary volume type to which volumes are moved by ``end_action`` retain; empty if lessees cannot
    ask for it."""

    retain_wait_hours: int = 168
    """How long after the end volumes that cannot be moved are kept; zero for ever."""

    freeze_grace_hours: int = 0
    """How long volumes are kept after the end by ``end_action`` freeze; zero if lessees cannot ask for it."""

    acts_in_projects: bool = False
    """Whether the service's account has a role in the projects of lessees, so that it can create volumes."""

    before_end_snapshot: str = ""
    """The copy that ``before_end`` snapshot makes of volumes: ``backup`` or ``snapshot``; empty if lessees
    cannot ask for it."""

    discovers_pools: bool = False
    """Whether the check registers pools that Cinder reports."""
    discovered_names: str = "*"
    """The pattern for their names, as for file names."""

    def embedded(self, speed: float) -> Self:
        """Return the settings of the embedded service."""
        return replace(self, check_interval=self.check_interval * speed)
