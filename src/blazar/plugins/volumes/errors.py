"""Errors about storage pools. The table of HTTP statuses in ``blazar.api.faults`` lists their bases."""

from __future__ import annotations

from blazar.domain.errors import Conflict, NotEnoughResources


class NotEnoughStorage(NotEnoughResources):
    """Fewer GiB than requested are free in suitable pools throughout the window."""

    code = "not-enough-storage"


class StoragePoolInUse(Conflict):
    """Volumes of others take capacity that is to be reservable."""

    code = "storage-pool-in-use"
