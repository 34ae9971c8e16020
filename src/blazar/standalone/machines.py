"""The machines of an embedded service, from a file; they become reservable hosts of its simulated cloud."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import yaml

from blazar.booking.context import Context
from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.cloud.simulated.furnishing import NETWORK
from blazar.cloud.simulated.shape import HostShape
from blazar.domain.errors import BlazarError
from blazar.plugins.floatingips.store import FLOATING_IP_STORE
from blazar.plugins.floatingips.use_cases import create_floatingip
from blazar.plugins.hosts.host import Host
from blazar.plugins.hosts.refresh import refresh_hosts
from blazar.plugins.hosts.store import HOST_STORE
from blazar.plugins.hosts.use_cases import create_host, delete_host, update_host
from blazar.ports.manager import Caller

_OPERATOR = Caller(user_id="blazar-standalone", project_id="admin", roles=("admin",))
_SIZES = ("vcpus", "memory_mb", "disk_gb")
_KEYS = frozenset({"name", "properties", *_SIZES})
_ADDRESSES: Final = ("203.0.113.101", "203.0.113.102", "203.0.113.103", "203.0.113.104")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine of the file."""

    name: str
    vcpus: int = 16
    memory_mb: int = 65_536
    disk_gb: int = 1_000
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def shape(self) -> HostShape:
        """Return the sizes in the form of the simulated cloud."""
        return HostShape(vcpus=self.vcpus, memory_mb=self.memory_mb, local_gb=self.disk_gb)

    def has_sizes_of(self, host: Host) -> bool:
        """Return whether a registered host has these sizes."""
        return (host.vcpus, host.memory_mb, host.local_gb) == (self.vcpus, self.memory_mb, self.disk_gb)


EXAMPLES: Final[tuple[Machine, ...]] = tuple(
    Machine(
        name=f"host-{number}",
        properties={"rack": f"r{1 + (number - 1) // 4}", **({"gpu": "a100"} if number > 6 else {})},
    )
    for number in range(1, 9)
)
"""The hosts of a new simulated cloud, in two racks; two hosts have GPUs."""


def read_machines(path: Path) -> tuple[Machine, ...]:
    """Return the machines of a YAML file.

    Raises:
        ValueError: The file cannot be read or is malformed; the message has the place.
    """
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"--machines: {path} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise ValueError(f"--machines: {path} is not YAML: {error}") from error
    entries = document.get("machines") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise ValueError(f"--machines: {path} must have a list named machines")
    machines = tuple(_machine(f"{path}: machine {number}", each) for number, each in enumerate(entries, 1))
    names = [each.name for each in machines]
    twice = sorted({each for each in names if names.count(each) > 1})
    if twice:
        raise ValueError(f"--machines: {path}: {twice[0]} is named twice")
    return machines


def _machine(place: str, entry: object) -> Machine:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not entry["name"].strip():
        raise ValueError(f"--machines: {place} has no name")
    place = f"{place} ({entry['name']})"
    unknown = sorted(str(each) for each in entry.keys() - _KEYS)
    if unknown:
        raise ValueError(
            f"--machines: {place}: unknown key {unknown[0]}; known are {', '.join(sorted(_KEYS))}"
        )
    sizes = {key: entry[key] for key in _SIZES if key in entry}
    for key, value in sizes.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"--machines: {place}: {key} must be a number, 1 or more")
    properties = entry.get("properties") or {}
    if not isinstance(properties, dict):
        raise ValueError(f"--machines: {place}: properties must be names with values")
    texts = {str(key): str(value) for key, value in properties.items()}
    return Machine(name=entry["name"].strip(), properties=texts, **sizes)


def apply_machines(
    context: Context, cloud: SimulatedCloud, machines: Sequence[Machine], stop: threading.Event
) -> None:
    """Register, change and remove hosts to match the machines of the file. Idempotent.

    Returns early, with some hosts as they were, once *stop* is set.

    Raises:
        ValueError: A host that is no longer in the file is reserved, or a change was refused.
    """
    with context.store.read() as transaction:
        registered = {each.hypervisor_hostname: each for each in transaction.of(HOST_STORE).list()}
    hypervisors = {each.hypervisor_hostname for each in cloud.hypervisors.list_hypervisors()}
    wanted = {each.name: each for each in machines}
    for name in sorted((registered.keys() | hypervisors) - wanted.keys()):
        _remove(context, cloud, name, registered.get(name))
    _add_hypervisors(cloud, [machine for name, machine in wanted.items() if name not in hypervisors])
    for name, machine in wanted.items():
        if stop.is_set():
            return
        try:
            _apply(context, cloud, machine, registered.get(name), is_new=name not in hypervisors)
        except BlazarError as error:
            raise ValueError(f"--machines: {name}: {error}") from error


def register_addresses(context: Context, cloud: SimulatedCloud) -> None:
    """Register some addresses of the simulated cloud's network, if none is registered."""
    network = cloud.find_network_by_name(NETWORK)
    with context.store.read() as transaction:
        present = transaction.of(FLOATING_IP_STORE).list()
    if network is None or present:
        return
    for address in _ADDRESSES:
        create_floatingip(context, {"floating_network_id": network.id, "floating_ip_address": address})


def _remove(context: Context, cloud: SimulatedCloud, name: str, host: Host | None) -> None:
    try:
        if host is not None:
            delete_host(context, str(host.id))
        cloud.remove_hypervisor(name)
    except BlazarError as error:
        raise ValueError(
            f"--machines: {name} is no longer in the file, but cannot be removed: {error}. Add it or end "
            "the leases that hold it"
        ) from error


def _add_hypervisors(cloud: SimulatedCloud, machines: Sequence[Machine]) -> None:
    try:
        with cloud.saved_once():
            for each in machines:
                cloud.add_hypervisor(each.name, each.shape)
    except BlazarError as error:
        raise ValueError(f"--machines: {error}") from error


def _apply(
    context: Context, cloud: SimulatedCloud, machine: Machine, host: Host | None, *, is_new: bool
) -> None:
    if not is_new and (host is None or not machine.has_sizes_of(host)):
        cloud.resize_hypervisor(machine.name, replace(machine.shape))
    if host is None:
        create_host(context, {"name": machine.name, **machine.properties})
        return
    if not machine.has_sizes_of(host):
        refresh_hosts(context, _OPERATOR.user_id or "", names={machine.name})
    gone = dict.fromkeys(host.capabilities.keys() - machine.properties.keys())
    changed = {key: value for key, value in machine.properties.items() if host.capabilities.get(key) != value}
    if gone or changed:
        update_host(context, _OPERATOR, str(host.id), {**gone, **changed})
