"""Port: resources that plugins discover or that operators register for them, in the database."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from blazar.domain.lease import ResourceId
from blazar.domain.plugin_resources import PluginResource


class PluginResources(Protocol):
    """The resources of plugins whose collections have no tables of their own."""

    def list(self, collection: str | None = None) -> tuple[PluginResource, ...]:
        """Return the resources of a collection, or of all collections, by name."""

    def get_many(self, resource_ids: Collection[ResourceId]) -> tuple[PluginResource, ...]:
        """Return these resources; those that are gone are omitted."""

    def put(self, resource: PluginResource, at: datetime) -> None:
        """Add a resource with its diagnosis; if it exists, replace only its facts and amounts.

        Raises:
            ValueError: Operators register the resources of its collection.
        """

    def insert(self, resource: PluginResource, at: datetime) -> None:
        """Add a resource with its diagnosis.

        Raises:
            ConcurrentUpdate: It exists already.
        """

    def delete(self, resource_id: ResourceId, at: datetime) -> None:
        """Delete a resource that has no allocations; does nothing if the resource is gone."""
