"""Errors about storage nodes. The table of HTTP statuses in ``blazar.api.faults`` lists their bases."""

from __future__ import annotations

from blazar.domain.errors import NotEnoughResources


class NotEnoughStorageNodes(NotEnoughResources):
    """Fewer suitable pools than requested are free as a whole throughout the window."""

    code = "not-enough-storage-nodes"
