"""The state of the simulated cloud: tables of values, and the queries that several services need."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from blazar.domain.errors import CloudNotFound
from blazar.domain.providers import Inventory
from blazar.domain.subnets import Subnet
from blazar.ports.block_storage import (
    Attachment,
    GroupSnapshot,
    StoragePool,
    Volume,
    VolumeCopy,
    VolumeGroup,
    VolumeType,
)
from blazar.ports.compute import Aggregate, Flavor, Hypervisor, Server, ServerGroup
from blazar.ports.identity import Project, Trust, User
from blazar.ports.images import Image
from blazar.ports.network import FloatingIP, Network
from blazar.ports.placement import Provider
from blazar.ports.segments import Port, Route, SegmentNetwork, SegmentRange, Trunk

DEFAULT_ZONE = "nova"
"""The zone of hosts that are in no aggregate with a zone."""

_ID_NAMESPACE = uuid.UUID("5f1f2c0e-7a64-5c9e-9a0b-0f6a3c6d2b11")

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumption:
    """An amount of one resource class that is allocated to a consumer (a server) from a provider."""

    consumer_id: str
    provider_uuid: str
    resource_class: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnconfirmedResize:
    """A resize that can still be reverted."""

    former_host: str
    former_flavor_id: str
    consumer_id: str
    """The consumer, in place of the server, of what the former host keeps for it."""
    is_finished: bool
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeMove:
    """A move in progress of a volume to another type; ``status`` is the volume's status after the move."""

    due_at: datetime
    type_name: str
    pool: str
    status: str


