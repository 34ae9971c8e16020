"""Port: Placement. Any call may raise ``CloudUnavailable`` or ``CloudRefused``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from blazar.domain.providers import Inventory


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A resource provider; ``root_uuid`` equals ``uuid`` for the root of a tree."""

    uuid: str
    name: str
    generation: int
    parent_uuid: str | None
    root_uuid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventories:
    """The inventories of a provider, read at a generation."""

    generation: int
    by_class: Mapping[str, Inventory]


class Placement(Protocol):
    """Everything of Placement that the service uses."""

    def find_provider(self, name: str) -> Provider | None:
        """Return the provider with exactly this name, or None."""

    def list_tree(self, root_uuid: str) -> tuple[Provider, ...]:
        """Return all providers of this tree, root first."""

    def create_provider(self, name: str, parent_uuid: str | None) -> Provider:
        """Return a new provider.

        Raises:
            CloudConflict: A provider with this name exists.
            CloudRefused: The parent does not exist.
        """

    def delete_provider(self, uuid: str) -> None:
        """Delete a provider.

        Raises:
            CloudNotFound: It does not exist.
            CloudConflict: It has children, or there are allocations from it.
        """

    def get_inventories(self, uuid: str) -> Inventories:
        """Return a provider's inventories with its generation. Raises CloudNotFound."""

    def get_usages(self, uuid: str) -> Mapping[str, int]:
        """Return the amount allocated from a provider, by resource class. Raises CloudNotFound."""

    def put_inventories(self, uuid: str, inventories: Inventories) -> None:
        """Replace all inventories of a provider if it is still at that generation.

        Raises:
            CloudNotFound: The provider does not exist.
            CloudConflict: Its generation has changed, or a removed class is in use.
            CloudRefused: A resource class does not exist.
        """

    def delete_inventory(self, uuid: str, resource_class: str) -> None:
        """Delete one inventory of a provider, regardless of its generation.

        Raises:
            CloudNotFound: The provider does not exist, or has no inventory of the class.
            CloudConflict: There are allocations from the inventory, or another client changed the
                provider at the same instant.
        """

    def list_traits(self, uuid: str) -> frozenset[str]:
        """Return the traits of a provider. Raises CloudNotFound."""

    def create_resource_class(self, name: str) -> None:
        """Create a ``CUSTOM_…`` resource class. Raises CloudConflict if it exists."""

    def has_resource_class(self, name: str) -> bool:
        """Return whether this resource class exists."""

    def list_resource_classes(self) -> frozenset[str]:
        """Return the names of all resource classes, including standard ones."""

    def delete_resource_class(self, name: str) -> None:
        """Delete a resource class. Raises CloudNotFound, or CloudConflict while an inventory uses it."""
