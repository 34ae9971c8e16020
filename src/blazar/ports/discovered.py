"""Port: resources that plugins discover, as stored in the database."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from blazar.domain.discovered import DiscoveredResource
from blazar.domain.lease import ResourceId


class DiscoveredResources(Protocol):
    """The resources that plugins reported at the last discovery."""

    def list(self, collection: str | None = None) -> tuple[DiscoveredResource, ...]:
        """Return the discovered resources of a collection, or of all collections, by name."""

    def get_many(self, resource_ids: Collection[ResourceId]) -> tuple[DiscoveredResource, ...]:
        """Return these resources; those that are gone are omitted."""

    def put(self, resource: DiscoveredResource, at: datetime) -> None:
        """Add a resource with its diagnosis; if it exists, replace only its facts and amounts.

        Raises:
            ValueError: Operators register the resources of its collection.
        """

    def insert(self, resource: DiscoveredResource, at: datetime) -> None:
        """Add a resource with its diagnosis.

        Raises:
            ConcurrentUpdate: It exists already.
        """

    def delete(self, resource_id: ResourceId, at: datetime) -> None:
        """Delete a resource that has no allocations; does nothing if the resource is gone."""