@dataclass(slots=True, kw_only=True)
class CloudState:
    """The whole state. The values are frozen; a change replaces them.

    Methods that change it check first, so that a refused call changes nothing.
    """

    serial: int = 0
    """The last number that was assigned; ids are derived from it, so that runs can be repeated."""

    hypervisors: dict[str, Hypervisor] = field(default_factory=dict)
    aggregates: dict[int, Aggregate] = field(default_factory=dict)
    servers: dict[str, Server] = field(default_factory=dict)
    server_flavors: dict[str, str] = field(default_factory=dict)
    """The ids of the servers' flavors, by server id, while the flavors exist."""
    deletions: dict[str, datetime] = field(default_factory=dict)
    """The instants at which servers that are being deleted will be gone, by server id."""
    resizes: dict[str, UnconfirmedResize] = field(default_factory=dict)
    """Resizes that can be reverted, by server id."""
    images: dict[str, Image] = field(default_factory=dict)
    flavors: dict[str, Flavor] = field(default_factory=dict)
    flavor_access: dict[str, frozenset[str]] = field(default_factory=dict)
    server_groups: dict[str, ServerGroup] = field(default_factory=dict)

    providers: dict[str, Provider] = field(default_factory=dict)
    inventories: dict[str, Mapping[str, Inventory]] = field(default_factory=dict)
    traits: dict[str, frozenset[str]] = field(default_factory=dict)
    custom_classes: frozenset[str] = frozenset()
    consumptions: tuple[Consumption, ...] = ()

    networks: dict[str, Network] = field(default_factory=dict)
    subnets: dict[str, Subnet] = field(default_factory=dict)
    floating_ips: dict[str, FloatingIP] = field(default_factory=dict)
    port_forwardings: dict[str, str] = field(default_factory=dict)
    """The ids of the floating IPs, by the id of a port forwarding."""

    physical_networks: frozenset[str] = frozenset()
    """The physical networks that Neutron knows."""
    segment_ranges: dict[str, SegmentRange] = field(default_factory=dict)
    segment_networks: dict[str, SegmentNetwork] = field(default_factory=dict)
    """The networks whose segment is known; they are also among the networks."""
    network_quotas: dict[str, int] = field(default_factory=dict)
    """The limits of networks, by project; projects without one have no limit."""
    ports: dict[str, Port] = field(default_factory=dict)
    port_networks: dict[str, str] = field(default_factory=dict)
    """The ids of the ports' networks, by port id."""
    trunks: dict[str, Trunk] = field(default_factory=dict)
    routers: dict[str, tuple[Route, ...]] = field(default_factory=dict)
    """The extra routes, by router id."""

    storage_pools: dict[str, StoragePool] = field(default_factory=dict)
    volume_types: dict[str, VolumeType] = field(default_factory=dict)
    type_access: dict[str, frozenset[str]] = field(default_factory=dict)
    """The projects that may use a private volume type, by its id."""
    type_quotas: dict[str, int] = field(default_factory=dict)
    """Limits of volume types, by project and name; they outlive their types, as in Cinder."""
    volumes: dict[str, Volume] = field(default_factory=dict)
    volume_deletions: dict[str, datetime] = field(default_factory=dict)
    """The instants at which volumes that are being deleted will be gone, by volume id."""
    volume_moves: dict[str, VolumeMove] = field(default_factory=dict)
    """The moves that are in progress, by volume id."""
    moved_out: dict[str, int] = field(default_factory=dict)
    """GiB of volumes that have left a pool, by pool; Cinder counts them as if they were in it."""
    volume_snapshots: dict[str, tuple[VolumeCopy, ...]] = field(default_factory=dict)
    """The snapshots, by volume id."""
    volume_backups: dict[str, tuple[VolumeCopy, ...]] = field(default_factory=dict)
    """The backups, by the id of a volume that may be gone."""
    copying: dict[str, datetime] = field(default_factory=dict)
    """The instants at which volumes that are being backed up have been copied, by volume id."""
    served_projects: frozenset[str] = frozenset()
    """The projects in which the account of the service has a role."""
    volume_groups: dict[str, VolumeGroup] = field(default_factory=dict)
    group_snapshots: dict[str, GroupSnapshot] = field(default_factory=dict)
    group_snapshot_parts: dict[str, frozenset[str]] = field(default_factory=dict)
    """The ids of the snapshots of volumes that a group snapshot has, by its id."""
    transfers: dict[str, str] = field(default_factory=dict)
    """The volumes of pending transfers, by transfer id."""
    root_volumes: frozenset[str] = frozenset()
    """Volumes from which servers were booted, so that Nova does not detach them."""
    detachments: dict[str, datetime] = field(default_factory=dict)
    """The instants at which volumes that are being detached will be detached, by attachment id."""
    suspended_servers: frozenset[str] = frozenset()
    """Servers in a state in which Nova does not detach their volumes."""
    stopped_servers: frozenset[str] = frozenset()
    """Servers whose volumes Nova detaches, but does not swap."""

    projects: dict[str, Project] = field(default_factory=dict)
    users: dict[str, User] = field(default_factory=dict)
    trusts: dict[str, Trust] = field(default_factory=dict)

    def new_number(self) -> int:
        """Return a number that was never assigned before; at least 1."""
        self.serial += 1
        return self.serial

    def new_id(self) -> str:
        """Return a UUID that was never assigned before."""
        return str(uuid.uuid5(_ID_NAMESPACE, str(self.new_number())))

    def has_service_host(self, service_host: str) -> bool:
        """Return whether a compute service with this name exists."""
        return any(each.service_host == service_host for each in self.hypervisors.values())

    def has_servers(self, service_host: str) -> bool:
        """Return whether the host has servers, including those that are being deleted."""
        return any(each.service_host == service_host for each in self.servers.values())

    def zone_of(self, service_host: str, *, apart_from: int | None = None) -> str:
        """Return the host's availability zone, without regard to the aggregate *apart_from*."""
        for aggregate in self.aggregates.values():
            in_zone = aggregate.availability_zone and service_host in aggregate.hosts
            if in_zone and aggregate.id != apart_from:
                return aggregate.availability_zone or DEFAULT_ZONE
        return DEFAULT_ZONE

    def used(self, provider_uuid: str, resource_class: str) -> int:
        """Return the amount of a class that is allocated from a provider."""
        return sum(
            each.amount
            for each in self.consumptions
            if each.provider_uuid == provider_uuid and each.resource_class == resource_class
        )

    def forget_deleted_servers(self, now: datetime) -> None:
        """Remove the servers whose deletion is complete at *now*, and their allocations."""
        gone = {server_id for server_id, due_at in self.deletions.items() if due_at <= now}
        if not gone:
            return
        for server_id in gone:
            del self.deletions[server_id]
            del self.servers[server_id]
            self.server_flavors.pop(server_id, None)
            self.forget_attachments(server_id)
            self.forget_resize(server_id)
        self.consumptions = tuple(each for each in self.consumptions if each.consumer_id not in gone)

    def forget_resize(self, server_id: str) -> None:
        """Free what the host that a server left still keeps for its return."""
        resize = self.resizes.pop(server_id, None)
        if resize is not None:
            self.consumptions = tuple(
                each for each in self.consumptions if each.consumer_id != resize.consumer_id
            )

    def finish_volume_work(self, now: datetime) -> None:
        """Complete operations due at *now*: detachments, deletions with their snapshots, moves, backups."""
        self._finish_detachments(now)
        for volume_id in [key for key, due_at in self.copying.items() if due_at <= now]:
            del self.copying[volume_id]
            self.volume_backups[volume_id] = tuple(
                replace(each, status="available") if each.status == "creating" else each
                for each in self.volume_backups[volume_id]
            )
            volume = self.volumes.get(volume_id)
            if volume is not None and volume.status == "backing-up":
                status = "in-use" if volume.attachments else "available"
                self.volumes[volume_id] = replace(volume, status=status)
        for volume_id in [key for key, each in self.volume_moves.items() if each.due_at <= now]:
            move = self.volume_moves.pop(volume_id)
            if volume_id in self.volumes:
                volume = self.volumes[volume_id]
                if volume.pool != move.pool:
                    self.moved_out[volume.pool] = self.moved_out.get(volume.pool, 0) + volume.size
                self.volumes[volume_id] = replace(
                    volume, type_name=move.type_name, pool=move.pool, status=move.status
                )
        for volume_id in [key for key, due_at in self.volume_deletions.items() if due_at <= now]:
            del self.volume_deletions[volume_id]
            self.volumes.pop(volume_id, None)
            self.volume_snapshots.pop(volume_id, None)
            self.root_volumes -= {volume_id}

    def _finish_detachments(self, now: datetime) -> None:
        ended = {key for key, due_at in self.detachments.items() if due_at <= now}
        for attachment_id in ended:
            del self.detachments[attachment_id]
        if ended:
            self.end_attachments(lambda each: each.id in ended)

    def forget_attachments(self, server_id: str) -> None:
        """End the attachments of a server that is gone."""
        self.suspended_servers -= {server_id}
        self.stopped_servers -= {server_id}
        self.end_attachments(lambda each: each.server_id == server_id)

    def end_attachments(self, ends: Callable[[Attachment], bool]) -> None:
        """End the attachments of volumes for which *ends* returns True."""
        for volume in list(self.volumes.values()):
            left = tuple(each for each in volume.attachments if not ends(each))
            if left != volume.attachments:
                remaining = "in-use" if volume.status == "detaching" else volume.status
                status = remaining if left else "available"
                self.volumes[volume.id] = replace(volume, attachments=left, status=status)
                self.root_volumes -= {volume.id}


def is_visible(state: CloudState, flavor_id: str, project_id: str) -> bool:
    """Return whether the flavor exists and the project may use it."""
    flavor = state.flavors.get(flavor_id)
    return flavor is not None and (
        flavor.is_public or project_id in state.flavor_access.get(flavor_id, frozenset())
    )


def known(table: Mapping[KeyT, ValueT], key: KeyT, what: str) -> ValueT:
    """Return the table's value. Raises CloudNotFound with *what* as the kind of the missing object."""
    try:
        return table[key]
    except KeyError:
        raise CloudNotFound(f"no {what} {key}") from None
