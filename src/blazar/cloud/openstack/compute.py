"""The compute port for Nova and Glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blazar.cloud.openstack.aggregates import Aggregates
from blazar.cloud.openstack.flavors import Flavors
from blazar.cloud.openstack.hypervisors import Hypervisors
from blazar.cloud.openstack.images import Images
from blazar.cloud.openstack.server_groups import ServerGroups
from blazar.cloud.openstack.servers import Servers

if TYPE_CHECKING:
    from blazar.ports.compute import Compute


class OpenStackCompute(Hypervisors, Aggregates, Servers, Images, Flavors, ServerGroups):
    """Nova, and Glance for snapshots, with the service's own rights."""


if TYPE_CHECKING:

    def _witness(compute: OpenStackCompute) -> Compute:
        return compute
