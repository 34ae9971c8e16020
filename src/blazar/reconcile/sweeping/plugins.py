"""What reservations leave behind, as their plugins find it by themselves."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from blazar.booking.context import Plugin
from blazar.domain.errors import CloudError
from blazar.plugins.slots.names import is_reservation_id
from blazar.reconcile.sweeping.kinds import Surroundings

if TYPE_CHECKING:
    from blazar.reconcile.sweeping.kinds import Kind

_logger = logging.getLogger(__name__)


class PluginLeftovers:
    """What one plugin finds. Where it cannot look, the rest of the sweep goes on."""

    def __init__(self, surroundings: Surroundings, plugin: Plugin) -> None:
        self._cloud = surroundings.context.cloud
        self._plugin = plugin

    @property
    def name(self) -> str:
        """Return the resource type."""
        return self._plugin.resource_type

    def candidates(self) -> Mapping[str, str | None]:
        """Return what bears the id of a reservation."""
        try:
            found = self._plugin.find_leftovers(self._cloud)
        except CloudError as error:
            _logger.warning("leftovers are not looked for: resource_type=%s reason=%s", self.name, error)
            return {}
        except Exception:
            # A faulty plugin must not stop the sweep.
            _logger.exception("leftovers are not looked for: resource_type=%s", self.name)
            return {}
        return {name: owner for name, owner in found.items() if is_reservation_id(owner)}

    def remove(self, name: str) -> bool:
        """Have the plugin do away with something."""
        self._plugin.remove_leftover(self._cloud, name)
        return True


if TYPE_CHECKING:

    def _witness(kind: PluginLeftovers) -> Kind:
        return kind
