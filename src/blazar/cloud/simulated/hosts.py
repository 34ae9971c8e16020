"""Nova's hypervisors, aggregates and availability zones, simulated."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from blazar.cloud.simulated.calls import Service, reads, writes
from blazar.cloud.simulated.state import CloudState, known
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.compute import Aggregate, Hypervisor

if TYPE_CHECKING:
    from blazar.ports.compute import Aggregates, Hypervisors


class SimulatedHypervisors(Service):
    """The compute nodes and their availability zones."""

    @reads("compute.find_hypervisor")
    def find_hypervisor(self, name_or_id: str) -> Hypervisor | None:
        """Return the hypervisor with this id or this exact host name, or None."""
        hypervisors = self._state.hypervisors
        if name_or_id in hypervisors:
            return hypervisors[name_or_id]
        named = (each for each in hypervisors.values() if each.hypervisor_hostname == name_or_id)
        return next(named, None)

    @reads("compute.list_hypervisors")
    def list_hypervisors(self) -> tuple[Hypervisor, ...]:
        """Return all hypervisors, by id."""
        return tuple(sorted(self._state.hypervisors.values(), key=lambda each: each.id))

    @reads("compute.list_availability_zones")
    def list_availability_zones(self) -> Mapping[str, str]:
        """Return each service host's zone, ``nova`` unless an aggregate defines another one."""
        hosts = {each.service_host for each in self._state.hypervisors.values()}
        return {host: self._state.zone_of(host) for host in hosts}


class SimulatedAggregates(Service):
    """Host aggregates. A host is in one availability zone, and keeps it while it has servers."""

    @reads("compute.list_aggregates")
    def list_aggregates(self, names: Collection[str] | None = None) -> tuple[Aggregate, ...]:
        """Return all aggregates, or those with these names, oldest first."""
        known = self._state.aggregates.values()
        return tuple(each for each in known if names is None or each.name in names)

    def create_aggregate(
        self, name: str, availability_zone: str | None, metadata: Mapping[str, str]
    ) -> Aggregate:
        """Return a new aggregate; its metadata is set by a second operation, which may fail."""
        aggregate = self._new_aggregate(name, availability_zone)
        return self.set_aggregate_metadata(aggregate.id, metadata) if metadata else aggregate

    @writes("compute.create_aggregate")
    def _new_aggregate(self, name: str, availability_zone: str | None) -> Aggregate:
        return insert_aggregate(self._state, name, availability_zone)

    @writes("compute.set_aggregate_metadata")
    def set_aggregate_metadata(self, aggregate_id: int, metadata: Mapping[str, str | None]) -> Aggregate:
        """Set these keys, remove those with the value None, and leave other keys alone; return the result.

        Raises:
            CloudNotFound: The aggregate does not exist.
            CloudRefused: The metadata contains the availability zone, which cannot be changed here.
        """
        aggregate = known(self._state.aggregates, aggregate_id, "aggregate")
        if "availability_zone" in metadata:
            raise CloudRefused("the availability zone of an aggregate can only be set when it is created")
        merged = {
            key: value for key, value in {**aggregate.metadata, **metadata}.items() if value is not None
        }
        return _store(self._state, replace(aggregate, metadata=merged))

    @writes("compute.delete_aggregate")
    def delete_aggregate(self, aggregate_id: int) -> None:
        """Delete an aggregate. Raises CloudNotFound, or CloudConflict while it has hosts."""
        aggregate = known(self._state.aggregates, aggregate_id, "aggregate")
        if aggregate.hosts:
            raise CloudConflict(f"aggregate {aggregate_id} has hosts")
        del self._state.aggregates[aggregate_id]

    @writes("compute.add_host")
    def add_host(self, aggregate_id: int, service_host: str) -> Aggregate:
        """Put a host into an aggregate; return it. Raises as the port says."""
        return insert_member(self._state, aggregate_id, service_host)

    @writes("compute.remove_host")
    def remove_host(self, aggregate_id: int, service_host: str) -> Aggregate:
        """Take a host out of an aggregate; return it. Raises as the port says."""
        aggregate = known(self._state.aggregates, aggregate_id, "aggregate")
        if aggregate.availability_zone is not None:
            # Nova checks this first, even if the host is not in the aggregate.
            zone = self._state.zone_of(service_host, apart_from=aggregate_id)
            if zone != aggregate.availability_zone and self._state.has_servers(service_host):
                raise CloudConflict(
                    f"host {service_host} has servers, so it cannot leave availability zone "
                    f"{aggregate.availability_zone}"
                )
        if service_host not in aggregate.hosts:
            raise CloudNotFound(f"host {service_host} is not in aggregate {aggregate_id}")
        remaining = aggregate.hosts - {service_host}
        return _store(self._state, replace(aggregate, hosts=remaining))


def insert_aggregate(state: CloudState, name: str, availability_zone: str | None) -> Aggregate:
    """Return a new aggregate with this name. Raises CloudConflict if one exists."""
    if any(each.name == name for each in state.aggregates.values()):
        raise CloudConflict(f"an aggregate named {name} exists")
    aggregate = Aggregate(id=state.new_number(), name=name, availability_zone=availability_zone or None)
    state.aggregates[aggregate.id] = aggregate
    return aggregate


def insert_member(state: CloudState, aggregate_id: int, service_host: str) -> Aggregate:
    """Put a host into an aggregate; return the aggregate.

    Raises:
        CloudNotFound: The aggregate or the host does not exist.
        CloudConflict: The host is already in the aggregate, it is in another availability zone, or servers on
            it forbid the change of zone.
    """
    aggregate = known(state.aggregates, aggregate_id, "aggregate")
    if not state.has_service_host(service_host):
        raise CloudNotFound(f"no compute host {service_host}")
    if service_host in aggregate.hosts:
        raise CloudConflict(f"host {service_host} is in aggregate {aggregate_id} already")
    if aggregate.availability_zone is not None:
        _check_other_zones(state, service_host, aggregate.availability_zone)
        _check_servers(state, service_host, aggregate.availability_zone)
    return _store(state, replace(aggregate, hosts=aggregate.hosts | {service_host}))


def _store(state: CloudState, aggregate: Aggregate) -> Aggregate:
    state.aggregates[aggregate.id] = aggregate
    return aggregate


def _check_other_zones(state: CloudState, service_host: str, zone: str) -> None:
    for other in state.aggregates.values():
        if service_host in other.hosts and other.availability_zone not in (None, zone):
            raise CloudConflict(
                f"host {service_host} is in availability zone {other.availability_zone} already"
            )


def _check_servers(state: CloudState, service_host: str, zone: str) -> None:
    if state.zone_of(service_host) != zone and state.has_servers(service_host):
        raise CloudConflict(f"host {service_host} has servers, so it cannot move to availability zone {zone}")


if TYPE_CHECKING:

    def _witness(
        hypervisors: SimulatedHypervisors, aggregates: SimulatedAggregates
    ) -> tuple[Hypervisors, Aggregates]:
        return hypervisors, aggregates
