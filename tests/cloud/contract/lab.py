"""The environment that the contract suite of the cloud ports needs.

The suite runs against the simulated cloud, and against the OpenStack adapter with the simulated cloud behind
HTTP. To run it elsewhere, set factories in the environment, separated by blanks::

    BLAZAR_CLOUD_LAB=package.module:factory python -m pytest tests/cloud/contract

For a real OpenStack, the factory is ``cloud.openstack_lab:openstack_lab``, and a cloudlab must run. The
factory is called once for each test, and returns a context manager for a :class:`CloudLab`. On exit, it
removes everything that the test left: all objects with a name from :meth:`CloudLab.name`, and the servers and
floating IPs of the lab's projects.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from blazar.ports.cloud import Cloud
from blazar.ports.compute import Lessee
from blazar.ports.identity import Trust
from blazar.ports.placement import Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class LabHost:
    """A compute node without servers, in no aggregate, up and enabled."""

    hypervisor_hostname: str
    service_host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabNetwork:
    """An external network with one IPv4 subnet."""

    network_id: str
    subnet_id: str
    free_addresses: tuple[str, ...]
    """At least three addresses of the subnet, outside its pools, without the gateway's."""
    outside_address: str
    """An address outside the subnet."""


class LabStorage(Protocol):
    """Cinder with two pools, and the actions of the lab's projects as its users."""

    @property
    def pools(self) -> tuple[str, str]:
        """Return the names of two empty pools of at least 4 GiB; they are different back ends."""

    @property
    def ordinary_type_id(self) -> str:
        """Return the id of a public type whose volumes are in neither of them."""

    def create_volume(self, project_id: str, size: int, type_name: str) -> str:
        """Return the id of a new, available volume.

        Raises:
            CloudNotFound: The project does not see the type.
            CloudRefused: Its quota does not allow it.
        """

    def snapshot(self, volume_id: str) -> None:
        """Make a snapshot of a volume."""

    def begin_transfer(self, volume_id: str) -> str:
        """Return the id of a new transfer of a volume."""

    def reserve(self, volume_id: str, *, server_id: str | None) -> None:
        """Reserve a volume for an attachment that is never made: in general, or, for a server, to it."""

    def group(self, name: str, type_ids: frozenset[str], volume_ids: tuple[str, ...]) -> str:
        """Return the id of a new group of volumes of the first project."""

    def snapshot_group(self, group_id: str) -> str:
        """Return the id of a new group snapshot of a group of the first project."""

    def wait_until_group_snapshot_is_gone(self, group_snapshot_id: str) -> None:
        """Return when a group snapshot does not exist."""

    def attach(self, volume_id: str, server_id: str | None) -> str:
        """Attach a volume to a server, or to something that Nova does not know; return the attachment."""

    def boot_from(self, volume_id: str) -> str:
        """Return the id of an active server that was booted from a volume."""

    def suspend(self, server_id: str) -> None:
        """Suspend a server."""

    def wait_until_active(self, server_id: str) -> None:
        """Return when a server is active."""

    def wait_until_gone(self, type_id: str) -> None:
        """Return when no volume of a type exists."""

    def wait_until_group_is_available(self, group_id: str) -> None:
        """Return when the volumes of a group have joined or left it."""

    def wait_until_group_is_gone(self, group_id: str) -> None:
        """Return when a group does not exist."""

    def wait_until_reported(self) -> None:
        """Return when the back ends have reported the present volumes, which they do at intervals."""

    def serve(self, project_id: str) -> None:
        """Give the service's account the role of a member in a project."""

    def wait_until_available(self, volume_id: str) -> None:
        """Return when a volume is available again."""


class LabSegments(Protocol):
    """Segments of Neutron, and the actions of the lab's projects as its users."""

    @property
    def physical_network(self) -> str:
        """Return the name of a physical network."""

    @property
    def free_ids(self) -> tuple[int, int]:
        """Return two ids of its VLANs outside all ranges."""

    @property
    def shared_range(self) -> tuple[int, int]:
        """Return the first and last id of a range of its VLANs from which Neutron chooses for everybody."""

    def limit_networks(self, project_id: str) -> None:
        """Do not let a project have any more networks."""

    def add_subnet(self, network_id: str, cidr: str) -> str:
        """Return the id of a new subnet."""

    def add_port(self, network_id: str, project_id: str, *, server_id: str = "") -> str:
        """Return the id of a new port, used by a server if one is given."""

    def add_trunk(self, port_id: str, subport_ids: frozenset[str]) -> str:
        """Return the id of a new trunk."""

    def disable_trunk(self, trunk_id: str) -> None:
        """Disable a trunk."""

    def add_router(self, network_id: str, destination: str, nexthop: str) -> str:
        """Return the id of a new router with an interface in a network's subnet and an extra route."""


class CloudLab(Protocol):
    """A cloud under test, and the actions of tests that are not in the ports."""

    @property
    def cloud(self) -> Cloud:
        """Return the adapter under test."""

    @property
    def hosts(self) -> tuple[LabHost, ...]:
        """Return at least two hosts, with at most one hypervisor for each compute service."""

    @property
    def similar_names(self) -> tuple[str, str]:
        """Return the names of two hypervisors, of which the first is a part of the second."""

    @property
    def network(self) -> LabNetwork:
        """Return the external network."""

    @property
    def storage(self) -> LabStorage:
        """Return Cinder."""

    @property
    def segments(self) -> LabSegments:
        """Return the segments."""

    @property
    def project_ids(self) -> tuple[str, str]:
        """Return two projects whose names end with ``one`` and ``two``; they may not exist before."""

    @property
    def lessee(self) -> Lessee:
        """Return a member of the first project."""

    def name(self, suffix: str) -> str:
        """Return a name with this suffix that is unique in the cloud."""

    def boot_server(self, name: str, *, service_host: str | None = None, flavor_id: str | None = None) -> str:
        """Return the id of an active server of the first project.

        It is on the given host, and has the given flavor, or some public flavor.
        """

    def resize(self, server_id: str, flavor_id: str) -> None:
        """Resize a server to a flavor on another host, and return when the resize can be confirmed."""

    def add_child(self, host: LabHost) -> Provider:
        """Return a new provider under that of a host."""

    def wait_until_gone(self, server_id: str) -> None:
        """Return after the requested deletion of the server is complete."""

    def disable(self, service_host: str, reason: str = "") -> None:
        """Keep new servers off a host until the end of the test, with or without a reason."""

    def add_user(self, suffix: str, email: str | None) -> str:
        """Return the id of a new user with a name of this suffix."""

    def make_trust(self) -> Trust:
        """Return a trust of the lessee for the user of the adapter."""

    def attach(self, floating_ip_id: str) -> None:
        """Attach a floating IP to a port."""

    def forward_port(self, floating_ip_id: str) -> str:
        """Return the id of a new port forwarding of a floating IP."""


class LabFactory(Protocol):
    """Factory of a lab for one test."""

    def __call__(self) -> AbstractContextManager[CloudLab]:
        """Return the context in which the lab exists."""
