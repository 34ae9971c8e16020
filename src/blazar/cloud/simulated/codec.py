"""JSON encoding of the state, and the state file.

The document is ``{"version": 2, "serial": n, "<table>": [values…], …}``; sets are sorted lists, and instants
are ISO 8601 text.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from blazar.cloud.simulated.state import CloudState, Consumption, UnconfirmedResize, VolumeMove
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
from blazar.ports.images import Image, ImageState
from blazar.ports.network import FloatingIP, Network
from blazar.ports.placement import Provider
from blazar.ports.segments import Port, Route, Segment, SegmentNetwork, SegmentRange, Trunk

VERSION = 2
"""The version of the document; files of other versions are refused."""

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")

# Decoders of the fields that have no JSON type of their own.
_FIELD_DECODERS: Mapping[str, Callable[[Any], object]] = {
    "hosts": frozenset,
    "state": ImageState,
    "tags": frozenset,
    "type_ids": frozenset,
    "subport_ids": frozenset,
    "segment": lambda found: Segment(**found),
    "attachments": lambda found: tuple(Attachment(**each) for each in found),
    "allocation_pools": lambda pools: tuple((first, last) for first, last in pools),
}


def encode(state: CloudState) -> str:
    """Return the state as JSON text."""
    document = {
        "version": VERSION,
        "serial": state.serial,
        "hypervisors": [*state.hypervisors.values()],
        "aggregates": [*state.aggregates.values()],
        "servers": [*state.servers.values()],
        "server_flavors": state.server_flavors,
        "deletions": state.deletions,
        "resizes": state.resizes,
        "images": [*state.images.values()],
        "flavors": [*state.flavors.values()],
        "flavor_access": state.flavor_access,
        "server_groups": [*state.server_groups.values()],
        "providers": [*state.providers.values()],
        "inventories": state.inventories,
        "traits": state.traits,
        "custom_classes": state.custom_classes,
        "consumptions": state.consumptions,
        "networks": [*state.networks.values()],
        "subnets": [*state.subnets.values()],
        "floating_ips": [*state.floating_ips.values()],
        "port_forwardings": state.port_forwardings,
        "physical_networks": state.physical_networks,
        "segment_ranges": [*state.segment_ranges.values()],
        "segment_networks": [*state.segment_networks.values()],
        "network_quotas": state.network_quotas,
        "ports": [*state.ports.values()],
        "port_networks": state.port_networks,
        "trunks": [*state.trunks.values()],
        "routers": state.routers,
        **_encode_storage(state),
        **_identities(state),
    }
    return json.dumps(document, default=_plain, separators=(",", ":"))


def _identities(state: CloudState) -> dict[str, object]:
    """Return the tables of Keystone."""
    return {
        "projects": [*state.projects.values()],
        "users": [*state.users.values()],
        "trusts": [*state.trusts.values()],
    }


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def decode(text: str) -> CloudState:
    """Return the state that was encoded as *text*. Raises ValueError for other texts."""
    document = json.loads(text)
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise ValueError(f"not a simulated cloud's state of version {VERSION}")
    try:
        return _state(document)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a complete state of a simulated cloud: {error!r}") from error


def _state(document: Mapping[str, Any]) -> CloudState:
    return CloudState(
        serial=document["serial"],
        hypervisors=_table(document["hypervisors"], Hypervisor, lambda each: each.id),
        aggregates=_table(document["aggregates"], Aggregate, lambda each: each.id),
        servers=_table(document["servers"], Server, lambda each: each.id),
        server_flavors=document["server_flavors"],
        deletions={key: datetime.fromisoformat(due) for key, due in document["deletions"].items()},
        images=_table(document["images"], Image, lambda each: each.id),
        flavors=_table(document["flavors"], Flavor, lambda each: each.id),
        flavor_access={key: frozenset(ids) for key, ids in document["flavor_access"].items()},
        server_groups=_table(document["server_groups"], ServerGroup, lambda each: each.id),
        providers=_table(document["providers"], Provider, lambda each: each.uuid),
        inventories={
            uuid: {name: _value(Inventory, each) for name, each in by_class.items()}
            for uuid, by_class in document["inventories"].items()
        },
        traits={key: frozenset(names) for key, names in document["traits"].items()},
        custom_classes=frozenset(document["custom_classes"]),
        consumptions=tuple(_value(Consumption, each) for each in document["consumptions"]),
        networks=_table(document["networks"], Network, lambda each: each.id),
        subnets=_table(document["subnets"], Subnet, lambda each: each.id),
        floating_ips=_table(document["floating_ips"], FloatingIP, lambda each: each.id),
        # Absent in older files, from here on.
        port_forwardings=document.get("port_forwardings", {}),
        resizes={
            key: _value(UnconfirmedResize, {**each, "at": datetime.fromisoformat(each["at"])})
            for key, each in document.get("resizes", {}).items()
        },
        **_segments(document),
        **_storage(document),
        projects=_table(document.get("projects", []), Project, lambda each: each.id),
        users=_table(document.get("users", []), User, lambda each: each.id),
        trusts=_table(document.get("trusts", []), Trust, lambda each: each.id),
    )


def _segments(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of segments."""
    return {
        "physical_networks": frozenset(document.get("physical_networks", ())),
        "segment_ranges": _table(document.get("segment_ranges", []), SegmentRange, lambda each: each.id),
        "segment_networks": _table(
            document.get("segment_networks", []), SegmentNetwork, lambda each: each.id
        ),
        "network_quotas": document.get("network_quotas", {}),
        "ports": _table(document.get("ports", []), Port, lambda each: each.id),
        "port_networks": document.get("port_networks", {}),
        "trunks": _table(document.get("trunks", []), Trunk, lambda each: each.id),
        "routers": {
            key: tuple(_value(Route, each) for each in routes)
            for key, routes in document.get("routers", {}).items()
        },
    }


