"""What is wanted from the database for resources that plugins find by themselves."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from blazar.domain.lease import ResourceId
from blazar.domain.stock import StockedResource


class StockStore(Protocol):
    """What plugins had in stock when they were asked last."""

    def list(self, collection: str | None = None) -> tuple[StockedResource, ...]:
        """Return the stock of a collection, or all, by name."""

    def get_many(self, resource_ids: Collection[ResourceId]) -> tuple[StockedResource, ...]:
        """Return these resources; those that are gone are missing."""

    def put(self, resource: StockedResource, at: datetime) -> None:
        """Add a resource with its diagnosis; of one that is there, replace facts and amounts only.

        Raises:
            ValueError: Its collection is one that operators register resources in.
        """

    def delete(self, resource_id: ResourceId, at: datetime) -> None:
        """Delete a resource on which there is no allocation; one that is gone is fine."""
