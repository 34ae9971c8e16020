"""Actions of operators on the hosts of the simulated cloud."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from blazar.cloud.simulated.calls import Calls
from blazar.cloud.simulated.hosts import insert_aggregate, insert_member
from blazar.cloud.simulated.placement import (
    STANDARD_CLASSES,
    bump_generation,
    drop_provider,
    insert_provider,
)
from blazar.cloud.simulated.shape import DEFAULT_SHAPE, HostShape
from blazar.cloud.simulated.state import CloudState
from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.domain.providers import Inventory
from blazar.ports.compute import Aggregate, Hypervisor
from blazar.ports.placement import Provider


class HostOperations:
    """Actions on hosts; they are not counted, take no time, and have no faults."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def add_hypervisor(
        self,
        name: str,
        shape: HostShape = DEFAULT_SHAPE,
        *,
        service_host: str | None = None,
        availability_zone: str | None = None,
        traits: Iterable[str] = (),
    ) -> Hypervisor:
        """Return a new hypervisor with its compute service and its root provider in Placement.

        Args:
            name: Host name of the hypervisor, and name of the provider.
            shape: Its sizes.
            service_host: Name of the compute service; None for *name*.
            availability_zone: The host is put into an aggregate with this zone and name, which is created if
                necessary. None for no aggregate, so that the host is in zone ``nova``.
            traits: The traits of the provider.

        Raises:
            CloudConflict: The name is taken by a hypervisor or a provider, the zone's name by an aggregate of
                another zone, or the compute service is in another zone.
        """
        with self._calls.exclusive() as state:
            host = service_host or name
            _check_new_host(state, name, host, availability_zone)
            # Only the first of these can be refused; nothing has changed by then.
            aggregate = None if availability_zone is None else _zone_aggregate(state, availability_zone)
            provider = insert_provider(state, name, None)
            _equip(state, provider.uuid, shape.inventories(), traits)
            hypervisor = shape.hypervisor(str(state.new_number()), name, host)
            state.hypervisors[hypervisor.id] = hypervisor
            if aggregate is not None and host not in aggregate.hosts:
                insert_member(state, aggregate.id, host)
            return hypervisor

    def add_provider(
        self,
        host_name: str,
        name: str,
        inventories: Mapping[str, Inventory],
        traits: Iterable[str] = (),
    ) -> Provider:
        """Return a new provider under a host's root, such as a NUMA node or a device.

        Args:
            host_name: The name of the hypervisor.
            name: The name of the provider.
            inventories: By resource class; custom classes are created if necessary, as in Nova.
            traits: The traits of the provider.

        Raises:
            CloudNotFound: The hypervisor does not exist.
            CloudConflict: A provider with this name exists.
        """
        with self._calls.exclusive() as state:
            provider = insert_provider(state, name, _root_of(state, host_name).uuid)
            _equip(state, provider.uuid, inventories, traits)
            return state.providers[provider.uuid]

    def set_traits(self, host_name: str, traits: Iterable[str]) -> None:
        """Replace the traits of a host's root provider. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            root = _root_of(state, host_name)
            _equip(state, root.uuid, state.inventories[root.uuid], traits)

    def set_host_state(
        self,
        name: str,
        *,
        is_up: bool | None = None,
        is_enabled: bool | None = None,
        disabled_reason: str = "",
    ) -> Hypervisor:
        """Set the state of a host, and return the host.

        Args:
            name: Host name of the hypervisor.
            is_up: None for no change.
            is_enabled: None for no change; then the reason does not change either.
            disabled_reason: The reason for disabling it; cleared when it is enabled.

        Raises:
            CloudNotFound: The hypervisor does not exist.
        """
        with self._calls.exclusive() as state:
            changed = _by_name(state, name)
            if is_up is not None:
                changed = replace(changed, is_up=is_up)
            if is_enabled is not None:
                reason = "" if is_enabled else disabled_reason
                changed = replace(changed, is_enabled=is_enabled, disabled_reason=reason)
            state.hypervisors[changed.id] = changed
            return changed

    def resize_hypervisor(self, name: str, shape: HostShape) -> Hypervisor:
        """Change the sizes of a host in Nova and in Placement, and return the host. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            present = _by_name(state, name)
            changed = replace(
                shape.hypervisor(present.id, name, present.service_host),
                is_up=present.is_up,
                is_enabled=present.is_enabled,
                disabled_reason=present.disabled_reason,
            )
            state.hypervisors[changed.id] = changed
            root = _root_of(state, name)
            _equip(state, root.uuid, shape.inventories(), state.traits[root.uuid])
            return changed

    def remove_hypervisor(self, name: str) -> None:
        """Remove a host from the cloud, its aggregates and Placement.

        Raises:
            CloudNotFound: The hypervisor does not exist.
            CloudConflict: It has servers.
        """
        with self._calls.exclusive() as state:
            hypervisor = _by_name(state, name)
            host = hypervisor.service_host
            if state.has_servers(host):
                raise CloudConflict(f"hypervisor {name} has servers")
            del state.hypervisors[hypervisor.id]
            for aggregate in list(state.aggregates.values()):
                state.aggregates[aggregate.id] = replace(aggregate, hosts=aggregate.hosts - {host})
            roots = {each.uuid for each in state.providers.values() if each.name == name}
            for provider in list(state.providers.values()):
                if provider.root_uuid in roots:
                    drop_provider(state, provider.uuid)


def _by_name(state: CloudState, name: str) -> Hypervisor:
    for hypervisor in state.hypervisors.values():
        if hypervisor.hypervisor_hostname == name:
            return hypervisor
    raise CloudNotFound(f"no hypervisor {name}")


def _root_of(state: CloudState, host_name: str) -> Provider:
    _by_name(state, host_name)
    found = (each for each in state.providers.values() if each.name == host_name)
    root = next(found, None)
    if root is None:
        raise CloudNotFound(f"no resource provider {host_name}")
    return root


def _equip(
    state: CloudState, provider_uuid: str, inventories: Mapping[str, Inventory], traits: Iterable[str]
) -> None:
    state.custom_classes |= inventories.keys() - STANDARD_CLASSES
    state.inventories[provider_uuid] = dict(inventories)
    state.traits[provider_uuid] = frozenset(traits)
    bump_generation(state, provider_uuid)


def _check_new_host(state: CloudState, name: str, service_host: str, availability_zone: str | None) -> None:
    if any(each.hypervisor_hostname == name for each in state.hypervisors.values()):
        raise CloudConflict(f"a hypervisor named {name} exists")
    if any(each.name == name for each in state.providers.values()):
        raise CloudConflict(f"a resource provider named {name} exists")
    present = state.zone_of(service_host) if state.has_service_host(service_host) else availability_zone
    if availability_zone is not None and present != availability_zone:
        raise CloudConflict(f"compute service {service_host} is in availability zone {present}")


def _zone_aggregate(state: CloudState, availability_zone: str) -> Aggregate:
    for aggregate in state.aggregates.values():
        if aggregate.availability_zone == availability_zone:
            return aggregate
    return insert_aggregate(state, availability_zone, availability_zone)
