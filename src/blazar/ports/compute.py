"""What is wanted from Nova.

Every method is one request or a few, has a timeout, and may raise besides what it names:

* ``CloudUnavailable``: no usable answer; the call may or may not have had its effect;
* ``CloudRefused``: the request will never be accepted as it stands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
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
    """JSON text, as Nova gives it."""
    is_up: bool = True
    """Whether its compute service reports, and nobody has declared it down."""
    is_enabled: bool = True
    disabled_reason: str = ""
    """What whoever disabled it said about that, if anything."""


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
    """An instance. ``is_deleting`` says that its deletion was accepted and is under way."""

    id: str
    name: str
    project_id: str
    service_host: str
    flavor_extra_specs: Mapping[str, str] = field(default_factory=dict)
    """Those of its flavor when it was booted; the flavor itself may be gone."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """What its owner sees too, also from inside the server."""
    is_deleting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavor:
    """A flavor. ``extra_specs`` keys and values are text."""

    id: str
    name: str
    vcpus: int
    memory_mb: int
    disk_gb: int
    ephemeral_gb: int = 0
    is_public: bool = False
    extra_specs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerGroup:
    """A server group of a project; ``policy`` is ``affinity`` or ``anti-affinity``."""

    id: str
    name: str
    policy: str
    project_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image or a snapshot of a server, with its free-form properties."""

    id: str
    name: str
    owner_project_id: str
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessee:
    """Whose rights a call inside a request uses. ``token`` is never stored, and not shown by ``repr``."""

    project_id: str
    token: str | None = field(default=None, repr=False)
    """None where callers are known otherwise than by Keystone's tokens."""


class Hypervisors(Protocol):
    """The compute nodes and where they stand."""

    def find_hypervisor(self, name_or_id: str) -> Hypervisor | None:
        """Return the hypervisor whose id or exact host name this is, or None."""

    def list_hypervisors(self) -> tuple[Hypervisor, ...]:
        """Return all hypervisors, by id."""

    def list_availability_zones(self) -> Mapping[str, str]:
        """Return for every compute service host the zone in which Nova shows it."""


class Aggregates(Protocol):
    """Host aggregates. The real rules hold: a host is in at most one availability zone."""

    def list_aggregates(self, names: Collection[str] | None = None) -> tuple[Aggregate, ...]:
        """Return aggregates with their hosts and metadata: all, or those of these names."""

    def create_aggregate(
        self, name: str, availability_zone: str | None, metadata: Mapping[str, str]
    ) -> Aggregate:
        """Return a new aggregate. Two requests: it may be left behind without its metadata.

        Raises:
            CloudConflict: An aggregate of this name exists.
        """

    def set_aggregate_metadata(self, aggregate_id: int, metadata: Mapping[str, str | None]) -> None:
        """Set these keys, remove those whose value is None, leave others alone. Raises CloudNotFound."""

    def delete_aggregate(self, aggregate_id: int) -> None:
        """Delete an empty aggregate.

        Raises:
            CloudNotFound: It does not exist.
            CloudConflict: It still has hosts.
        """

    def add_host(self, aggregate_id: int, service_host: str) -> None:
        """Put a host into an aggregate.

        Raises:
            CloudNotFound: The aggregate or the host does not exist.
            CloudConflict: It is in there already, it is in another availability zone, or
                servers on it forbid the change of zone.
        """

    def remove_host(self, aggregate_id: int, service_host: str) -> None:
        """Take a host out of an aggregate.

        Raises:
            CloudNotFound: The aggregate does not exist or the host is not in it.
            CloudConflict: Servers on it forbid the change of zone.
        """


class Servers(Protocol):
    """Servers of all projects, and images of them."""

    def list_servers(
        self, *, service_host: str | None = None, flavor_id: str | None = None
    ) -> tuple[Server, ...]:
        """Return the servers of all projects on that host, or of that flavor; all pages."""

    def delete_server(self, server_id: str) -> None:
        """Ask for a server's deletion, which takes its time. Raises CloudNotFound."""

    def set_server_metadata(self, server_id: str, metadata: Mapping[str, str]) -> None:
        """Set these keys and leave others alone.

        Raises:
            CloudNotFound: The server does not exist.
            CloudConflict: The server is in a state in which it cannot be changed.
        """

    def create_image(self, server_id: str, name: str, properties: Mapping[str, str]) -> str:
        """Return the id of a snapshot that is being made of the server; it belongs to the service.

        Raises:
            CloudNotFound: The server does not exist.
            CloudConflict: The server is in a state in which it cannot be snapshotted now.
        """

    def set_image_owner(self, image_id: str, project_id: str) -> None:
        """Give an image to a project. Raises CloudNotFound."""

    def list_images(self, properties: Mapping[str, str]) -> tuple[Image, ...]:
        """Return the images that bear all of these properties."""


class Flavors(Protocol):
    """Flavors, who may use them, and their extra specs."""

    def find_flavor(self, flavor_id: str) -> Flavor | None:
        """Return the flavor with its extra specs, or None."""

    def list_flavors(self) -> tuple[Flavor, ...]:
        """Return all flavors, private ones too, with their extra specs; all pages."""

    def create_flavor(self, flavor: Flavor) -> None:
        """Create the flavor and then its extra specs. Raises CloudConflict for a taken id or name."""

    def set_flavor_extra_specs(self, flavor_id: str, extra_specs: Mapping[str, str]) -> None:
        """Set these extra specs and leave others alone. Raises CloudNotFound."""

    def delete_flavor(self, flavor_id: str) -> None:
        """Delete the flavor. Raises CloudNotFound."""

    def list_flavor_access(self, flavor_id: str) -> frozenset[str]:
        """Return the ids of the projects that may use it. Raises CloudNotFound."""

    def add_flavor_access(self, flavor_id: str, project_id: str) -> None:
        """Let a project use it. Raises CloudNotFound, or CloudConflict if it may already."""

    def remove_flavor_access(self, flavor_id: str, project_id: str) -> None:
        """Forbid a project to use it. Raises CloudNotFound if it could not, or there is none."""


class ServerGroups(Protocol):
    """Server groups. They are created with their project's rights: see :class:`LesseeCompute`."""

    def list_server_groups(self) -> tuple[ServerGroup, ...]:
        """Return the server groups of all projects."""

    def delete_server_group(self, group_id: str) -> None:
        """Delete the group. Raises CloudNotFound."""


class LesseeCompute(Protocol):
    """What needs a lessee's own rights in Nova; used inside requests only."""

    def find_flavor(self, flavor_id: str) -> Flavor | None:
        """Return the flavor with its extra specs, or None, also if the lessee may not see it."""

    def create_server_group(self, name: str, policy: str) -> ServerGroup:
        """Return a new server group in the lessee's project; names need not be unique."""


class Compute(Hypervisors, Aggregates, Servers, Flavors, ServerGroups, Protocol):
    """All of Nova that is used."""
