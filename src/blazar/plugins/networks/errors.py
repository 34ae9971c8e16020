"""Errors about network segments. The table of HTTP statuses in ``blazar.api.faults`` lists their bases."""

from __future__ import annotations

from blazar.domain.errors import Conflict, NotEnoughResources


class NotEnoughNetworks(NotEnoughResources):
    """Fewer segments than requested fit and are free throughout the window."""

    code = "not-enough-networks"


class NetworkSegmentInUse(Conflict):
    """A network of Neutron is on the segment, or Neutron may choose the segment for a project."""

    code = "network-segment-in-use"
