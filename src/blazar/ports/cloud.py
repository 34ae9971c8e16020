"""Port: the whole cloud, as one port for each kind of its objects."""

from __future__ import annotations

from typing import Protocol

from blazar.ports.block_storage import BlockStorage, ProjectStorage
from blazar.ports.compute import (
    Aggregates,
    Flavors,
    Hypervisors,
    Lessee,
    LesseeCompute,
    ServerGroups,
    Servers,
)
from blazar.ports.executor import Executor
from blazar.ports.identity import Projects, Trusts, Users
from blazar.ports.images import Images
from blazar.ports.network import Networks
from blazar.ports.placement import Placement
from blazar.ports.segments import Segments


class Cloud(Protocol):
    """A complete cloud. The adapters are the simulated cloud and the OpenStack cloud."""

    @property
    def hypervisors(self) -> Hypervisors:
        """Return Nova's hypervisors."""

    @property
    def aggregates(self) -> Aggregates:
        """Return Nova's host aggregates."""

    @property
    def servers(self) -> Servers:
        """Return Nova's servers."""

    @property
    def images(self) -> Images:
        """Return Glance's images of servers."""

    @property
    def flavors(self) -> Flavors:
        """Return Nova's flavors."""

    @property
    def server_groups(self) -> ServerGroups:
        """Return Nova's server groups."""

    @property
    def placement(self) -> Placement:
        """Return Placement."""

    @property
    def networks(self) -> Networks:
        """Return Neutron."""

    @property
    def segments(self) -> Segments:
        """Return Neutron's networks on chosen segments."""

    @property
    def block_storage(self) -> BlockStorage:
        """Return Cinder."""

    def storage_in(self, project_id: str) -> ProjectStorage:
        """Return Cinder as a member of a project uses it. Does not call the cloud."""

    @property
    def projects(self) -> Projects:
        """Return Keystone's projects."""

    @property
    def users(self) -> Users:
        """Return Keystone's users."""

    @property
    def trusts(self) -> Trusts:
        """Return Keystone's trusts, which the existing service created."""

    @property
    def executor(self) -> Executor:
        """Return the executor that makes several cloud calls at a time."""

    def compute_for(self, lessee: Lessee) -> LesseeCompute:
        """Return the part of Nova that is called with a lessee's token. Does not call the cloud."""
