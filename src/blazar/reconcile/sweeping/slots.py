"""What reservations of slots leave behind: classes, aggregates, flavors and server groups.

They go in the order in which a reservation ends: first of all nobody can boot a server in a slot any more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.plugins.slots.names import (
    flavor_name,
    id_of_class,
    id_of_name,
    is_reservation_id,
    provider_name,
)
from blazar.reconcile.sweeping.kinds import Surroundings

if TYPE_CHECKING:
    from blazar.reconcile.sweeping.kinds import Kind

_RESERVATION_KEY = "reservation"
"""Metadata of a reservation's aggregate: the reservation's id."""


class ResourceClasses:
    """Resource classes of reservations, with the inventories of them that registered hosts have."""

    name: ClassVar[str] = "class"

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self._placement = surroundings.context.cloud.placement
        self._providers: Mapping[str, list[str]] | None = None

    def candidates(self) -> Mapping[str, str | None]:
        """Return the classes that are named after reservations."""
        names = sorted(self._placement.list_resource_classes())
        return {name: found for name in names if (found := id_of_class(name)) is not None}

    def remove(self, name: str) -> bool:
        """Delete a class; only one that has inventories costs further calls, for every host.

        Raises:
            CloudConflict: Servers still have some of it, or an unregistered host has an inventory.
        """
        try:
            self._placement.delete_resource_class(name)
        except CloudConflict:
            self._delete_inventories(name)
            self._placement.delete_resource_class(name)
        return True

    def _delete_inventories(self, name: str) -> None:
        refusal: CloudConflict | None = None
        for uuid in self._find_providers().get(name, ()):
            try:
                self._placement.delete_inventory(uuid, name)
            except CloudNotFound:
                continue
            except CloudConflict as error:
                refusal = error
        if refusal is not None:
            raise refusal

    def _find_providers(self) -> Mapping[str, list[str]]:
        """Return which providers have inventories of which classes; looked for once a sweep."""
        if self._providers is None:
            found: dict[str, list[str]] = defaultdict(list)
            for host in self._surroundings.registered_hosts():
                self._surroundings.before_each()
                provider = self._placement.find_provider(provider_name(host.hypervisor_hostname))
                if provider is not None:
                    for name in self._classes_of(provider.uuid):
                        found[name].append(provider.uuid)
            self._providers = found
        return self._providers

    def _classes_of(self, provider_uuid: str) -> frozenset[str]:
        try:
            return frozenset(self._placement.get_inventories(provider_uuid).by_class)
        except CloudNotFound:
            return frozenset()


class SlotAggregates:
    """Aggregates without an availability zone that say of themselves that they are a reservation's.

    Nova is told the name first, and that in a second request. Where the first is done after its manager has
    given up waiting, and the reservation has ended meanwhile, there is a name and nothing else. Such an
    aggregate is one of ours if the books know a reservation of that name.
    """

    name: ClassVar[str] = "aggregate"

    def __init__(self, surroundings: Surroundings) -> None:
        self._context = surroundings.context
        self._compute = surroundings.context.cloud.compute
        self._named = {
            each.name: each
            for each in surroundings.aggregates
            if is_reservation_id(each.name) and each.availability_zone is None
        }

    def candidates(self) -> Mapping[str, str | None]:
        """Return the aggregates, which are named after their reservations."""
        named = self._named.values()
        marked = [each.name for each in named if each.metadata.get(_RESERVATION_KEY) == each.name]
        bare = [each.name for each in named if not each.metadata and not each.hosts]
        return {name: name for name in (*marked, *self._known(bare))}

    def _known(self, names: Sequence[str]) -> frozenset[str]:
        if not names:
            return frozenset()
        with self._context.store.read() as transaction:
            return transaction.journal.known_reservations(names)

    def remove(self, name: str) -> bool:
        """Empty an aggregate and delete it; its hosts have been in the freepool all the time."""
        aggregate = self._named[name]
        for service_host in sorted(aggregate.hosts):
            try:
                self._compute.remove_host(aggregate.id, service_host)
            except CloudNotFound:
                continue
        self._compute.delete_aggregate(aggregate.id)
        return True


class Flavors:
    """Private flavors whose id and name are those of a reservation's flavor."""

    name: ClassVar[str] = "flavor"

    def __init__(self, surroundings: Surroundings) -> None:
        self._compute = surroundings.context.cloud.compute

    def candidates(self) -> Mapping[str, str | None]:
        """Return the flavors, whose ids are those of their reservations."""
        return {
            each.id: each.id
            for each in self._compute.list_flavors()
            if is_reservation_id(each.id) and each.name == flavor_name(each.id) and not each.is_public
        }

    def remove(self, name: str) -> bool:
        """Delete a flavor; servers of it live on."""
        self._compute.delete_flavor(name)
        return True


class ServerGroups:
    """Server groups that are named after reservations.

    One is made inside of a request, before the reservation is stored. So it may belong to nobody for
    as long as a request takes.
    """

    name: ClassVar[str] = "group"

    def __init__(self, surroundings: Surroundings) -> None:
        self._compute = surroundings.context.cloud.compute

    def candidates(self) -> Mapping[str, str | None]:
        """Return the ids of the groups; a reservation may have left several."""
        groups = self._compute.list_server_groups()
        return {each.id: found for each in groups if (found := id_of_name(each.name)) is not None}

    def remove(self, name: str) -> bool:
        """Delete a group."""
        self._compute.delete_server_group(name)
        return True


if TYPE_CHECKING:

    def _witnesses(
        *kinds: type[ResourceClasses | SlotAggregates | Flavors | ServerGroups],
    ) -> tuple[type[Kind], ...]:
        return kinds
