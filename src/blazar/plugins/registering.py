"""A capability of plugins: operators register the resources over the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Protocol, runtime_checkable

from blazar.domain.collections import ResourceCollection
from blazar.domain.discovered import DiscoveredResource
from blazar.ports.cloud import Cloud

JsonObject = Mapping[str, object]


@runtime_checkable
class RegistersResources(Protocol):
    """The methods that a plugin offers in addition if operators register its resources.

    Its ``collection`` is the name of the declared collection, and its ``discover`` returns None. The
    declaration is also an entry point of the group ``blazar.resource.collections``, with the name of the
    plugin's entry point, because the API serves the collection without loading the plugin.
    """

    resource_collection: ClassVar[ResourceCollection]

    def register(self, cloud: Cloud, body: JsonObject) -> DiscoveredResource:
        """Return the resource that an operator registers; *body* conforms to the declared schema.

        Raises:
            BadRequest: A value is invalid.
            NotFound, Conflict: The cloud has no such resource, or it cannot be reserved.
        """

    def change(self, cloud: Cloud, resource: DiscoveredResource, body: JsonObject) -> DiscoveredResource:
        """Return a registered resource with changes; its name stays. Raises as :meth:`register`.

        Called only if the collection declares a schema for changes, and the resource is not reserved.
        """

    def check_removable(self, cloud: Cloud, resource: DiscoveredResource) -> None:
        """Check that a resource may be removed; change nothing.

        Raises:
            Conflict: The resource is in use, although no lease holds it, and must stay.
        """
