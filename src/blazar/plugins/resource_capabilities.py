"""Capabilities for resources: where they come from, their pool, and leftovers in the cloud."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from blazar.domain.collections import ResourceCollection
from blazar.domain.plugin_resources import PluginResource
from blazar.domain.requirements import Fact
from blazar.plugins.contract import JsonObject
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.ports.cloud import Cloud


class DiscoversResources(ABC):
    """The resources can be read. Without it, operators register them."""

    @abstractmethod
    def discover(self, cloud: Cloud) -> Sequence[PluginResource]:
        """Return the resources that exist now, from which the service updates its records.

        Called when a manager starts, and periodically.

        Raises:
            CloudError: The resources cannot be read; the records stay unchanged.
        """


class RegistersResources(ABC):
    """Operators register resources over the API, in a collection that the plugin declares.

    The plugin's ``collection`` is the name of the declared collection, and it does not discover resources.
    The API serves the collection without loading the plugin. So a plugin of another distribution also names
    the declaration in an entry point of the group ``blazar.resource.collections``, with the name of the
    plugin's entry point; a folder in :mod:`blazar.plugins` has it in its ``api.py``. Without the capability,
    the API has no such collection.
    """

    resource_collection: ClassVar[ResourceCollection]

    @abstractmethod
    def register(self, cloud: Cloud, body: JsonObject) -> PluginResource:
        """Return the resource that an operator registers; *body* conforms to the declared schema.

        Raises:
            BadRequest: A value is invalid.
            NotFound, Conflict: The cloud has no such resource, or it cannot be reserved.
        """

    def register_all(self, cloud: Cloud, body: JsonObject) -> Sequence[PluginResource]:
        """Return the resources that one request registers, with different names; all or none are stored.

        Called instead of :meth:`register` if the collection declares ``registers_several``. By default, it
        returns one resource. Raises as :meth:`register`.
        """
        return (self.register(cloud, body),)

    @abstractmethod
    def change(self, cloud: Cloud, resource: PluginResource, body: JsonObject) -> PluginResource:
        """Return a registered resource with changes; its name stays. Raises as :meth:`register`.

        Called only if the collection declares a schema for changes, and the resource is not reserved.
        """

    @abstractmethod
    def check_removable(self, cloud: Cloud, resource: PluginResource) -> None:
        """Check that a resource may be removed; change nothing.

        Raises:
            Conflict: The resource is in use although no lease holds it, so it must stay.
        """


class HasPool(ABC):
    """Resources wait in a pool of the cloud while no lease holds them.

    Without it, resources under maintenance cannot leave it.
    """

    @abstractmethod
    def leave_pool(self, cloud: Cloud, resources: Sequence[Mapping[str, Fact]]) -> None:
        """Take resources out of the pool, by their facts; safe to repeat.

        Raises:
            CloudError: Not all could be taken out.
        """

    @abstractmethod
    def enter_pool(self, cloud: Cloud, resources: Sequence[Mapping[str, Fact]]) -> None:
        """Put the resources that no reservation holds into the pool; safe to repeat. Raises CloudError."""

    @abstractmethod
    def find_by_aggregate(self, cloud: Cloud, name: str) -> Collection[str] | None:
        """Return the names of the resources in an aggregate of the cloud; None if there is no such aggregate.

        Raises:
            CloudError: It cannot be read.
        """


class HasLeftovers(ABC):
    """Objects in the cloud can outlive their reservation. Without it, the sweep does not search for them."""

    @abstractmethod
    def leftover_kinds(self, sweep: Sweep) -> Sequence[LeftoverKind]:
        """Return the kinds of leftovers that reservations of this type may have, in the order of removal.

        Called by each sweep; reads nothing. A kind that several plugins return is searched once.
        """
