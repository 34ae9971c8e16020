"""Ports: Nova, one for each kind of its objects.

Every method makes one request or a few, has a timeout, and may also raise:

* ``CloudUnavailable``: no usable answer; the call may or may not have taken effect;
* ``CloudRefused``: the request will never be accepted in this form.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypervisor:
    """A compute node. Sizes are totals, before overcommit."""

    id: str
    hypervisor_hostname: str
    service_host: str
    hypervisor_type: str
    hypervisor_version: int
    vcpus: int
    memory_mb: int
    local_gb: int
    cpu_info: str
    """JSON text, as Nova returns it."""
    is_up: bool = True
    """True if its compute service reports and is not forced down."""
    is_enabled: bool = True
    disabled_reason: str = ""
    """The reason given when the service was disabled, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """A host aggregate; ``hosts`` are compute service hosts, not hypervisor names."""

    id: int
    name: str
    availability_zone: str | None
    hosts: frozenset[str] = frozenset()
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """An instance. ``is_deleting`` is true once its deletion was accepted and is in progress."""

    id: str
    name: str
    project_id: str
    service_host: str
    flavor_extra_specs: Mapping[str, str] = field(default_factory=dict)
    """The flavor's extra specs at boot time; the flavor itself may be gone."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Metadata that its owner can also read, including from inside the server."""
    is_deleting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Resize:
    """A resize to another host, after which its owner can return the server to the host that it left.

    Nova lists the server on the new host only, and asks no scheduler when the resize is reverted.
    """

    server_id: str
    former_host: str
    """The compute service of the host that the server left."""
    is_finished: bool = True
    """Whether it can be confirmed; otherwise the server is still being moved, there or back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavor:
    """A flavor. Keys and values of ``extra_specs`` are text.

    Swap, rxtx factor and the disabled flag are only reported; created flavors have the defaults.
    """

    id: str
    name: str
    vcpus: int
    memory_mb: int
    disk_gb: int
    ephemeral_gb: int = 0
    is_public: bool = False
    extra_specs: Mapping[str, str] = field(default_factory=dict)
    swap_mb: int = 0
    rxtx_factor: float = 1.0
    is_disabled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerGroup:
    """A server group of a project; ``policy`` is ``affinity`` or ``anti-affinity``."""

    id: str
    name: str
    policy: str
    project_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessee:
    """The lessee whose token a call inside a request uses. ``token`` is never stored or shown by repr."""

    project_id: str
    token: str | None = field(default=None, repr=False)
    """None if callers do not authenticate with Keystone tokens."""


class Hypervisors(Protocol):
    """The compute nodes and their availability zones."""

    def find_hypervisor(self, name_or_id: str) -> Hypervisor | None:
        """Return the hypervisor with this id or this exact host name, or None."""

    def list_hypervisors(self) -> tuple[Hypervisor, ...]:
        """Return all hypervisors, ordered by id."""

    def list_availability_zones(self) -> Mapping[str, str]:
        """Return each compute service host's availability zone, as Nova shows it."""


class Aggregates(Protocol):
    """Host aggregates. Nova's rules apply: a host is in at most one availability zone."""

    def list_aggregates(self, names: Collection[str] | None = None) -> tuple[Aggregate, ...]:
        """Return aggregates with their hosts and metadata: all, or those with these names."""

    def create_aggregate(
        self, name: str, availability_zone: str | None, metadata: Mapping[str, str]
    ) -> Aggregate:
        """Return a new aggregate.

        Makes two requests; if the second fails, the aggregate remains without its metadata.

        Raises:
            CloudConflict: An aggregate with this name exists.
        """

    def set_aggregate_metadata(self, aggregate_id: int, metadata: Mapping[str, str | None]) -> Aggregate:
        """Set these keys, remove those with the value None, and leave others alone.

        Returns:
            The aggregate as it is then.

        Raises:
            CloudNotFound: It does not exist.
        """

    def delete_aggregate(self, aggregate_id: int) -> None:
        """Delete an empty aggregate.

        Raises:
            CloudNotFound: It does not exist.
            CloudConflict: It still has hosts.
        """

    def add_host(self, aggregate_id: int, service_host: str) -> Aggregate:
        """Put a host into an aggregate; return the aggregate as it is then.

        Raises:
            CloudNotFound: The aggregate or the host does not exist.
            CloudConflict: The host is already in the aggregate, it is in another availability zone, or
                servers on it forbid the change of zone.
        """

    def remove_host(self, aggregate_id: int, service_host: str) -> Aggregate:
        """Take a host out of an aggregate; return the aggregate as it is then.

        Raises:
            CloudNotFound: The aggregate does not exist or the host is not in it.
            CloudConflict: Servers on the host forbid the change of zone.
        """


