"""Leftovers of instance reservations: resource classes, aggregates, flavors and server groups.

They are removed in the order of teardown: first, servers can no longer be created on the reservation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import ClassVar

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.domain.lease import is_canonical_id
from blazar.plugins.hosts.store import HOST_STORE
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.plugins.slots.names import (
    flavor_name,
    id_of_class,
    id_of_name,
    provider_name,
)
from blazar.ports.compute import Aggregate

_RESERVATION_KEY = "reservation"
"""Metadata of a reservation's aggregate: the reservation's id."""


class ResourceClasses:
    """Resource classes of reservations, with their inventories on registered hosts."""

    name: ClassVar[str] = "class"

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep
        self._placement = sweep.cloud.placement
        self._providers: Mapping[str, list[str]] | None = None

    def candidates(self) -> Mapping[str, str | None]:
        """Return the resource classes that are named after reservations."""
        names = sorted(self._placement.list_resource_classes())
        return {name: found for name in names if (found := id_of_class(name)) is not None}

    def remove(self, name: str) -> bool:
        """Delete a resource class; only one with inventories needs further calls, one or more per host.

        Raises:
            CloudConflict: Servers still use it, or an unregistered host has an inventory.
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
        """Return the providers with inventories by resource class; read once per sweep."""
        if self._providers is None:
            found: dict[str, list[str]] = defaultdict(list)
            with self._sweep.store.read() as transaction:
                registered = transaction.of(HOST_STORE).list()
            for host in registered:
                self._sweep.check_claim()
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
    """Aggregates without an availability zone whose metadata names a reservation.

    The metadata is set in a second request, after the name. If the first request completes after its manager
    stopped waiting, and the reservation has ended meanwhile, the aggregate has only a name. Such an aggregate
    belongs to this service if the database knows a reservation with that name.
    """

    name: ClassVar[str] = "aggregate"

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep
        self._store = sweep.store
        self._aggregates = sweep.cloud.aggregates
        self._named: Mapping[str, Aggregate] = {}

    def candidates(self) -> Mapping[str, str | None]:
        """Return the aggregates, which are named after their reservations."""
        self._named = {
            each.name: each
            for each in self._sweep.aggregates()
            if is_canonical_id(each.name) and each.availability_zone is None
        }
        named = self._named.values()
        marked = [each.name for each in named if each.metadata.get(_RESERVATION_KEY) == each.name]
        bare = [each.name for each in named if not each.metadata and not each.hosts]
        return {name: name for name in (*marked, *self._known(bare))}

    def _known(self, names: Sequence[str]) -> frozenset[str]:
        if not names:
            return frozenset()
        with self._store.read() as transaction:
            return transaction.journal.known_reservations(names)

    def remove(self, name: str) -> bool:
        """Empty an aggregate and delete it; its hosts are in the freepool throughout."""
        aggregate = self._named[name]
        for service_host in sorted(aggregate.hosts):
            try:
                self._aggregates.remove_host(aggregate.id, service_host)
            except CloudNotFound:
                continue
        self._aggregates.delete_aggregate(aggregate.id)
        return True


class Flavors:
    """Private flavors whose id and name are those of a reservation's flavor."""

    name: ClassVar[str] = "flavor"

    def __init__(self, sweep: Sweep) -> None:
        self._flavors = sweep.cloud.flavors

    def candidates(self) -> Mapping[str, str | None]:
        """Return the flavors; their ids are those of their reservations."""
        return {
            each.id: each.id
            for each in self._flavors.list_flavors()
            if is_canonical_id(each.id) and each.name == flavor_name(each.id) and not each.is_public
        }

    def remove(self, name: str) -> bool:
        """Delete a flavor; its servers keep running."""
        self._flavors.delete_flavor(name)
        return True


class ServerGroups:
    """Server groups that are named after reservations.

    A group is created while serving a request, before the reservation is stored. It may therefore belong to
    no reservation for the duration of a request.
    """

    name: ClassVar[str] = "group"

    def __init__(self, sweep: Sweep) -> None:
        self._groups = sweep.cloud.server_groups

    def candidates(self) -> Mapping[str, str | None]:
        """Return the ids of the groups; a reservation may have left several."""
        groups = self._groups.list_server_groups()
        return {each.id: found for each in groups if (found := id_of_name(each.name)) is not None}

    def remove(self, name: str) -> bool:
        """Delete a group."""
        self._groups.delete_server_group(name)
        return True


def slot_leftovers(sweep: Sweep) -> tuple[LeftoverKind, ...]:
    """Return the kinds in the order in which their leftovers are removed."""
    return (ResourceClasses(sweep), SlotAggregates(sweep), Flavors(sweep), ServerGroups(sweep))