def _encode_storage(state: CloudState) -> dict[str, Any]:
    """Return the tables of block storage as JSON."""
    return {
        "storage_pools": [*state.storage_pools.values()],
        "volume_types": [*state.volume_types.values()],
        "type_access": state.type_access,
        "type_quotas": state.type_quotas,
        "volumes": [*state.volumes.values()],
        "volume_deletions": state.volume_deletions,
        "volume_moves": state.volume_moves,
        "moved_out": state.moved_out,
        "volume_snapshots": state.volume_snapshots,
        "volume_backups": state.volume_backups,
        "copying": state.copying,
        "served_projects": state.served_projects,
        "volume_groups": [*state.volume_groups.values()],
        "group_snapshots": [*state.group_snapshots.values()],
        "group_snapshot_parts": state.group_snapshot_parts,
        "transfers": state.transfers,
        "root_volumes": state.root_volumes,
        "detachments": state.detachments,
        "suspended_servers": state.suspended_servers,
        "stopped_servers": state.stopped_servers,
    }


def _storage(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of block storage."""
    deletions = document.get("volume_deletions", {})
    return {
        "storage_pools": _table(document.get("storage_pools", []), StoragePool, lambda each: each.name),
        "volume_types": _table(document.get("volume_types", []), VolumeType, lambda each: each.id),
        "type_access": {key: frozenset(ids) for key, ids in document.get("type_access", {}).items()},
        "type_quotas": document.get("type_quotas", {}),
        "volumes": _table(document.get("volumes", []), Volume, lambda each: each.id),
        "volume_deletions": {key: datetime.fromisoformat(due) for key, due in deletions.items()},
        "volume_moves": {
            key: _value(VolumeMove, {**each, "due_at": datetime.fromisoformat(each["due_at"])})
            for key, each in document.get("volume_moves", {}).items()
        },
        "moved_out": document.get("moved_out", {}),
        "volume_snapshots": _copies(document.get("volume_snapshots", {})),
        "volume_backups": _copies(document.get("volume_backups", {})),
        "copying": {key: datetime.fromisoformat(due) for key, due in document.get("copying", {}).items()},
        "served_projects": frozenset(document.get("served_projects", ())),
        "volume_groups": _table(document.get("volume_groups", []), VolumeGroup, lambda each: each.id),
        "group_snapshots": _table(document.get("group_snapshots", []), GroupSnapshot, lambda each: each.id),
        "group_snapshot_parts": {
            key: frozenset(ids) for key, ids in document.get("group_snapshot_parts", {}).items()
        },
        "transfers": document.get("transfers", {}),
        "root_volumes": frozenset(document.get("root_volumes", ())),
        "detachments": {
            key: datetime.fromisoformat(due) for key, due in document.get("detachments", {}).items()
        },
        "suspended_servers": frozenset(document.get("suspended_servers", ())),
        "stopped_servers": frozenset(document.get("stopped_servers", ())),
    }


def _copies(document: Mapping[str, Any]) -> dict[str, tuple[VolumeCopy, ...]]:
    return {key: tuple(_value(VolumeCopy, each) for each in copies) for key, copies in document.items()}


def _table(
    values: list[Mapping[str, Any]], kind: type[ValueT], key: Callable[[ValueT], KeyT]
) -> dict[KeyT, ValueT]:
    decoded = [_value(kind, each) for each in values]
    return {key(each): each for each in decoded}


def _value(kind: type[ValueT], fields: Mapping[str, Any]) -> ValueT:
    decoders = _FIELD_DECODERS
    return kind(**{name: decoders[name](v) if name in decoders else v for name, v in fields.items()})


def load(state_file: Path) -> CloudState:
    """Return the state from a file; an empty state if the file does not exist.

    Raises:
        ValueError: The file has other content; the message names the file.
    """
    try:
        text = state_file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return CloudState()
    try:
        return decode(text)
    except ValueError as error:
        raise ValueError(f"{state_file}: {error}") from error


def save(state: CloudState, state_file: Path) -> None:
    """Replace the content of the file atomically: readers see either the old state or the new one.

    The state survives the end of the process at any instant. It is not synced to the disk, so a power failure
    may lose the last changes.

    Raises:
        OSError: The file could not be written; its content is unchanged.
    """
    half_written = state_file.with_name(state_file.name + ".new")
    half_written.write_text(encode(state), encoding="utf-8")
    os.replace(half_written, state_file)