class Servers(Protocol):
    """Servers of all projects."""

    def list_servers(
        self, *, service_host: str | None = None, flavor_id: str | None = None, zone: str | None = None
    ) -> tuple[Server, ...]:
        """Return the servers of all projects: all, or those on that host, with that flavor, and in that zone.

        Reads all pages. The zone of a server is the availability zone of its host when Nova chose the host.
        """

    def delete_server(self, server_id: str) -> None:
        """Request a server's deletion, which completes later. Raises CloudNotFound."""

    def list_resizes(self, project_id: str, since: datetime) -> tuple[Resize, ...]:
        """Return the resizes of a project's servers that changed since an instant and can be reverted."""

    def confirm_resize(self, server_id: str) -> None:
        """Request that a finished resize is confirmed, so that the server cannot return; completes later.

        Raises:
            CloudNotFound: The server does not exist.
            CloudConflict: It has no finished resize.
        """

    def detach_volume(self, server_id: str, volume_id: str) -> None:
        """Request that a volume is detached, which completes later.

        Raises:
            CloudNotFound: The server does not exist, or does not have the volume.
            CloudConflict: The present state of the server or of the volume does not allow it, for example
                because the volume is being detached.
            CloudRefused: The server was booted from the volume, so that it never can be detached.
        """

    def reactivate_server(self, server_id: str) -> None:
        """Request that a server that is suspended, in rescue mode or in an error state becomes active.

        In these states, which its owner can cause, Nova detaches no volumes. Other servers are left alone.

        Raises:
            CloudNotFound: The server does not exist.
            CloudConflict: The server's present state does not allow it.
        """

    def set_server_metadata(self, server_id: str, metadata: Mapping[str, str]) -> None:
        """Set these keys and leave others alone.

        Raises:
            CloudNotFound: The server does not exist.
            CloudConflict: The server's present state does not allow the change.
        """


class Flavors(Protocol):
    """Flavors, their project access, and their extra specs."""

    def find_flavor(self, flavor_id: str) -> Flavor | None:
        """Return the flavor with its extra specs, or None."""

    def list_flavors(self) -> tuple[Flavor, ...]:
        """Return all flavors, including private ones, with their extra specs; reads all pages."""

    def create_flavor(self, flavor: Flavor) -> None:
        """Create the flavor, then its extra specs. Raises CloudConflict if the id or name is taken."""

    def set_flavor_extra_specs(self, flavor_id: str, extra_specs: Mapping[str, str]) -> None:
        """Set these extra specs and leave others alone. Raises CloudNotFound."""

    def delete_flavor(self, flavor_id: str) -> None:
        """Delete the flavor. Raises CloudNotFound."""

    def list_flavor_access(self, flavor_id: str) -> frozenset[str]:
        """Return the ids of the projects that may use the flavor. Raises CloudNotFound."""

    def add_flavor_access(self, flavor_id: str, project_id: str) -> None:
        """Allow a project to use the flavor. Raises CloudNotFound, or CloudConflict if it may already."""

    def remove_flavor_access(self, flavor_id: str, project_id: str) -> None:
        """Revoke a project's access. Raises CloudNotFound if it had none or the flavor does not exist."""


class ServerGroups(Protocol):
    """Server groups. They are created with a token of their project; see :class:`LesseeCompute`."""

    def list_server_groups(self) -> tuple[ServerGroup, ...]:
        """Return the server groups of all projects."""

    def delete_server_group(self, group_id: str) -> None:
        """Delete the group. Raises CloudNotFound."""


class LesseeCompute(Protocol):
    """The part of Nova that needs a lessee's own token; used inside requests only."""

    def find_flavor(self, flavor_id: str) -> Flavor | None:
        """Return the flavor with its extra specs; None if it does not exist or the lessee may not see it."""

    def list_flavors(self) -> tuple[Flavor, ...]:
        """Return the flavors that the lessee may use, with their extra specs; reads all pages."""

    def create_server_group(self, name: str, policy: str) -> ServerGroup:
        """Return a new server group in the lessee's project; names need not be unique."""
