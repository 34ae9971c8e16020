"""Port: resources that plugins discover or that operators register for them, in the database."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from blazar.domain.lease import ResourceId
from blazar.domain.plugin_resources import PluginResource, ResourceProperty


class PluginResources(Protocol):
    """The resources of plugins whose collections have no tables of their own."""

    def list(self, collection: str | None = None) -> tuple[PluginResource, ...]:
        """Return the resources of a collection, or of all collections, by name."""

    def get_many(self, resource_ids: Collection[ResourceId]) -> tuple[PluginResource, ...]:
        """Return these resources; those that are gone are omitted."""

    def put(self, resource: PluginResource, at: datetime) -> None:
        """Add a resource with its diagnosis; if it exists, replace only its facts and amounts.

        Properties that its collection did not have before are public.

        Raises:
            ValueError: Operators register the resources of its collection.
        """

    def insert(self, resource: PluginResource, at: datetime) -> None:
        """Add a resource with its diagnosis.

        Raises:
            ConcurrentUpdate: It exists already.
        """

    def insert_many(self, new: Sequence[PluginResource], at: datetime) -> None:
        """Add resources of one collection, in a few statements. Raises ConcurrentUpdate if one exists."""

    def delete(self, resource_id: ResourceId, at: datetime) -> None:
        """Delete a resource that has no allocations; does nothing if the resource is gone."""

    def list_properties(self, collection: str) -> tuple[ResourceProperty, ...]:
        """Return the properties that resources of a collection have or had, by name."""

    def set_property_private(self, collection: str, name: str, is_private: bool, at: datetime) -> None:
        """Make a property private or public; does nothing if the collection never had it."""

    def private_names(self) -> frozenset[str]:
        """Return the names of the private properties of all collections."""
