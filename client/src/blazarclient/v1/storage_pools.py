"""Storage pools and their resource properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from blazarclient import base
from blazarclient.base import Record, Records, many, one, path
from blazarclient.i18n import _
from blazarclient.v1 import properties

_COLLECTION = "storage-pools"


class StoragePoolClientManager(properties.PropertyClientManager):
    """Storage pools whose capacity can be reserved, and their resource properties.

    Each method raises NotFound if the service does not support API version 1.1, or reserves no storage.
    """

    collection = _COLLECTION
    headers: ClassVar[Mapping[str, str]] = base.API_1_1

    def create(self, name: str, **kwargs: Any) -> Record:
        """Register a pool and return it.

        Args:
            name: The name of the pool in Cinder, ``host@backend#pool``.
            kwargs: ``gibibytes``, the capacity that can be reserved, and extra capabilities.
        """
        return one(self._ask("POST", path(_COLLECTION), {"name": name} | kwargs), "storage_pool")

    def get(self, storage_pool_id: str) -> Record:
        """Return a pool."""
        return one(self._ask("GET", path(_COLLECTION, storage_pool_id)), "storage_pool")

    def update(self, storage_pool_id: str, values: Record) -> Record | str:
        """Change a pool and return it; if *values* is empty, return a message.

        Args:
            storage_pool_id: Id of the pool.
            values: ``gibibytes``, and extra capabilities; None removes a capability.
        """
        if not values:
            return _("Nothing to update.")
        return one(self._ask("PUT", path(_COLLECTION, storage_pool_id), values), "storage_pool")

    def delete(self, storage_pool_id: str) -> None:
        """Unregister a pool, so that it can no longer be reserved."""
        self._ask("DELETE", path(_COLLECTION, storage_pool_id))

    def list(self, sort_by: str | None = None) -> Records:
        """Return all pools, sorted by the key *sort_by* if given."""
        return many(self._ask("GET", path(_COLLECTION)), "storage_pools", sort_by)

    def _ask(self, method: str, url: str, body: Record | None = None) -> Any:
        content = {} if body is None else {"body": body}
        _response, found = self.request_manager.request(url, method, headers=base.API_1_1, **content)
        return found
