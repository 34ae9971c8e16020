"""The placement port for Placement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from blazar.cloud.openstack.rest import RestClient
from blazar.domain.errors import CloudConflict, CloudUnavailable
from blazar.domain.providers import Inventory
from blazar.ports.placement import Inventories, Provider

if TYPE_CHECKING:
    from blazar.ports.placement import Placement

_VERSION = "1.29"
"""As in the existing service. Providers are in trees, and a POST returns the new provider."""
_CREATE_ATTEMPTS = 10


class OpenStackPlacement:
    """Providers, their inventories and traits, and resource classes."""

    def __init__(self, placement: RestClient) -> None:
        self._placement = placement

    def find_provider(self, name: str) -> Provider | None:
        """Return the provider of exactly this name, or None."""
        return next((each for each in self._providers(name=name) if each.name == name), None)

    def list_tree(self, root_uuid: str) -> tuple[Provider, ...]:
        """Return all providers of this tree, the root first; empty if it does not exist."""
        tree = self._providers(in_tree=root_uuid)
        return tuple(sorted(tree, key=lambda each: each.parent_uuid is not None))

    def create_provider(self, name: str, parent_uuid: str | None) -> Provider:
        """Return a new provider. Raises CloudConflict and CloudRefused as in the port."""
        body = {"name": name} | ({"parent_provider_uuid": parent_uuid} if parent_uuid else {})
        return self._placement.post("resource_providers", body=body, version=_VERSION).read(_provider)

    def delete_provider(self, uuid: str) -> None:
        """Delete a provider. Raises CloudNotFound and CloudConflict as in the port."""
        self._placement.delete("resource_providers", uuid, version=_VERSION)

    def get_inventories(self, uuid: str) -> Inventories:
        """Return a provider's inventories with its generation. Raises CloudNotFound."""
        answer = self._placement.get("resource_providers", uuid, "inventories", version=_VERSION)
        return answer.read(_inventories)

    def get_usages(self, uuid: str) -> Mapping[str, int]:
        """Return the allocated amounts of a provider by resource class. Raises CloudNotFound."""
        answer = self._placement.get("resource_providers", uuid, "usages", version=_VERSION)
        return answer.read(lambda body: {name: int(used) for name, used in body["usages"].items()})

    def put_inventories(self, uuid: str, inventories: Inventories) -> None:
        """Replace all inventories of a provider. Raises as in the port."""
        body = {
            "resource_provider_generation": inventories.generation,
            "inventories": {name: asdict(each) for name, each in inventories.by_class.items()},
        }
        self._placement.put("resource_providers", uuid, "inventories", body=body, version=_VERSION)

    def delete_inventory(self, uuid: str, resource_class: str) -> None:
        """Delete one inventory of a provider. Raises CloudNotFound and CloudConflict as in the port."""
        self._placement.delete("resource_providers", uuid, "inventories", resource_class, version=_VERSION)

    def list_traits(self, uuid: str) -> frozenset[str]:
        """Return the traits of a provider. Raises CloudNotFound."""
        answer = self._placement.get("resource_providers", uuid, "traits", version=_VERSION)
        return answer.read(lambda body: frozenset(body["traits"]))

    def create_resource_class(self, name: str) -> None:
        """Create a class. Raises CloudConflict if it exists, CloudRefused if its name is not ``CUSTOM_…``.

        If several classes are created at once, Placement on MariaDB or MySQL refuses all but one with 409: it
        gives them the same number, and reports the database's error as a conflict of names. Therefore the
        call is repeated while the class does not exist.
        """
        for _ in range(_CREATE_ATTEMPTS):
            try:
                self._placement.post("resource_classes", body={"name": name}, version=_VERSION)
            except CloudConflict:
                if self.has_resource_class(name):
                    raise
            else:
                return
        raise CloudUnavailable(f"Placement: resource class {name} conflicts with others being created")

    def has_resource_class(self, name: str) -> bool:
        """Return whether a class with this name exists."""
        return self._placement.find("resource_classes", name, version=_VERSION) is not None

    def list_resource_classes(self) -> frozenset[str]:
        """Return the names of all classes, including standard ones."""
        key = "resource_classes"
        return frozenset(
            self._placement.list(key, key=key, parse=lambda each: each["name"], version=_VERSION)
        )

    def delete_resource_class(self, name: str) -> None:
        """Delete a custom class. Raises as in the port, and CloudRefused for a standard class."""
        self._placement.delete("resource_classes", name, version=_VERSION)

    def _providers(self, **params: str) -> tuple[Provider, ...]:
        key = "resource_providers"
        return self._placement.list(key, key=key, parse=_provider, params=params, version=_VERSION)


def _provider(body: Mapping[str, Any]) -> Provider:
    return Provider(
        uuid=body["uuid"],
        name=body["name"],
        generation=int(body["generation"]),
        parent_uuid=body["parent_provider_uuid"],
        root_uuid=body["root_provider_uuid"],
    )


def _inventories(body: Mapping[str, Any]) -> Inventories:
    return Inventories(
        generation=int(body["resource_provider_generation"]),
        by_class={
            name: Inventory(
                total=int(each["total"]),
                reserved=int(each["reserved"]),
                min_unit=int(each["min_unit"]),
                max_unit=int(each["max_unit"]),
                step_size=int(each["step_size"]),
                allocation_ratio=float(each["allocation_ratio"]),
            )
            for name, each in body["inventories"].items()
        },
    )


if TYPE_CHECKING:

    def _witness(placement: OpenStackPlacement) -> Placement:
        return placement
